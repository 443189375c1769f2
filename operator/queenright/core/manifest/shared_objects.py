"""Finds documents that share anything, so that not every pair of them has to be compared.

A document offers marks (a port on a node, a name, a range) and seeks marks. Decides from these
alone. Invariant: two documents of which neither offers what the other seeks are no pair.
"""

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPV4LENGTH, IPv4Network
from typing import TypeAlias, TypeVar

from queenright.core.manifest.identity import Identity
from queenright.core.manifest.port_claims import PortClaim

T = TypeVar("T")
U = TypeVar("U")


Mark: TypeAlias = int
"""The hash of what a document has or meets. Two things of one hash are compared for nothing."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The objects that one document has, and those that it would meet in another one: the same, and
    others beyond them."""

    offered: frozenset[Mark] = frozenset()
    beyond: frozenset[Mark] = frozenset()

    def __or__(self, other: "Marks") -> "Marks":
        offered = self.offered | other.offered
        return Marks(offered, (self.beyond | other.beyond) - offered)

    def compact(self) -> "Marks":
        """Return the same marks in the smallest sets: Python's grow in large steps."""
        return Marks(_smallest(self.offered), _smallest(self.beyond))


def _smallest(marks: frozenset[Mark]) -> frozenset[Mark]:
    return min(marks, frozenset([*marks]), frozenset({*marks}), key=sys.getsizeof)


def named(what: str, *names: Hashable) -> Marks:
    """Marks of names that two documents may not both have."""
    return Marks(frozenset(hash((what, name)) for name in names if name is not None))


def ports(*claims: PortClaim) -> Marks:
    """Marks of ports: one that is taken everywhere meets each of the same number."""
    offered: set[Mark] = set()
    sought: set[Mark] = set()
    for claim in claims:
        everywhere = hash(("port", claim.port))
        own = {hash(("port", claim.port, node)) for node in claim.nodes}
        offered |= {everywhere} if claim.is_everywhere else own
        sought |= {everywhere, *own}
    return Marks(frozenset(offered), frozenset(sought - offered))


def ranges(*found: IPv4Network | None) -> Marks:
    """Marks of ranges of addresses: of two that overlap, one contains the other."""
    known = [one for one in found if one is not None]
    offered = {_range(int(one.network_address), one.prefixlen) for one in known}
    around = {
        _range(int(one.network_address), size) for one in known for size in range(one.prefixlen + 1)
    }
    return Marks(frozenset(offered), frozenset(around - offered))


def _range(address: int, size: int) -> Mark:
    """The mark of the range of this prefix length around an address."""
    host_bits = IPV4LENGTH - size
    return hash(("range", address >> host_bits << host_bits, size))


def meeting(
    earlier: Sequence[T],
    marks: Callable[[Identity[T]], Marks],
) -> Iterator[tuple[T, T]]:
    """The pairs of documents that meet, in the order of ``itertools.combinations``."""
    found = [marks(Identity(one)) for one in earlier]
    several = _offered_by_several(found)
    every = frozenset[Mark]().union(*(one.offered for one in found))
    sought = [one.offered & several | one.beyond & every for one in found]
    pairs = {(min(pair), max(pair)) for pair in _met(sought, found) if pair[0] != pair[1]}
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
    pairs = {(one, other) for other, one in _met_across(theirs, ours)}
    pairs.update(_met_across(ours, theirs))
    return ((some[one], others[other]) for one, other in sorted(pairs))


def _met_across(seekers: Sequence[Marks], offering: Sequence[Marks]) -> Iterator[tuple[int, int]]:
    every = frozenset[Mark]().union(*(one.offered for one in offering))
    return _met([one.offered & every | one.beyond & every for one in seekers], offering)


def _offered_by_several(found: Sequence[Marks]) -> set[Mark]:
    seen, several = set[Mark](), set[Mark]()
    for marks in found:
        several |= seen & marks.offered
        seen |= marks.offered
    return several


def _met(sought: Sequence[frozenset[Mark]], offering: Sequence[Marks]) -> Iterator[tuple[int, int]]:
    """The places of a seeker and of one that offers what it seeks. Sets of marks are compared as
    wholes, because they remember their marks' hashes, and few of a thousand documents meet."""
    wanted = frozenset[Mark]().union(*sought)
    where: dict[Mark, list[int]] = {}
    for place, marks in enumerate(offering):
        for mark in wanted & marks.offered:
            where.setdefault(mark, []).append(place)
    for place, some in enumerate(sought):
        for mark in some:
            for other in where.get(mark, ()):
                yield place, other
