"""The request to remove a voter, to whichever deployed member leads Raft, and who has to be left.

All else that has to hold before it is each rule's own question.
"""

from __future__ import annotations

from collections.abc import Collection

from queenright.core.actions import RaftRemove
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    others,
    raft_address,
    raft_leader,
    voters_of,
)


def why_no_majority(state: ClusterState, voter: str, apart: Collection[str]) -> str | None:
    """Reason why Raft might have no quorum without a voter, by the nodes that are not ``apart``;
    None when most of the voters that stay answer."""
    left = voters_of(state, apart) - {voter}
    alive = {raft_address(state, member) for member in others(state, apart)} & left
    if 2 * len(alive) > len(left):
        return None
    return f"{len(alive)} of the {len(left)} voters that stay answer, which is no majority"


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
