"""Finds documents that share anything, so that not every pair of them has to be compared.

A document offers marks (a port on a node, a name, a range) and seeks marks. Decides from these
alone. Invariant: two documents of which neither offers what the other seeks are no pair.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import TypeVar

from queenright.core.manifest.identity import Identity
from queenright.core.manifest.port_claims import PortClaim

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Marks:
    """The objects that one document has, and those that it would meet in another one."""

    offered: frozenset[Hashable] = frozenset()
    sought: frozenset[Hashable] = frozenset()

    def __or__(self, other: "Marks") -> "Marks":
        return Marks(self.offered | other.offered, self.sought | other.sought)


def named(what: str, *names: Hashable) -> Marks:
    """Marks of names that two documents may not both have."""
    found = frozenset((what, name) for name in names if name is not None)
    return Marks(found, found)


def ports(*claims: PortClaim) -> Marks:
    """Marks of ports: one that is taken everywhere meets each of the same number."""
    offered: set[Hashable] = set()
    sought: set[Hashable] = set()
    for claim in claims:
        own = {("port", claim.port, node) for node in claim.nodes}
        offered |= {("port", claim.port)} if claim.is_everywhere else own
        sought |= {("port", claim.port), *own}
    return Marks(frozenset(offered), frozenset(sought))


def ranges(*found: IPv4Network | None) -> Marks:
    """Marks of ranges of addresses: of two that overlap, one contains the other."""
    known = [one for one in found if one is not None]
    around = {one.supernet(new_prefix=size) for one in known for size in range(one.prefixlen + 1)}
    return Marks(frozenset(known), frozenset(around))


def meeting(
    earlier: Sequence[T],
    marks: Callable[[Identity[T]], Marks],
) -> Iterator[tuple[T, T]]:
    """The pairs of documents that meet, in the order of ``itertools.combinations``."""
    found = [marks(Identity(one)) for one in earlier]
    pairs = {(min(pair), max(pair)) for pair in _met(found, found) if pair[0] != pair[1]}
    return ((earlier[one], earlier[other]) for one, other in sorted(pairs))


def meeting_across(
    some: Sequence[T],
    marks_of_some: Callable[[Identity[T]], Marks],
    others: Sequence[U],
    marks_of_others: Callable[[Identity[U]], Marks],
) -> Iterator[tuple[T, U]]:
    """The pairs of one of ``some`` and one of the ``others`` that meet, in the order of both."""
    ours = [marks_of_some(Identity(one)) for one in some]
    theirs = [marks_of_others(Identity(one)) for one in others]
    pairs = {*_met(ours, theirs)} | {(one, other) for other, one in _met(theirs, ours)}
    return ((some[one], others[other]) for one, other in sorted(pairs))


def _met(seekers: Sequence[Marks], offering: Sequence[Marks]) -> Iterator[tuple[int, int]]:
    """The places of a seeker and of one that offers what it seeks."""
    where: dict[Hashable, list[int]] = {}
    for place, marks in enumerate(offering):
        for mark in marks.offered:
            where.setdefault(mark, []).append(place)
    for place, marks in enumerate(seekers):
        for mark in marks.sought:
            for other in where.get(mark, ()):
                yield place, other
