"""Known and unknown sources, and a swarm object with what a write of it needs.

Unknown is not absent: a source that did not answer is ``Unknown`` with its reason, and nothing
destructive may be decided on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """A source that answered."""

    value: T_co


@dataclass(frozen=True, slots=True)
class Unknown:
    """A source without a credible answer; ``why`` is the reason, for people."""

    why: str


@dataclass(frozen=True, slots=True)
class NotAsked(Unknown):
    """A source that a read-only command does not ask; the operator itself asks it."""


@dataclass(frozen=True, slots=True)
class Live(Generic[T_co]):
    """A swarm object with the data for a write: its id and the version index that was read."""

    id: str
    version: int
    value: T_co
