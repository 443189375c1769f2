"""Members' answers as recorded inputs: each field is one question.

A busy cluster's WAL position and Raft log move on in every pass; a plan that does not ask for them
does not rest on them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from queenright.core.observed.archiving import Archiving
from queenright.core.observed.known import Known, Unknown
from queenright.core.observed.patroni import MemberStatus, RaftStatus
from queenright.core.observed.recorded.mapping import RecordedMapping, value_of
from queenright.core.observed.recorded.record import Missing, Record

T = TypeVar("T")


def how_known(found: Mapping[str, Known[Any] | Unknown], key: str) -> object:
    """Return the answer, or only that there is one."""
    answer = value_of(found, key)
    return Known if isinstance(answer, Known) else answer


def field_of(found: Mapping[str, Known[Any]], key: str, name: str) -> Any:
    return getattr(found[key].value, name)


def viewed(real: type[Any]) -> type[Any]:
    """Return the type of views of a dataclass: its fields and properties are questions, its methods
    its own."""
    names = {field.name for field in dataclasses.fields(real)}
    names |= {name for name in dir(real) if isinstance(getattr(real, name), property)}

    def begin(self: object, record: Record, source: str, key: str) -> None:
        for slot, value in (("_record", record), ("_source", source), ("_key", key)):
            object.__setattr__(self, slot, value)

    def asking(name: str) -> property:
        return property(lambda self: self._record.ask(field_of, self._source, self._key, name))

    own = {"__init__": begin, "__slots__": ("_key", "_record", "_source")}
    return type(f"Recorded{real.__name__}", (real,), {**own, **{n: asking(n) for n in names}})


VIEWS: dict[type[Any], type[Any]] = {
    real: viewed(real) for real in (MemberStatus, RaftStatus, Archiving)
}


class RecordedAnswers(RecordedMapping[str, Known[T] | Unknown], Generic[T]):
    """The answers of members. ``real`` is the type of what is known."""

    __slots__ = ("_made", "_view")

    def __init__(self, record: Record, source: str, real: type[T]) -> None:
        super().__init__(record, source)
        self._view: type[T] = VIEWS[real]
        self._made: dict[str, Known[T]] = {}

    def __getitem__(self, key: str) -> Known[T] | Unknown:
        if (made := self._made.get(key)) is not None:  # asked already: it stays in the record
            return made
        answer = self._record.ask(how_known, self._source, key)
        if isinstance(answer, Missing):
            raise KeyError(key)
        if isinstance(answer, Unknown):
            return answer
        view: Any = self._view
        found = self._made[key] = Known(view(self._record, self._source, key))
        return found
