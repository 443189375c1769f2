"""Drills of one cluster: what is due, and how far the job is that makes one.

Decides from the schedule, the clock, the annotation and the job in the swarm, so that an operator
that was killed at any moment goes on from there.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.job_runs import output_of
from queenright.core.kinds.postgres_cluster.backup.due import (
    after_failures,
    due_text,
    last_due,
    open_since,
)
from queenright.core.kinds.postgres_cluster.backup.note import MOST_TEXT
from queenright.core.kinds.postgres_cluster.backup.run import (
    LONGEST_AWAY,
    READS,
    BackupRun,
    run_of,
)
from queenright.core.kinds.postgres_cluster.desired.drill import (
    AT_VARIABLE,
    DRILL_ROLE,
    DUE_VARIABLE,
    NODE_VARIABLE,
    DrillPlan,
)
from queenright.core.kinds.postgres_cluster.drill.note import DrillNote
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, LiveService, Unknown
from queenright.core.planning.ages import CLOCKS_DIFFER, certain_age
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.label_values import read_moment
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

FIRST_WAIT, LONGEST_WAIT = timedelta(hours=1), timedelta(hours=24)
"""Waits after failures: each drill reads the whole backup."""
LINES_LOST = "it ended well, and its lines are lost"
_PROVED = re.compile(
    r"^proved backup=(\S{1,64}) seconds=([0-9]{1,9}) bytes=([0-9]{1,15}) databases=[0-9]{1,9} "
    r"reached=(\S{1,40}) canary=(\S{1,40})$",
    re.MULTILINE,
)


def plan_of(state: ClusterState) -> DrillPlan | None:
    """Return the drills that the document asks for; None where it has none."""
    plan = state.desired.base_backups
    return plan.drill if plan is not None else None


def drill_jobs(state: ClusterState) -> Iterator[LiveService]:
    """The cluster's drills that are in the swarm: one, unless a person made others."""
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if live.value.labels.get(ROLE_LABEL) == DRILL_ROLE:
            yield live


def drill_run(state: ClusterState, live: LiveService) -> BackupRun:
    """The state of a job. One that can't begin keeps base backups waiting, and is given up. One
    that failed is waited for until its lines are read: they are the cause, and the job goes as soon
    as that is noted."""
    run = run_of(state, live, "backup-drill: failed: ")
    tasks = list(state.swarm.tasks_of(live.id))
    has_begun = any(task.state == "running" for task in tasks)
    old = certain_age(live.created_at, state.now, state.seen_s_ago.get(live.id)) > LONGEST_AWAY
    if run.state == "running" and old and not has_begun:
        why = f"it has not begun after 1 h{run.why}"
        return dataclasses.replace(run, state="failed", why=why, failed_at=state.now)
    if run.state != "failed" or isinstance(state.observed.outputs.get(live.id), Known):
        return run
    if any(task.is_alive for task in tasks):
        return run
    last = max(tasks, key=lambda task: task.at)
    age = certain_age(last.at, state.now, state.seen_s_ago.get(last.id))
    return run if age > READS else dataclasses.replace(run, state="read")


@answered_once
def due_drill_note(state: ClusterState) -> DrillNote:
    """The annotation as it should be from now on: with the job that has ended."""
    note = state.drill_note
    for live in drill_jobs(state):
        run = drill_run(state, live)
        if live.id != note.job and run.state == "done":
            return proved_note(state, run)
        if live.id != note.job and run.state == "failed":
            return failed_note(note, run, run.failed_at, run.why)
    return note


def proved_note(state: ClusterState, run: BackupRun) -> DrillNote:
    """The annotation of a job that ended well: without its lines nothing is known to be proven."""
    variables = run.live.value.environment
    found = _PROVED.search(output_of(state.observed, run.live))
    if found is None:
        return failed_note(state.drill_note, run, state.now, why_unheard(state, run))
    return DrillNote(
        done=read_moment(variables.get(DUE_VARIABLE)) or run.live.created_at,
        at=read_moment(variables.get(AT_VARIABLE)) or run.live.created_at,
        backup=found[1],
        node=variables.get(NODE_VARIABLE, ""),
        size=int(found[3]),
        took_s=int(found[2]),
        reached=read_moment(found[4]),
        beat=read_moment(found[5]),
        job=run.live.id,
    )


def why_unheard(state: ClusterState, run: BackupRun) -> str:
    """The cause for which a drill that ended well counts for nothing."""
    output = state.observed.outputs.get(run.live.id)
    why = f" ({redact_text(output.why)})" if isinstance(output, Unknown) else ""
    return f"{LINES_LOST}{why}"[:MOST_TEXT]


def failed_note(note: DrillNote, run: BackupRun, at: datetime | None, why: str) -> DrillNote:
    """The annotation with one failure more."""
    return dataclasses.replace(
        note,
        failures=note.failures + 1,
        failed_at=at,
        tried=read_moment(run.live.value.environment.get(DUE_VARIABLE)),
        why=why,
        job=run.live.id,
    )


def drill_due_since(state: ClusterState) -> datetime | None:
    """The moment since which a drill has to be made, by the schedule or by a request, the later
    one where both ask; None where none is due."""
    found = (drill_scheduled(state), drill_requested(state))
    return max((at for at in found if at is not None), default=None)


def drill_requested(state: ClusterState) -> datetime | None:
    """The moment of a person's request, if no drill began since; None where there is none."""
    at = open_since(state.drill_request, due_drill_note(state).newest)
    return at if plan_of(state) is not None else None


def drill_scheduled(state: ClusterState) -> datetime | None:
    """The last moment of the schedule, if no drill was made since; None where none is due."""
    plan = plan_of(state)
    if plan is None or plan.schedule is None:
        return None
    return last_due(plan.schedule, due_drill_note(state).newest, state.now)


def drill_again_at(state: ClusterState) -> datetime | None:
    """The moment at which a failed drill is begun again; None where none has failed, or somebody
    asked for one since."""
    note, asked = due_drill_note(state), drill_requested(state)
    if not note.failures or note.failed_at is None or note.failed_at > state.now + CLOCKS_DIFFER:
        return None
    if asked is not None and (note.tried is None or asked > note.tried):
        return None
    return after_failures(note.failed_at, note.failures, FIRST_WAIT, LONGEST_WAIT)


def why_drill_due(state: ClusterState) -> str:
    """The reason for a drill that is due, in words."""
    return due_text(drill_requested(state), drill_due_since(state), due_drill_note(state).newest)
