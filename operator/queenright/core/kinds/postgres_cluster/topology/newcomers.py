"""Members that Raft does not know yet, and when one may be started.

A Raft node that starts adds itself to the voters, and counts for the quorum before it has data.
Invariant: no newcomer is started while a listed voter can't be reached; a member that Raft lists is
none, and is started again at once.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    is_unlisted,
    noted_voteless,
    raft_address,
    why_not_settled,
    why_too_soon,
)
from queenright.core.kinds.postgres_cluster.topology.wellness import why_unwell


def why_not_start(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member that does not run may not be started now; None when it may."""
    live = state.swarm.service(member.service.name)
    runs = live is not None and any(state.swarm.possible_tasks(live.id))
    if runs or not is_unlisted(state, member):
        return None
    if live is None and member.name not in noted_voteless(state):
        return "it is noted as a member without a vote first"
    node = state.swarm.node(member.node)
    if node is None or not node.is_ready:
        return f"node {member.node} is not ready"
    own = {raft_address(state, member)}
    return why_unwell(state, member) or why_not_settled(state, own) or why_too_soon(state, own)
