"""Ages of what a running process has seen, by a monotonic clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import timedelta


class Ages(Mapping[str, float]):
    """Seconds since each moment, by key. ``since_s`` and ``now_s`` are readings of one clock."""

    __slots__ = ("now_s", "since_s")

    def __init__(self, since_s: Mapping[str, float], now_s: float) -> None:
        self.since_s = since_s
        self.now_s = now_s

    def __getitem__(self, key: str) -> float:
        return self.now_s - self.since_s[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.since_s)

    def __len__(self) -> int:
        return len(self.since_s)

    def __repr__(self) -> str:
        return repr(dict(self))


class WithAges(ABC):
    """A mapping of ages that gives an age as a duration of its own type."""

    @abstractmethod
    def age_of(self, key: str) -> timedelta | None: ...


def age_of(ages: Mapping[str, float], key: str) -> timedelta | None:
    """Return the age of this key; None where it has none. A plan that only compares it with limits
    is made again when a comparison's answer changes, one that reads the seconds in each pass."""
    if isinstance(ages, WithAges):
        return ages.age_of(key)
    seconds = ages.get(key)
    return None if seconds is None else timedelta(seconds=seconds)
