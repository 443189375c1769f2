"""The request to remove a voter, to whichever deployed member leads Raft.

Decides nothing: that it may be asked is each rule's own question.
"""

from __future__ import annotations

from collections.abc import Collection

from queenright.core.actions import RaftRemove
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    others,
    raft_address,
    raft_leader,
)


def remove_vote(
    state: ClusterState, voter: str, apart: Collection[str], reason: str, disrupts: str = ""
) -> RaftRemove | None:
    """Return the request, by the answers of the nodes that are not ``apart``; None if none of
    their members leads Raft."""
    leading = raft_leader(state, apart)
    found = [member for member in others(state, apart) if raft_address(state, member) == leading]
    if not found:
        return None
    access = state.access(found[0])
    return RaftRemove(
        cluster=state.desired.name,
        address=access.address,
        port=access.raft_port,
        voter=voter,
        reason=reason,
        disrupts=disrupts,
    )
