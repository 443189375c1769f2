"""Rule for base backups: create the job that is due, wait for it, then remove it.

There is one job at a time, by one name. What it has made is in the repository, and noted in the
state config (``rules.configs``) before the job goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.backup.choice import chosen, why_none_now
from queenright.core.kinds.postgres_cluster.backup.run import (
    BackupRun,
    again_at,
    backup_jobs,
    due_note,
    due_since,
    failure_text,
    is_too_old,
    run_of,
    why_due,
)
from queenright.core.kinds.postgres_cluster.command_jobs import left_jobs
from queenright.core.kinds.postgres_cluster.desired.base_backup import (
    LIST_ROLE,
    backup_job,
    job_name,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import NotAsked
from queenright.core.planning.plan import Hold


def plan_base_backups(state: ClusterState) -> Iterator[AnyAction | Hold]:
    for left in left_jobs(state, LIST_ROLE):
        reason = f"{left.value.name} was left behind by a command that lists the base backups"
        yield RemoveService(left.id, left.value.name, reason=reason)
    jobs = [run_of(state, live) for live in backup_jobs(state)]
    for run in jobs:
        yield from after_job(state, run)
    if jobs or state.desired.base_backups is None or not state.is_bootstrapped:
        return
    note = due_note(state)
    if note.kept:
        reason = f"base backup: nothing older was removed from the repository ({note.kept})"
        yield Hold(f"backup/{state.desired.name}/retention", reason, None, wants_attention=True)
    yield from begin(state)


def key_of(state: ClusterState) -> str:
    return f"backup/{state.desired.name}/base"


def after_job(state: ClusterState, run: BackupRun) -> Iterator[AnyAction | Hold]:
    """The next step of a job that is there."""
    live, key, is_noted = run.live, key_of(state), state.backup_note.job == run.live.id
    match run.state:
        case "running":
            since = format_moment(live.created_at.replace(microsecond=0))
            reason = f"base backup: of {run.member} is made since {since}{run.why}"
            yield Hold(key, reason, None, is_too_old(state), is_informational=True)
        case "done" if is_noted:
            reason = f"{live.value.name} has ended, and what it made is noted"
            yield RemoveService(live.id, live.value.name, reason=reason)
        case "failed" if is_noted:
            again = again_at(state)
            if state.desired.base_backups is None or again is None or state.now >= again:
                reason = f"the base backup of {run.member} failed ({run.why}); it is begun again"
                yield RemoveService(live.id, live.value.name, reason=reason)
            else:
                yield Hold(key, failure_text(state, run), again, wants_attention=True)
        case _:
            pass


def begin(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """The job, or why none is begun now."""
    key, plan, note = key_of(state), state.desired.base_backups, due_note(state)
    due, again = due_since(state), again_at(state)
    if plan is None or due is None:
        return
    if again is not None and state.now < again:
        reason = f"base backup: the last try failed ({note.failures} in a row)"
        yield Hold(key, f"{reason}; it is begun again", again, wants_attention=True)
        return
    member = why_none_now(state) or chosen(state)
    if isinstance(member, str):
        reason = f"base backup: {why_due(state)}, and waits ({member})"
        # A command that may not ask the leader does not know; the operator does.
        is_blind = isinstance(state.archiving, NotAsked)
        needed = is_too_old(state) and not is_blind
        yield Hold(key, reason, None, needed, is_informational=is_blind)
        return
    live = state.swarm.service(member.service.name)
    if live is None or state.swarm.service(job_name(state.desired.name)) is not None:
        reason = f"base backup: service {job_name(state.desired.name)} is not ours; remove it"
        yield Hold(key, reason, None, wants_attention=True)
        return
    access = state.access(member)
    reach = (access.address, access.way.postgresql)
    job = backup_job(plan, state.desired.name, live.value, reach, due)
    yield CreateService(job, reason=f"base backup of {member.name}, {why_due(state)}")
