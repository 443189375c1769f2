"""Base backups of one cluster: what is due, and how far the job is that makes it.

Decides from the schedule, the clock, the annotation and the job in the swarm, so that an operator
that was killed at any moment goes on from there.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.job_runs import failure_of, output_of, waiting_for
from queenright.core.kinds.postgres_cluster.backup.due import (
    after_failures,
    due_text,
    last_due,
    open_since,
)
from queenright.core.kinds.postgres_cluster.backup.note import MOST_TEXT, BackupNote
from queenright.core.kinds.postgres_cluster.desired.base_backup import (
    BACKUP_ROLE,
    DUE_VARIABLE,
    MEMBER_VARIABLE,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.cron import read_cron
from queenright.core.observed import Known, LiveService
from queenright.core.planning.ages import CLOCKS_DIFFER, certain_age
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.label_values import read_moment
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

LONGEST = timedelta(hours=24)
"""Time that a job may take."""
LONGEST_AWAY = timedelta(hours=1)
"""Time that it may take while swarm calls its node down."""
READS = timedelta(minutes=2)
"""Time for which the output of a job that ended well is waited for."""
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=5), timedelta(hours=1)

_MADE = re.compile(
    r"^backed up id=(\S{1,64}) begin=(\S+) end=(\S+) .*bytes=([0-9]{1,15}|None)$", re.MULTILINE
)
_KEPT = re.compile(r"^removed nothing: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BackupRun:
    """A job that is there. ``why`` is what it waits for, or the cause of its failure."""

    state: Literal["running", "read", "done", "failed"]
    live: LiveService
    why: str = ""
    failed_at: datetime | None = None

    @property
    def member(self) -> str:
        return self.live.value.environment.get(MEMBER_VARIABLE, "") or "an unknown member"


def backup_jobs(state: ClusterState) -> Iterator[LiveService]:
    """The cluster's jobs that are in the swarm: one, unless a person made others."""
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if live.value.labels.get(ROLE_LABEL) == BACKUP_ROLE:
            yield live


def run_of(
    state: ClusterState, live: LiveService, said: str = "base-backup: failed: "
) -> BackupRun:
    """The state of a job, by its tasks and by its age; ``said`` is what its last line begins with
    if it failed."""
    tasks = list(state.swarm.tasks_of(live.id))
    if any(task.state == "complete" for task in tasks):
        last = max(tasks, key=lambda task: task.at)
        is_read = isinstance(state.observed.outputs.get(live.id), Known)
        age = certain_age(last.at, state.now, state.seen_s_ago.get(last.id))
        return BackupRun("done" if is_read or age > READS else "read", live)
    if not tasks or any(task.is_alive or state.swarm.may_run(task) for task in tasks):
        is_away = bool(tasks) and not any(map(state.swarm.is_heard, tasks))
        limit = LONGEST_AWAY if is_away else LONGEST
        age = certain_age(live.created_at, state.now, state.seen_s_ago.get(live.id))
        away = "; swarm calls its node down" if is_away else waiting_for(tasks, ";")
        if age > limit:
            hours = limit.total_seconds() / 3600
            why = f"it has not ended after {hours:.0f} h{away}"
            return BackupRun("failed", live, why, state.now - (age - limit))
        return BackupRun("running", live, away)
    last = max(tasks, key=lambda task: task.at)
    why = failure_of(state.observed, live, last, most_lines=1, prefix=said, longest=MOST_TEXT)
    return BackupRun("failed", live, why, min(last.at, state.now))


@answered_once
def due_note(state: ClusterState) -> BackupNote:
    """The annotation as it should be from now on: with the job that has ended."""
    note = state.backup_note
    for live in backup_jobs(state):
        run = run_of(state, live)
        if live.id == note.job:
            continue
        if run.state == "done":
            return made_note(state, run)
        if run.state == "failed":
            failures = note.failures + 1
            return dataclasses.replace(
                note, failures=failures, failed_at=run.failed_at, job=live.id
            )
    return note


def made_note(state: ClusterState, run: BackupRun) -> BackupNote:
    """The annotation of a job that ended well. Its output may be lost with its node."""
    text = output_of(state.observed, run.live)
    made, kept = _MADE.search(text), _KEPT.search(text)
    done = read_moment(run.live.value.environment.get(DUE_VARIABLE))
    found = BackupNote(
        done=done or run.live.created_at,
        member=run.live.value.environment.get(MEMBER_VARIABLE, ""),
        job=run.live.id,
        kept=redact_text(kept[1])[:MOST_TEXT] if kept else "",
    )
    if made is None:
        return found
    return dataclasses.replace(
        found,
        id=made[1],
        begun=read_moment(made[2]),
        ended=read_moment(made[3]),
        size=int(made[4]) if made[4].isdecimal() else 0,
    )


def due_since(state: ClusterState) -> datetime | None:
    """The moment since which a backup has to be made, by the schedule or by a request, the later
    one where both ask; None where none is due."""
    found = (scheduled_since(state), requested(state))
    return max((at for at in found if at is not None), default=None)


def requested(state: ClusterState) -> datetime | None:
    """The moment of a person's request, if no backup began since; None where there is none."""
    at = open_since(state.backup_request, due_note(state).newest)
    return at if state.desired.base_backups is not None else None


def scheduled_since(state: ClusterState) -> datetime | None:
    """The last moment of the schedule, if no backup was made since; None where none is due."""
    plan = state.desired.base_backups
    if plan is None or plan.schedule is None:
        return None
    return last_due(plan.schedule, due_note(state).newest, state.now)


def first_missed(state: ClusterState) -> datetime | None:
    """The first moment of the schedule after the last backup; None where there is none."""
    plan, newest = state.desired.base_backups, due_note(state).newest
    if plan is None or plan.schedule is None or newest is None:
        return None
    return read_cron(plan.schedule).next(newest)


def is_too_old(state: ClusterState) -> bool:
    """Return True if two moments of the schedule have passed since the last backup."""
    plan, first = state.desired.base_backups, first_missed(state)
    if plan is None or plan.schedule is None or first is None:
        return False
    second = read_cron(plan.schedule).next(first)
    return second is not None and second < state.now


def again_at(state: ClusterState) -> datetime | None:
    """The moment at which a failed backup is begun again; None where none has failed, or somebody
    asked for one since."""
    note, asked = due_note(state), requested(state)
    if not note.failures or note.failed_at is None or note.failed_at > state.now + CLOCKS_DIFFER:
        return None
    if asked is not None and asked > note.failed_at:
        return None
    return after_failures(note.failed_at, note.failures, FIRST_WAIT, LONGEST_WAIT)


def why_due(state: ClusterState) -> str:
    """The reason for a backup that is due, in words."""
    return due_text(requested(state), due_since(state), due_note(state).newest)


def failure_text(state: ClusterState, run: BackupRun) -> str:
    """The hold's words for a backup that failed."""
    tries = due_note(state).failures
    times = f", {tries} times in a row" if tries > 1 else ""
    return f"base backup: of {run.member} failed{times} ({run.why}); it is begun again"
