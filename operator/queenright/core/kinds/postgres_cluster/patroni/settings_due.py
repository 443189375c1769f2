"""Parameters that this pass writes to Patroni's settings, for the steps that have to wait for them.

Decides nothing about the values. Invariant: what is named here is written in the same pass, unless
the write itself fails.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.patroni.config_diff import (
    may_need_restart,
    settings_patch,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known


def writes_restarts(state: ClusterState) -> bool:
    """True if this pass writes a parameter of PostgreSQL that may need a restart."""
    match state.settings:
        case Known(found) if state.leader is not None and why_not_write(state) is None:
            return any(map(may_need_restart, settings_patch(state, found).parameters))
        case _:
            return False


def why_not_write(state: ClusterState) -> str | None:
    """Reason why nothing is written to Patroni now; None if it may be.

    Without a quorum the request would hang, and might be applied much later. A server that archives
    without the credentials would keep all of its WAL.
    """
    if missing := ", ".join(state.missing_given_secrets):
        return f"secret {missing} is not in the swarm"
    for member in state.desired.members:
        if state.status(member) is None:
            return f"{member.name} does not answer ({state.why_unknown(member)})"
    if (move := state.annotations.move) is not None:
        return f"a switchover from {move.leader} to {move.candidate} is in progress"
    return state.why_no_quorum()
