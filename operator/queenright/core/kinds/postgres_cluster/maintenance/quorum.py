"""Tell why the members' Raft nodes are not known to have the quorum that a write needs."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import counted_members, dead_members


def voters_for(state: ClusterState, aspect: str) -> tuple[DesiredMember, ...]:
    """The members whose Raft nodes have to affirm a quorum before a write.

    All that have a service or a vote; for a resume without those that are left out, where the
    others are a majority. A member whose Raft log is lost starts nothing before these have been a
    quorum for a while, and a paused Patroni does not start the PostgreSQL without which their
    containers end.
    """
    members = counted_members(state)
    if aspect != "resume":
        return members
    found = tuple(m for m in members if not is_left_out(state, m))
    return found if 2 * len(found) > len(members) else members


def is_left_out(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member for which no resume waits: its Raft log is lost, or it is dead
    beside a leader that proves its lock."""
    status = state.status(member)
    if status is not None:
        return status.raft_loss is not None
    return state.leader is not None and member in dead_members(state)


def why_not_affirmed(state: ClusterState, members: tuple[DesiredMember, ...]) -> str | None:
    """Reason why these members' Raft nodes are not known to have a quorum; None if they are.

    Each has to report a quorum and to reach the others.
    """
    addresses = {m.name: f"{m.address}:{state.access(m).raft_port}" for m in members}
    for member in members:
        status = state.raft_of(member)
        if status is None:
            return f"the Raft node of {member.name} does not answer"
        if not status.has_quorum:
            return f"the Raft node of {member.name} has no quorum"
        for other, address in addresses.items():
            if other != member.name and address not in status.reachable:
                return f"the Raft node of {member.name} does not reach {other} ({address})"
    if len(members) < len(counted_members(state)):
        return None
    for member in members:
        if (status := state.raft_of(member)) and status.unreachable:
            stray = ", ".join(sorted(status.unreachable))
            return f"the Raft node of {member.name} does not reach {stray}"
    return None
