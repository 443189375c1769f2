"""The one change of the members that comes next.

Decides from the places, the file's members, and what each Raft node lists. What has begun is ended
first. A member that does not answer goes before its successor starts; otherwise one is added before
one is removed, so that there are never fewer members than the file wants. Last come those that
leave and return: under another name, or where no node is free for a stand-in. A member whose place
does not fit keeps nobody from a move, which may be what it waits for, and no other one from a spare
node; of several additions none begins before all can (``several``). Invariant: one change at a
time, and nobody leaves to return where it can't.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.fitting import why_not_here
from queenright.core.kinds.postgres_cluster.topology.replacing import decide_replacement
from queenright.core.kinds.postgres_cluster.topology.settled import (
    is_dead,
    is_newcomer,
    is_reached,
    is_silent,
    noted_voteless,
    others,
    raft_address,
    raft_leader,
    seatless,
    voters_of,
)
from queenright.core.kinds.postgres_cluster.topology.several import first_unfit
from queenright.core.kinds.postgres_cluster.topology.wanted import LEAST_MEMBERS, Arrival
from queenright.core.kinds.postgres_cluster.topology.wellness import serves_nobody
from queenright.core.planning.service_context import answered_once


@dataclass(frozen=True, slots=True)
class Leaving:
    """A place that the file no longer has, or has elsewhere or under another name. ``stage`` is
    what is left of it: a vote, a service without a vote, or the place alone."""

    member: DesiredMember
    stage: Literal["voter", "service", "place"]


Change: TypeAlias = Arrival | Leaving


@answered_once
def next_change(state: ClusterState) -> Change | None:
    """Return the change that has begun, or the next one; None when there is none, when a member
    is about to be started, while the change is not acknowledged (``why_not_fewer``), and in the
    pass that changes a note by which a member is replaced: what is to come is of the former one."""
    wanted = state.desired.topology
    if {*decide_replacement(state).notes} != {*state.desired.replacement.noted}:
        return None
    begun = [stage_of(state, m) for m in state.desired.members if m.name in wanted.leaving]
    for stage in ("service", "place"):
        for change in begun:
            if change.stage == stage:
                return change
    refused = why_not_fewer(state) is not None
    begun = [change for change in begun if why_not_go(state, change.member.name) is None]
    begun.sort(key=lambda change: departure_rank(state, change.member))
    if begun and not refused and is_silent(state, begun[0].member):
        return begun[0]
    if refused or any(is_newcomer(state, member) for member in state.desired.members):
        return None  # a newcomer's service comes first (``newcomers``)
    for_good = [change for change in begun if not wanted.returns(change.member.name)]
    if for_good and len(state.desired.members) > wanted.written:
        return for_good[0]
    elsewhere = [change for change in begun if wanted.comes_back(change.member.name)]
    coming: list[Change] = [*wanted.arriving, *stand_ins(state), *begun]
    unfit = first_unfit(state)
    if unfit or (wanted.arriving and why_not_here(state, wanted.arriving[0])):
        note_of = state.desired.replacement.note_of
        replaced = (arrival for arrival in wanted.arriving if note_of(arrival.name) is not None)
        able = (arrival for arrival in replaced if not why_not_here(state, arrival))
        held = wanted.arriving if unfit is None else (unfit[0],)
        coming = [*able, *stand_ins(state), *elsewhere, *held]
    return coming[0] if coming else None


def stand_ins(state: ClusterState) -> Iterator[Arrival]:
    """Yield the stand-ins that can be added now, of members that move and answer."""
    for _, stand_in in covered_moves(state):
        if not why_not_here(state, stand_in):
            yield stand_in


def covered_moves(state: ClusterState) -> Iterator[tuple[Arrival, Arrival]]:
    """Yield the new place and the stand-in of each member that moves and answers, if a stand-in is
    still to come."""
    for move in state.desired.topology.moving:
        stand_in, member = move.stand_in, state.member(move.to.name)
        if stand_in is None or move.is_standing or member is None or is_silent(state, member):
            continue
        if state.desired.replacement.note_of(move.to.name) is not None:
            continue  # the note goes: the member is alive
        yield move.to, stand_in


def why_not_go(state: ClusterState, name: str) -> str | None:
    """Reason why a place may not go now that is to return elsewhere; None when it may, and for one
    that goes for good."""
    topology, member = state.desired.topology, state.member(name)
    move, silent = topology.move_of(name), member is not None and is_silent(state, member)
    may_answer = silent and member is not None and not has_gone(state, member)
    if topology.new_name_of(name) and may_answer:
        return "it does not answer, and is renamed when it does"
    if move is None or move.is_standing:
        return None
    if state.desired.replacement.note_of(name) is not None and not silent:
        return "it answers again, and stays"
    if may_answer and member is not None and is_reached(state, member):
        return "it does not answer, and Raft's leader reaches it"
    if may_answer and member is not None and not is_dead(state, member):
        return f"it does not answer, and neither is {member.node} down nor its Raft node cut off"
    return why_not_here(state, move.to)


def has_gone(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member whose service was removed after its vote: nothing of it will answer.
    It may be listed again: its Raft node added itself at a last start, or a loss of power took the
    removal of its vote from disks that nobody syncs (an image from before decision 35)."""
    is_there = state.swarm.service(member.service.name) is not None
    return not is_there and member.name in noted_voteless(state)


def stage_of(state: ClusterState, member: DesiredMember) -> Leaving:
    """Return how far the removal of a member has come. The only one with a service has a vote,
    though nobody else lists it. A dead one is no voter where only Raft nodes list it that have no
    vote themselves: they join again when it is gone."""
    own = raft_address(state, member)
    apart = seatless(state) if is_silent(state, member) else frozenset[str]()
    is_there = state.swarm.service(member.service.name) is not None
    is_alone = is_there and not any(others(state, {own}))
    if is_alone or own in voters_of(state, {own, *apart}):
        return Leaving(member, "voter")
    return Leaving(member, "service" if is_there else "place")


def departure_rank(
    state: ClusterState, member: DesiredMember
) -> tuple[bool, bool, bool, bool, str]:
    """Sorts first whoever leaves first: a member that does not answer, then one that serves
    nobody, then one that leads nothing."""
    answers = not is_silent(state, member)
    own = raft_address(state, member)
    is_leader, leads_raft = state.is_leader(member), raft_leader(state) == own
    return answers, not serves_nobody(state, member), is_leader, leads_raft, member.name


def why_not_fewer(state: ClusterState) -> str | None:
    """Reason why the file may not have as few members as it has; None when it may."""
    wanted = state.desired.topology
    fewer = wanted.written < min(LEAST_MEMBERS, len(state.desired.members))
    if not wanted.leaving or not fewer or wanted.accepts_no_failover:
        return None
    left = f"{wanted.written} member" + ("s" if wanted.written > 1 else "")
    return (
        f"with {left} nothing takes over when one fails; write acknowledge: [noFailover] to go on"
    )
