"""A person's request for a drill: why there can be none, its step, and what became of it.

Decides from the same observation and by the same rules as the operator. Invariant: a request is one
label, written with the version index that was read; a second request joins one that has not failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.backup.asking import (
    Progress,
    request_step,
    why_none_begun,
)
from queenright.core.kinds.postgres_cluster.desired.drill import DUE_VARIABLE
from queenright.core.kinds.postgres_cluster.drill.note import REQUEST_LABEL
from queenright.core.kinds.postgres_cluster.drill.run import (
    drill_jobs,
    drill_requested,
    due_drill_note,
    plan_of,
)
from queenright.core.kinds.postgres_cluster.drill.summary import figures_text
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import LiveService
from queenright.core.swarm.label_values import read_moment


def why_no_drill_asked(state: ClusterState) -> str | None:
    """Reason why a request would come to nothing; None where it would not."""
    name = state.desired.name
    if plan_of(state) is None:
        return (
            f"cluster {name}: no restore proves its backups (its document has no `backup.drill`); "
            "add `drill: {node: …}` to `backup` first"
        )
    return why_none_begun(state, "drill")


def drill_step(state: ClusterState, by: str) -> Iterator[LabelConfig]:
    """The state config with a request of now."""
    yield from request_step(state, by, "drill", REQUEST_LABEL)


def open_drill(state: ClusterState) -> datetime | None:
    """The moment of a request that has not failed; None where there is none."""
    at, tried = drill_requested(state), due_drill_note(state).tried
    return at if at is None or tried is None or tried < at else None


def drill_progress(state: ClusterState, at: datetime) -> Progress:
    """Return how far a request of this moment has come."""
    note = state.drill_note
    if note.newest is not None and note.newest >= at:
        return Progress(done=f"The restore is proven: {figures_text(note)}.")
    if note.failures and note.tried is not None and note.tried >= at:
        return Progress(
            failed=f"the restore failed ({note.why}); see that the cause is gone, or make another "
            "base backup, and ask again"
        )
    job = drill_for(state, at)
    if job is None:
        return Progress(is_gone=state.drill_request is None)
    since = format_moment(job.created_at.replace(microsecond=0))
    return Progress(working=f"A drill runs since {since}.")


def drill_for(state: ClusterState, at: datetime) -> LiveService | None:
    """The job that answers a request of this moment; None where there is none."""
    for live in drill_jobs(state):
        due = read_moment(live.value.environment.get(DUE_VARIABLE))
        if due is not None and due >= at:
            return live
    return None
