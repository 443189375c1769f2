"""Words for a quorum that is lost: by one Raft node alone, or by all.

The member of a lone one goes on serving reads and can't lead, and no disruption of another begins.
A restart would not help where it reaches nobody: Patroni would wait for Raft, and its replica would
serve nothing. One whose Raft files name former voters sets them aside (``rules.raft``). Decides
from every member's own Raft node.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.losses.untold_ends import end_command
from queenright.core.kinds.postgres_cluster.raft_reset import STUCK
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.lost_amount import losses_told
from queenright.core.kinds.postgres_cluster.switchover.position import positions
from queenright.core.kinds.postgres_cluster.topology.settled import counted_members
from queenright.core.observed import RaftStatus, voters_key
from queenright.core.observed.ages import age_of
from queenright.core.planning.plan import Hold

RECONNECTS = timedelta(seconds=60)
"""Time in which a node connects again by itself: it tries every five seconds."""


def lone_raft_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield a hold for each Raft node that alone has no quorum for long."""
    for member in state.desired.members:
        own, others = state.raft_of(member), others_of(state, member)
        if own is None or own.has_quorum or not others or not lasts(state, member):
            continue
        if member.name in state.desired.topology.leaving:
            continue  # it has lost its vote, and its service goes next
        if why_former_list(state, member):
            continue  # that rule's own hold says why nothing is done yet
        yield Hold(
            f"lone-raft/{member.service.name}",
            f"the Raft node of {member.name}: has no quorum, while those of the other members have "
            f"one ({why_alone(member, own, others[0])}",
            wants_attention=True,
        )


def why_former_list(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member's Raft node can't join the others, though they list it and it reaches
    each of them that it lists: its files name former voters, and pysyncobj takes those at every
    start; None for any other node."""
    own = state.raft_of(member)
    if own is None or own.has_quorum or own.leader or not lasts(state, member):
        return None  # asked of every member in every pass
    if own.uptime_s < STUCK.total_seconds() or not (others := others_of(state, member)):
        return None
    voters = others[0].voters
    if own.address not in voters or own.voters == voters or own.unreachable & voters:
        return None
    former = ", ".join(sorted(own.voters - voters))
    return f"the Raft node of {member.name} votes by a list of former voters ({former})"


def lost_quorum_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield a hold where no Raft node that answers has a quorum for long: nobody can lead."""
    members = counted_members(state)
    found = [(m, status) for m in members if (status := state.raft_of(m)) is not None]
    silent = [member for member in members if state.raft_of(member) is None]
    is_lost = bool(found) and not any(status.has_quorum for _, status in found)
    if not is_lost or state.leader is not None or not all(lasts(state, m) for m, _ in found):
        return
    voters = max(len(status.voters) for _, status in found)
    nodes = ", ".join(sorted(member.node for member in silent)) or "all members"
    yield Hold(
        f"quorum/{state.desired.name}",
        f"cluster {state.desired.name}: nobody can lead, since Raft has no quorum ({len(found)} of "
        f"{voters} Raft nodes answer, and {voters // 2 + 1} have to reach each other); bring back "
        f"{nodes}, or the network between the nodes: no data is lost while it waits. Where a "
        f"majority is gone for ever, see Trouble in docs/guide.md{choices(state)}"
        f"{end_command(state)}",
        wants_attention=True,
    )


def choices(state: ClusterState) -> str:
    """Return what would be lost with each member that tells its position as the only one; empty
    where none does."""
    left = [*positions(state)]
    return f": {losses_told(state, left)}" if left else ""


def lasts(state: ClusterState, member: DesiredMember) -> bool:
    """Return True if a member's Raft node is known to have been as it is for long enough."""
    seen = age_of(state.seen_s_ago, voters_key(member.service.name))
    return seen is not None and seen >= RECONNECTS


def others_of(state: ClusterState, member: DesiredMember) -> list[RaftStatus]:
    """The other members' Raft nodes, if they all have a quorum and agree; none otherwise."""
    found = [state.raft_of(other) for other in state.desired.members if other is not member]
    known = [status for status in found if status is not None and status.has_quorum]
    views = {(status.leader, status.term, status.voters) for status in known}
    return known if known and len(known) == len(found) and len(views) == 1 else []


def why_alone(member: DesiredMember, own: RaftStatus, other: RaftStatus) -> str:
    """Return the cause and what a person does, from the middle of a bracket on."""
    if own.address not in other.voters:
        return "they do not list it any more); it is started again when all is well"
    if own.voters != other.voters:
        return (
            f"it lists {', '.join(sorted(own.voters))}, and they list "
            f"{', '.join(sorted(other.voters))}); at a start it asks them for their list: docker "
            f"service update --force {member.service.name}"
        )
    away = ", ".join(sorted(own.unreachable))
    return (
        f"it does not reach {away}); look at the network and firewall between {member.node} and "
        "these addresses, in both directions: it connects again by itself"
    )
