"""Members that Raft does not know yet, and when one may be started.

A Raft node that starts adds itself to the voters, and counts for the quorum before it has data.
Invariant: no newcomer is started while a listed voter can't be reached; a member that Raft lists is
none, and is started again at once, and so is one without which the only other Raft node has no
quorum.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    counted_members,
    is_unlisted,
    noted_voteless,
    raft_address,
    still_ending,
    why_not_settled,
    why_too_soon,
)
from queenright.core.kinds.postgres_cluster.topology.wellness import why_unwell


def why_not_start(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member that does not run may not be started now; None when it may."""
    live = state.swarm.service(member.service.name)
    runs = live is not None and any(state.swarm.possible_tasks(live.id))
    if runs or not is_unlisted(state, member) or is_missed(state, member):
        return None
    if live is None and member.name not in noted_voteless(state):
        return "it is noted as a member without a vote first"
    node = state.swarm.node(member.node)
    if node is None or not node.is_ready:
        return f"node {member.node} is not ready"
    own = {raft_address(state, member)}
    if member.node in state.maintained:
        return f"{member.node} in maintenance"
    unwell = why_unwell(state, member, beside_maintenance=True)
    return unwell or why_not_settled(state, own) or why_too_soon(state, own)


def is_missed(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that went, and that the others wait for: its Raft node started once
    more, and added itself, between the operator's last look and the end of its service, and without
    it they have no quorum. It starts again, and its vote goes anew."""
    counted, own = counted_members(state), raft_address(state, member)
    if member in counted or not state.is_bootstrapped or state.leader:
        return False
    nodes = [raft for other in counted if (raft := state.raft_of(other)) is not None]
    if any(raft.has_quorum or raft.leader for raft in nodes):
        return False
    lists = {raft.voters for raft in nodes}
    listed = next(iter(lists)) if len(lists) == 1 else frozenset[str]()
    is_enough = own in listed and 2 * (len(nodes) + 1) > len(listed)
    # The others may have a quorum without it, of which these do not know: not where they are most.
    is_enough = is_enough and 2 * len(nodes) > len(counted)
    return is_enough and not why_too_soon(state, {own}) and not still_ending(state, member)
