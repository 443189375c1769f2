"""Tell why the members' Raft nodes are not known to have the quorum that a write needs."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState


def voters_for(state: ClusterState, aspect: str) -> tuple[DesiredMember, ...]:
    """The members whose Raft nodes have to affirm a quorum before a write.

    All of them; for a resume without those that say that their Raft log is lost, where the others
    are a majority. Such a member starts nothing before these have been a quorum for a while, and a
    paused Patroni does not start the PostgreSQL without which their containers end.
    """
    members = state.desired.members
    if aspect != "resume":
        return members
    found = tuple(m for m in members if (one := state.status(m)) is None or one.raft_loss is None)
    return found if 2 * len(found) > len(members) else members


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
    if len(members) < len(state.desired.members):
        return None
    for member in members:
        if (status := state.raft_of(member)) and status.unreachable:
            stray = ", ".join(sorted(status.unreachable))
            return f"the Raft node of {member.name} does not reach {stray}"
    return None
