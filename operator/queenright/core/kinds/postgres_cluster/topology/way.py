"""The whole way from the present members to the file's, in numbered steps, for people to read.

Decides nothing: each pass takes the next step anew (``choice``). The order is the one in which
passes come to the steps if no member dies meanwhile, and what keeps the edit from beginning passes.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.adding import quorum
from queenright.core.kinds.postgres_cluster.topology.choice import covered_moves
from queenright.core.kinds.postgres_cluster.topology.fitting import misfits
from queenright.core.kinds.postgres_cluster.topology.settled import is_silent
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival
from queenright.core.planning.plan import Hold


def way_of(state: ClusterState) -> Iterator[Hold]:
    """Yield the note with the steps; nothing while there are none."""
    if steps := [*steps_of(state)]:
        told = "; ".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
        yield Hold(
            f"topology/{state.desired.name}",
            f"cluster {state.desired.name}: the way to the file's members: {told}",
            is_informational=True,
        )


def steps_of(state: ClusterState) -> Iterator[str]:
    topology, voters = state.desired.topology, len(state.desired.members)
    leaving = [m for m in state.desired.members if m.name in topology.leaving]
    first = [member for member in leaving if is_silent(state, member)]
    seats = [*seats_of(state)]
    covered = {arrival.stands_for for arrival in seats}
    for member in first:
        yield from departure(state, member, voters)
        voters -= 1
        if topology.returns(member.name):
            yield from arrival_back(state, member, voters)
            voters += 1
    for arrival in (*topology.arriving, *seats):
        yield added(arrival, voters)
        voters += 1
    later = [member for member in leaving if member not in first]
    for member in later:
        if not topology.returns(member.name) or member.name in covered:
            yield from departure(state, member, voters)
            voters -= 1
    for member in later:
        if topology.returns(member.name) and member.name not in covered:
            yield from departure(state, member, voters)
            yield from arrival_back(state, member, voters - 1)
    standing = [move.to for move in topology.moving if move.is_standing]
    for line in (*standing, *(move.to for move in topology.moving if move.to.name in covered)):
        yield (
            f"the stand-in of {line.name} restarts under that name ({quorum(voters)}, "
            f"{quorum(voters - 1)} meanwhile; no data are copied)"
        )
    goes = [member for member in leaving if not topology.new_name_of(member.name)]
    if voters > 1 and (goes or topology.arriving):
        # The list of an only member is empty (``partners``).
        last = (
            "hands over, and restarts, too"
            if len(state.desired.members) == 1
            else ("has it with its next restart")
        )
        yield (
            "the replicas restart, one at a time, with the new list of Raft partners "
            f"({voters - 1} of {voters} meanwhile, {quorum(voters)}); the leader {last}"
        )


def seats_of(state: ClusterState) -> Iterator[Arrival]:
    """Yield the stand-ins that are to be added, now or as soon as the new node can take a member;
    what keeps the stand-in alone away (``max_wal_senders``) has the member move in place."""
    for to, stand_in in covered_moves(state):
        if {*misfits(state, stand_in)} <= {*misfits(state, to)}:
            yield stand_in


def departure(state: ClusterState, member: DesiredMember, voters: int) -> Iterator[str]:
    """Yield the steps by which a member leaves."""
    if state.is_leader(member):
        yield f"{member.name} hands over the leadership (one switchover)"
    yield (
        f"{member.name} on {member.node} stops, without its vote ({quorum(voters)}, then "
        f"{quorum(voters - 1)})"
    )


def arrival_back(state: ClusterState, member: DesiredMember, voters: int) -> Iterator[str]:
    """Yield the step by which a member that left is there again."""
    topology = state.desired.topology
    move, new_name = topology.move_of(member.name), topology.new_name_of(member.name)
    change = f"({quorum(voters)}, then {quorum(voters + 1)}"
    if new_name:
        yield f"it starts as {new_name} {change}; no data are copied)"
    elif move is not None and move.to.node == member.node:
        yield f"it starts at {move.to.address} {change}; no data are copied)"
    elif move is not None:
        yield added(move.to, voters)


def added(arrival: Arrival, voters: int) -> str:
    return (
        f"{arrival.name} starts on {arrival.node} and copies all data ({quorum(voters)}, then "
        f"{quorum(voters + 1)})"
    )
