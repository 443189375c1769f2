"""Agreement of the Raft nodes about who votes: the precondition of every change of that.

Asks each deployed member's own Raft node. A change counts from the moment at which Raft's leader
takes it, and Raft accepts a second one meanwhile; only the operator keeps to one at a time.
Invariant: a node that does not answer, or answers otherwise than the rest, is never settled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.places import decode_names
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import RaftStatus, raft_hears, voters_key
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import PARTNERS_VARIABLE, VOTELESS_LABEL

LASTS = timedelta(seconds=60)
"""The time for which all nodes must have listed the same voters before the next change. A committed
change is on disk only when the kernel writes it, which takes up to 35 s."""


@answered_once
def raft_address(state: ClusterState, member: DesiredMember) -> str:
    """Return the address by which Raft knows a member."""
    access = state.access(member)
    return f"{access.address}:{access.raft_port}"


@answered_once
def present(state: ClusterState) -> tuple[tuple[DesiredMember, str], ...]:
    """Return the members with a service, and their Raft addresses."""
    return tuple(
        (member, raft_address(state, member))
        for member in state.desired.members
        if state.swarm.service(member.service.name) is not None
    )


def others(state: ClusterState, apart: Collection[str] = ()) -> Iterator[DesiredMember]:
    """Yield the members with a service, without those at these Raft addresses."""
    return (member for member, address in present(state) if address not in apart)


def why_not_settled(state: ClusterState, apart: Collection[str] = ()) -> str | None:
    """Reason why the Raft nodes without those at ``apart`` are not settled; None when they are.

    Settled: all list the same voters, with one leader and term, are linked to each other, and have
    applied all that is committed.
    """
    found: list[RaftStatus] = []
    for member in others(state, apart):
        status = state.raft_of(member)
        if status is None:
            return f"the Raft node of {member.name} does not answer"
        if not status.has_quorum:
            return f"the Raft node of {member.name} has no quorum"
        if status.is_behind:
            return f"the Raft node of {member.name} has not applied all"
        if away := status.unreachable - {*apart}:
            return f"the Raft node of {member.name} does not reach {', '.join(sorted(away))}"
        found.append(status)
    if not found:
        return "no other Raft node answers"
    if len({(status.leader, status.term, status.voters) for status in found}) != 1:
        return "the Raft nodes do not agree on their leader and voters"
    leader = found[0].leader
    leading = [status.address for status in found if status.state == "leader"]
    if not leader or leading != ([] if leader in apart else [leader]):
        return "no single Raft node says that it leads"
    if unknown := found[0].voters - {status.address for status in found} - {*apart}:
        return f"Raft lists {', '.join(sorted(unknown))}, which is no other deployed member"
    return None


def voters_of(state: ClusterState, apart: Collection[str] = ()) -> frozenset[str]:
    """Return the voters by the other nodes' answers; those of any, where they do not agree."""
    found = (state.raft_of(member) for member in others(state, apart))
    return frozenset[str]().union(*(status.voters for status in found if status is not None))


def raft_leader(state: ClusterState, apart: Collection[str] = ()) -> str:
    """Return the address of Raft's leader as settled nodes have it."""
    found = (state.raft_of(member) for member in others(state, apart))
    return next((status.leader for status in found if status is not None), "")


def why_too_soon(state: ClusterState, apart: Collection[str] = ()) -> str | None:
    """Reason why the last change of the voters is too young for another; None when it is not."""
    seen = [
        state.seen_s_ago.get(voters_key(member.service.name), 0.0)
        for member in others(state, apart)
    ]
    if min(seen, default=0.0) < LASTS.total_seconds():
        return f"Raft's list of voters has to last {LASTS.total_seconds():.0f} s first"
    return None


def is_newcomer(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member without a service that is no voter yet."""
    return state.swarm.service(member.service.name) is None and is_unlisted(state, member)


def is_unlisted(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that no other Raft node lists. One that is noted as voteless is
    listed only by the word of a node with a quorum: right after its start, or alone, a node lists
    former voters too. Where no node answers, the lists of partners decide with which the others
    were deployed."""
    own = raft_address(state, member)
    peers = list(others(state, {own}))
    if not state.is_bootstrapped or not peers:
        return False
    if member.name in noted_voteless(state):
        return own not in (certain_voters(state, {own}) or frozenset())
    if any(state.raft_of(peer) is not None for peer in peers):
        return own not in voters_of(state, {own})
    return not any(own in partners(state, peer) for peer in peers)


@answered_once
def noted_voteless(state: ClusterState) -> frozenset[str]:
    """Return the names of the members that the state config notes as without a vote."""
    return decode_names(state.noted_labels.get(VOTELESS_LABEL, ""))


@answered_once
def counted_members(state: ClusterState) -> tuple[DesiredMember, ...]:
    """Return the members without those that have no service, and no vote by the note: they left,
    or have not joined yet, while another member led, so they have nothing that it lacks."""
    gone = noted_voteless(state)
    return tuple(
        member
        for member in state.desired.members
        if member.name not in gone or state.swarm.service(member.service.name) is not None
    )


def certain_voters(state: ClusterState, apart: Collection[str] = ()) -> frozenset[str] | None:
    """Return the voters that each other node lists which has a quorum and a leader; None where no
    node has."""
    found = (state.raft_of(member) for member in others(state, apart))
    sure = [s.voters for s in found if s is not None and s.has_quorum and s.leader]
    return frozenset.intersection(*sure) if sure else None


def partners(state: ClusterState, member: DesiredMember) -> tuple[str, ...]:
    """Return the partners that a member was deployed with."""
    live = state.swarm.service(member.service.name)
    text = live.value.environment.get(PARTNERS_VARIABLE, "") if live is not None else ""
    found = read_json(text)
    return tuple(str(item) for item in found) if isinstance(found, list) else ()


def silent_leavers(state: ClusterState) -> frozenset[str]:
    """Return the Raft addresses of members that the file takes away and that do not answer: nothing
    waits for them, not even each other's removal."""
    leaving = state.desired.topology.leaving
    return frozenset(
        raft_address(state, member)
        for member in state.desired.members
        if member.name in leaving and is_silent(state, member)
    )


def seatless(state: ClusterState) -> frozenset[str]:
    """Return the Raft addresses of members that stay, answer, and that no Raft node with a quorum
    lists. They have no vote, so the removal of a dead member's vote, or a ghost's, does not wait
    for them; they join again afterwards."""
    found: dict[str, RaftStatus] = {}
    for member in others(state):
        status = state.raft_of(member)
        if status is not None and member.name not in state.desired.topology.leaving:
            found[raft_address(state, member)] = status
    listed = frozenset[str]().union(*(s.voters for s in found.values() if s.has_quorum))
    lone = (own for own, status in found.items() if not status.has_quorum)
    return frozenset(own for own in lone if own not in listed) if listed else frozenset()


@answered_once
def unlisted_members(state: ClusterState) -> tuple[DesiredMember, ...]:
    """Return the members whose Raft nodes answer, have no quorum, and are listed by none that has:
    without a vote they can't lead, and nobody waits for their votes."""
    found = {m.name: status for m, _ in present(state) if (status := state.raft_of(m)) is not None}
    listed = frozenset[str]().union(*(s.voters for s in found.values() if s.has_quorum))
    lone = {name for name, s in found.items() if not s.has_quorum and s.address not in listed}
    return tuple(m for m in state.desired.members if m.name in lone) if listed else ()


def is_silent(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member of which neither Patroni nor Raft answers."""
    return state.status(member) is None and state.raft_of(member) is None


def still_ending(state: ClusterState, member: DesiredMember) -> str:
    """Return the member's node if a task of a removed service may run there; empty if not. A node
    that the swarm calls down can't be asked; on any other, the task has to have ended."""
    swarm = state.swarm
    known = {live.id for live in swarm.services}
    for task in swarm.tasks:
        node = swarm.node_by_id(task.node_id)
        is_here = node is not None and node.name == member.node and node.state != "down"
        if is_here and task.service_id not in known and swarm.may_run(task):
            return member.node
    return ""


def is_dead(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a silent member whose node the swarm calls down, or has no more, or that
    none of the other Raft nodes reaches of which most answer: one lost answer is no death."""
    if is_reached(state, member):
        return False
    node, own = state.swarm.node(member.node), raft_address(state, member)
    peers = [state.raft_of(peer) for peer in others(state, {own})]
    found = [status for status in peers if status is not None]
    is_cut_off = 2 * len(found) > len(peers) and all(own in s.unreachable for s in found)
    return node is None or node.state == "down" or is_cut_off


def is_reached(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that leads Raft by another node's word, or that Raft's leader
    reaches: it is alive, whatever the swarm's managers hear of its node."""
    own = raft_address(state, member)
    found = (state.raft_of(peer) for peer in others(state, {own}))
    return any(status is not None and raft_hears(status, own) for status in found)


def dead_members(state: ClusterState) -> tuple[DesiredMember, ...]:
    """Return the silent members that are dead."""
    members = state.desired.members
    return tuple(m for m in members if is_silent(state, m) and is_dead(state, m))
