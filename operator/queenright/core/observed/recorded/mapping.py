"""Mappings, sets and ages as recorded inputs: each key is one question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any, TypeVar

from queenright.core.observed.ages import Ages, WithAges
from queenright.core.observed.recorded.record import MISSING, Missing, Record
from queenright.core.observed.recorded.time import Age

T = TypeVar("T")
K = TypeVar("K")


def value_of(found: Mapping[Any, T], key: object) -> T | Missing:
    return found.get(key, MISSING)


def has(found: AbstractSet[object], key: object) -> bool:
    return key in found


def keys_of(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(found)


class RecordedMapping(Mapping[K, T]):
    """A mapping; a walk over it is a question for all of its keys."""

    __slots__ = ("_record", "_source")

    def __init__(self, record: Record, source: str) -> None:
        self._record = record
        self._source = source

    def __getitem__(self, key: K) -> T:
        found: T | Missing = self._record.ask(value_of, self._source, key)
        if isinstance(found, Missing):
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[K]:
        keys: tuple[K, ...] = self._record.ask(keys_of, self._source)
        return iter(keys)

    def __len__(self) -> int:
        return len(self._record.ask(keys_of, self._source))


class RecordedSet(AbstractSet[str]):
    """A set of names."""

    __slots__ = ("_record", "_source")

    def __init__(self, record: Record, source: str) -> None:
        self._record = record
        self._source = source

    def __contains__(self, key: object) -> bool:
        return self._record.ask(has, self._source, key)

    def __iter__(self) -> Iterator[str]:
        names: tuple[str, ...] = self._record.ask(keys_of, self._source)
        return iter(names)

    def __len__(self) -> int:
        return len(self._record.ask(keys_of, self._source))

    @classmethod
    def _from_iterable(cls, it: Iterable[T]) -> frozenset[T]:
        return frozenset(it)


class TimedMapping(RecordedMapping[str, T]):
    """A mapping whose values have the time in them: one that is there reads it."""

    def __getitem__(self, key: str) -> T:
        found = super().__getitem__(key)
        self._record.read_time()
        return found


def since_of(ages: Mapping[str, float], key: str) -> float | Missing:
    return ages.since_s.get(key, MISSING) if isinstance(ages, Ages) else MISSING


class RecordedAges(TimedMapping[float], WithAges):
    """Ages: one that is there reads the time, unless it is only compared (see ``age_of``)."""

    def age_of(self, key: str) -> timedelta | None:
        since_s = self._record.ask(since_of, self._source, key)
        if isinstance(since_s, Missing):
            seconds = self.get(key)
            return None if seconds is None else timedelta(seconds=seconds)
        record, source = self._record, self._source
        return Age(
            timedelta(seconds=record.clock_s(source) - since_s),
            record,
            lambda limit: record.compare_age(source, since_s + limit.total_seconds()),
        )
