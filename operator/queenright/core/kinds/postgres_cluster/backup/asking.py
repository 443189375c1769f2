"""A person's request for a base backup: why there can be none, its step, and what became of it.

Decides from the same observation and by the same rules as the operator. Invariant: a request is one
label, written with the version index that was read; a second request joins one that has not failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.backup.note import BackupNote
from queenright.core.kinds.postgres_cluster.backup.request import REQUEST_LABEL, with_backup_request
from queenright.core.kinds.postgres_cluster.backup.run import (
    BackupRun,
    backup_jobs,
    due_note,
    requested,
    run_of,
)
from queenright.core.kinds.postgres_cluster.desired.base_backup import DUE_VARIABLE
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.manifest.quantities import format_duration, format_size
from queenright.core.planning.configs import relabelled
from queenright.core.swarm.label_values import read_moment


@dataclass(frozen=True, slots=True)
class Progress:
    """The course of a request: the line that tells its answer, the reason for which its job
    failed, or the line about a job that works. ``is_gone`` where nothing will answer it."""

    done: str = ""
    failed: str = ""
    working: str = ""
    is_gone: bool = False


def why_none_asked(state: ClusterState) -> str | None:
    """Reason why a request would come to nothing; None where it would not."""
    name = state.desired.name
    if state.desired.base_backups is None:
        return (
            f"cluster {name}: there are no base backups (its document has no `backup`); add "
            "`backup: {repository: …}` first"
        )
    return why_none_begun(state, "base backup")


def why_none_begun(state: ClusterState, noun: str) -> str | None:
    """Reason in the cluster for which no job of this kind is begun; None where there is none."""
    name = state.desired.name
    if state.is_paused:
        return (
            f"cluster {name}: no {noun} is begun (`reconcile: paused`); end the pause in the file "
            "first"
        )
    if not state.is_bootstrapped:
        return (
            f"cluster {name}: no {noun} is begun (it was never whole yet); `queenright status` "
            "shows what it waits for"
        )
    return None


def request_step(
    state: ClusterState, by: str, noun: str = "base backup", label: str = REQUEST_LABEL
) -> Iterator[LabelConfig]:
    """The state config with a request of now, to the second, as Barman has its moments."""
    live = state.swarm.config(state.desired.state_config.name)
    if live is not None:
        labels = with_backup_request(live.value.labels, asked_at(state), label)
        yield relabelled(live, labels, f"a {noun} is requested by {by}")


def open_request(state: ClusterState) -> datetime | None:
    """The moment of a request that is tried for the first time; None where there is none. After a
    failure a person asks anew, so that the next try is made at once."""
    at, failed_at = requested(state), due_note(state).failed_at
    return at if at is None or failed_at is None or failed_at < at else None


def asked_at(state: ClusterState) -> datetime:
    return state.now.replace(microsecond=0)


def progress(state: ClusterState, at: datetime) -> Progress:
    """Return how far a request of this moment has come."""
    newest = state.backup_note.newest
    if newest is not None and newest >= at:
        return Progress(done=made_text(state.backup_note))
    run, is_ours = run_for(state, at)
    if run is None or (run.state == "failed" and not is_ours):
        return Progress(is_gone=state.backup_request is None)
    if run.state == "failed":
        return Progress(
            failed=f"the base backup of {run.member} failed ({run.why}); the operator begins it "
            "again, with growing delays, for a day after the request"
        )
    since = format_moment(run.live.created_at.replace(microsecond=0))
    line = f"A base backup of {run.member} is made since {since}{run.why}."
    if not is_ours:
        line += " The one that you ask for begins when that has ended."
    return Progress(working=line, is_gone=state.backup_request is None and not is_ours)


def run_for(state: ClusterState, at: datetime) -> tuple[BackupRun | None, bool]:
    """The job that is there, and True if it answers a request of this moment."""
    for live in backup_jobs(state):
        due = read_moment(live.value.environment.get(DUE_VARIABLE))
        return run_of(state, live), due is not None and due >= at
    return None, False


def made_text(note: BackupNote) -> str:
    """Line that tells what was made."""
    beside = f" of {note.member}" if note.member else ""
    if not note.id or note.begun is None or note.ended is None:
        return (
            f"A base backup{beside} was made; its lines are lost, `queenright backup list` has it."
        )
    took = format_duration(max(1.0, (note.ended - note.begun).total_seconds()))
    size = f"{format_size(note.size)} in {took}" if note.size else f"in {took}"
    return f"Base backup {note.id}{beside} is made: {size}."
