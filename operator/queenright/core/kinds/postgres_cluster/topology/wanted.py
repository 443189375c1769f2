"""The members that the file adds to a deployed cluster, takes from it, moves and renames.

Decides from the document and the noted places alone. A member that moves to another node gets a
stand-in there, under a name of its own, which takes the member's name when the former place is
gone; it is known by its node and address. Invariant: a place that can't be where the file has it
stays as it is (``unfit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.places import DeployedMember, is_member
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster

LEAST_MEMBERS = 3
"""With fewer members, nothing takes over for one that fails."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A member of the file that has no place yet; ``address`` is empty where its node is not in the
    swarm. ``stands_for`` is the member whose name a stand-in takes later; empty for any other."""

    name: str
    node: str
    address: str
    stands_for: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """A place that the file has elsewhere: ``to`` is where. ``stand_in`` is the member that is
    added there first, None where there is no other node for it; ``is_standing`` is True when that
    has its place."""

    to: Arrival
    stand_in: Arrival | None
    is_standing: bool


@dataclass(frozen=True, slots=True)
class Topology:
    """The difference between the file's members and the places.

    ``leaving`` are the places that go as they are: those that the file does not have any more, has
    elsewhere (``moving``) or under another name (``renaming``: the former name, and the new one).
    ``unfit`` are those that it has where they can't be, with the reason. ``written`` is the number
    of members in the file; ``accepts_no_failover`` is True if the file acknowledges that nothing
    takes over for a member that fails.
    """

    arriving: tuple[Arrival, ...] = ()
    leaving: frozenset[str] = frozenset()
    places: tuple[DeployedMember, ...] = ()
    written: int = 0
    accepts_no_failover: bool = False
    moving: tuple[Move, ...] = ()
    renaming: tuple[tuple[str, str], ...] = ()
    standing: frozenset[str] = frozenset()
    """The stand-ins that have their place, and do not go."""
    unfit: tuple[tuple[str, str], ...] = ()
    lan_subnet: str = ""
    """The network from which alone members may connect."""

    @property
    def asked(self) -> tuple[Arrival, ...]:
        """The places at which nothing may answer yet."""
        moves = (move for move in self.moving if not move.is_standing)
        found = [(move.to, move.stand_in) for move in moves]
        return (*self.arriving, *(a for pair in found for a in pair if a is not None))

    def move_of(self, name: str) -> Move | None:
        return next((move for move in self.moving if move.to.name == name), None)

    def new_name_of(self, name: str) -> str:
        """Return the name that a member gets; empty where it keeps its own."""
        return dict(self.renaming).get(name, "")

    def comes_back(self, name: str) -> bool:
        """Return True for a place whose member the file has elsewhere, or under another name."""
        return self.move_of(name) is not None or bool(self.new_name_of(name))

    def returns(self, name: str) -> bool:
        """Return True for a place that comes back as it goes: in its place, or under its name."""
        move = self.move_of(name)
        return name in dict(self.renaming) or (move is not None and not move.is_standing)

    def why_leaving(self, name: str) -> str:
        """Return in words why a place goes."""
        move, new_name = self.move_of(name), self.new_name_of(name)
        if new_name:
            return f"is to be named {new_name}"
        if move is None:
            return "is no longer in the file"
        place = next(place for place in self.places if place.name == name)
        if move.to.node == place.node:
            return f"moves from {place.address} to {move.to.address}"
        return f"moves from {place.node} to {move.to.node}"


UNCHANGED = Topology()
"""No difference."""


def arrival_key(scope: str, arrival: Arrival) -> str:
    """Return the key of what answers at a place before its member is there. It is not its service's
    name: that one may still be deployed elsewhere."""
    return f"{scope}_{arrival.name}@{arrival.address}"


def topology_of(
    cluster: PostgresCluster, places: Sequence[DeployedMember], nodes: Mapping[str, str]
) -> Topology:
    """Return the difference; ``nodes`` maps the swarm's node names to their addresses."""
    known = {place.name: place for place in places}
    lines = {
        member.name: Arrival(member.name, member.node, member.address or nodes.get(member.node, ""))
        for member in cluster.spec.members
    }
    explicit = {member.name for member in cluster.spec.members if member.address}
    moved = {
        name: line
        for name, line in lines.items()
        if name in known and is_elsewhere(line, known[name], is_explicit=name in explicit)
    }
    if not places or (known.keys() == lines.keys() and not moved):
        return UNCHANGED
    gone = {name: place for name, place in known.items() if name not in lines}
    unfit = {
        name: why
        for name, line in moved.items()
        if (why := why_unknown(line, known[name], nodes) or why_unfit(line, known, gone))
    }
    moving = tuple(move_of(line, known, lines) for name, line in moved.items() if name not in unfit)
    standing = frozenset(
        name for move in moving if move.is_standing for name in gone if is_at(move.to, gone[name])
    )
    renaming = {
        name: line.name
        for name, place in gone.items()
        for line in lines.values()
        if line.name not in known and is_at(line, place)
    }
    if unfit and known.keys() == lines.keys() and not moving:
        return Topology(places=tuple(places), written=len(lines), unfit=tuple(unfit.items()))
    return Topology(
        arriving=tuple(
            line
            for name, line in lines.items()
            if name not in known and name not in renaming.values()
        ),
        leaving=frozenset((gone.keys() - standing) | {move.to.name for move in moving}),
        places=tuple(places),
        written=len(lines),
        accepts_no_failover="noFailover" in cluster.spec.acknowledge,
        moving=moving,
        renaming=tuple(renaming.items()),
        standing=standing,
        unfit=tuple(unfit.items()),
        lan_subnet=str(cluster.spec.lan_subnet),
    )


def is_elsewhere(line: Arrival, place: DeployedMember, *, is_explicit: bool) -> bool:
    """Return True for a line that means another node or address. The swarm's own address of the
    node counts only together with another node."""
    is_same_node = line.node == place.node
    return not is_same_node or (is_explicit and line.address != place.address)


def is_at(line: Arrival, place: DeployedMember) -> bool:
    return (line.node, line.address) == (place.node, place.address)


def why_unknown(line: Arrival, place: DeployedMember, nodes: Mapping[str, str]) -> str:
    """Reason why a place does not get another address on its node; empty when it may. A mistyped
    one would cost the member its vote, and nobody would reach it there."""
    known = nodes.get(line.node, "")
    if line.node != place.node or line.address == known:
        return ""
    return (
        f"the swarm knows {line.node} by {known or 'no address'}, not by the address "
        f"{line.address}; write address: {place.address} again"
    )


def why_unfit(
    line: Arrival, known: Mapping[str, DeployedMember], gone: Mapping[str, DeployedMember]
) -> str:
    """Reason why a place can't be where the file has it; empty when it can. A place that is a
    stand-in already is where the line is, and is no reason."""
    if not line.address:
        return f"the swarm has no node {line.node}; add that node, or correct the file"
    for place in known.values():
        stands = place.name in gone and is_at(line, place)
        if place.name == line.name or stands:
            continue
        if place.node == line.node:
            return (
                f"{place.name} is on {place.node}; write another node, or move {place.name} first"
            )
        if place.address == line.address:
            return f"{place.name} has the address {place.address}; write another one"
    if len(known) == 1:
        return "it is the only member; add another one first, and then move this one"
    return ""


def move_of(
    line: Arrival, known: Mapping[str, DeployedMember], lines: Mapping[str, Arrival]
) -> Move:
    has_seat = line.node != known[line.name].node
    name = next(stand_in_names(line, known, lines), "") if has_seat else ""
    stand_in = Arrival(name, line.node, line.address, line.name) if name else None
    is_standing = any(is_at(line, place) for place in known.values() if place.name not in lines)
    return Move(line, stand_in, is_standing)


def stand_in_names(
    line: Arrival, known: Mapping[str, DeployedMember], lines: Mapping[str, Arrival]
) -> Iterator[str]:
    """Yield free names that a member's stand-in may have."""
    for number in range(1, len(known) + 2):
        name = f"{line.name}-moved" + (f"-{number}" if number > 1 else "")
        if name not in known and name not in lines and is_member(name, line.node, line.address):
            yield name
