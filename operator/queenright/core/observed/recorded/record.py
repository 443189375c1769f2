"""Records what a pure function reads of its inputs, and whether it would read the same again.

The function is given views that hold nothing themselves: each question to one is asked of the real
input, and kept here with its answer. Invariant: a function that gets the same answer to each of its
questions comes to the same result, so this is all that its result rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar

from queenright.core.observed.ages import Ages
from queenright.core.observed.known import Known

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")

Inputs: TypeAlias = Mapping[str, Any]
"""The inputs of a pass by name; none of them changes while the pass lasts."""
Reads: TypeAlias = tuple[Callable[..., Any], int, tuple[Any, ...]]
"""A question, the number of values that it is about, and one after the other all that it was asked
about, each with its answer: one tuple for all, since a record has a hundred of them."""


class Missing:
    """The answer for a key that a mapping does not have."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
UNASKED: Final = object()
CLOSE_S = 0.001
"""Two moments this close by a monotonic clock count as one."""


NOTHING: Final[Mapping[Any, Any]] = {}


class Sources(dict[str, Any]):
    """The inputs of a pass by name, each with a mark: the one of the former pass where the input is
    the same object. A record keeps the mark, so that it keeps no reading of the swarm."""

    def __init__(self, found: Inputs, former: Sources | None = None) -> None:
        super().__init__(found)
        self.marks: Mapping[str, object] = {
            name: former.marks[name]
            if former is not None and former.get(name, UNASKED) is one
            else object()
            for name, one in found.items()
        }


class Record:
    """The questions of one call, and their answers. ``now`` is the pass's one moment."""

    __slots__ = (
        "_after",
        "_before",
        "_by_source",
        "_is_closed",
        "_reads",
        "_sources",
        "_until_s",
        "is_lasting",
        "now",
    )

    def __init__(self, sources: Inputs, now: datetime) -> None:
        self.now = now
        self.is_lasting = True
        """False once the time itself was read: what was made of it is different in each pass."""
        self._sources = sources
        self._is_closed = False
        self._by_source: dict[str, tuple[object, tuple[Reads, ...]]] = {}
        self._reads: dict[tuple[Any, ...], object] = {}
        self._after: datetime | None = None
        self._before: datetime | None = None
        self._until_s: Mapping[str, float] = NOTHING

    if TYPE_CHECKING:

        def ask(
            self,
            question: Callable[Concatenate[S, P], T],
            source: str,
            *about: P.args,
            **named: P.kwargs,
        ) -> T: ...

    else:

        def ask(self, question, source, *about):
            """Return the real input's answer; ``about`` has hashable values, none of them by name.
            Equal questions are asked once."""
            key = (question, source, *about)
            found = self._reads.get(key, UNASKED)
            if found is UNASKED:
                if self._is_closed:
                    raise RuntimeError(f"{question} of {source}: asked after the answer was given")
                found = self._reads[key] = question(self._sources[source], *about)
            return found

    def holds(self, sources: Inputs, now: datetime) -> bool:
        """Return True if every question has the same answer now. One that can't be asked any more
        has another one."""
        if (self._before is not None and now >= self._before) or (
            self._after is not None and now <= self._after
        ):
            return False
        try:
            if any(sources[name].now_s >= until_s for name, until_s in self._until_s.items()):
                return False
            marks = marks_of(sources)
            return all(
                self._is_as_it_was(name, sources[name], marks.get(name)) for name in self._by_source
            )
        except Exception:  # noqa: BLE001  # whatever it is, the answer is another one
            return False

    def _is_as_it_was(self, name: str, source: object, mark: object) -> bool:
        """Return True if a source answers each question as it did; one that did is not asked
        again while it has this mark."""
        seen, groups = self._by_source[name]
        if mark is not None and mark is seen:
            return True
        for question, about, reads in groups:
            one_by_one = iter(reads)
            for *asked, answer in zip(*[one_by_one] * (about + 1), strict=True):
                found = question(source, *asked)
                if found is not answer and not same(found, answer):
                    return False
        self._by_source[name] = (mark, groups)
        return True

    def closed(self) -> Record:
        """Return the record as it is kept: it asks nothing any more, and holds no inputs."""
        groups: dict[str, dict[tuple[Callable[..., Any], int], list[Any]]] = {}
        for (question, source, *about), answer in self._reads.items():
            reads = groups.setdefault(source, {}).setdefault((question, len(about)), [])
            reads += (*about, answer)
        marks = marks_of(self._sources)
        self._by_source = {
            name: (marks.get(name), tuple((*kind, tuple(reads)) for kind, reads in of.items()))
            for name, of in groups.items()
        }
        self._is_closed, self._sources, self._reads = True, NOTHING, {}
        return self

    def read_time(self) -> None:
        """Note that the result has the time in it."""
        if self._is_closed:
            raise RuntimeError("the time: read after the answer was given")
        self.is_lasting = False

    def compare(self, edge: datetime) -> None:
        """Note a comparison of the time, whose answer changes at ``edge``; clocks may be set
        back."""
        if edge > self.now:
            self._before = edge if self._before is None else min(self._before, edge)
        elif edge < self.now:
            self._after = edge if self._after is None else max(self._after, edge)
        else:
            self.read_time()

    def compare_age(self, source: str, edge_s: float) -> None:
        """Note a comparison of an age, whose answer changes at ``edge_s`` by its source's clock."""
        now_s = self.clock_s(source)
        if abs(edge_s - now_s) <= CLOSE_S:
            self.read_time()
        elif edge_s > now_s:
            until_s = edge_s - CLOSE_S
            until_s = min(self._until_s.get(source, until_s), until_s)
            self._until_s = {**self._until_s, source: until_s}

    def clock_s(self, source: str) -> float:
        """Return the reading of the clock by which a source measures its ages."""
        ages: Ages = self._sources[source]
        return ages.now_s


def marks_of(sources: Inputs) -> Mapping[str, object]:
    """Return the marks of a pass's inputs; none where they have not been marked."""
    return sources.marks if isinstance(sources, Sources) else NOTHING


def same(one: object, other: object) -> bool:
    """Return True for equal values of equal types: ``true`` and ``1`` of a JSON text are two."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Known) and isinstance(other, Known):
        return same(one.value, other.value)
    return bool(one == other)
