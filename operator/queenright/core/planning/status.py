"""The status of a document of any kind, as blocks for a terminal and as values for JSON.

A kind fills it from one observation and its plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from queenright.core.planning.plan import NOT_COMPARED, Hold, Plan, summary


@dataclass(frozen=True, slots=True)
class Line:
    """One concern's status: its name, and a sentence."""

    about: str
    text: str
    wants_attention: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "about": self.about.lower(),
            "text": self.text,
            "wants_attention": self.wants_attention,
        }


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines in two columns, the first of which has at least this width."""

    lines: tuple[Line, ...]
    width: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under their columns' names."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = Lines | Table


class Status(Protocol):
    """The output of `queenright status` for one document, or for an object without one."""

    @property
    def name(self) -> str: ...

    @property
    def plan(self) -> Plan: ...

    @property
    def is_compared(self) -> bool:
        """True if a valid file describes the desired state."""
        ...

    @property
    def summary(self) -> str: ...

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in the order of the output; empty ones are left out."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]: ...

    @property
    def holds(self) -> tuple[Hold, ...]: ...

    @property
    def notes(self) -> tuple[Hold, ...]: ...

    def details(self) -> Mapping[str, object]:
        """The fields of its JSON that are its kind's own."""
        ...


@dataclass(frozen=True, slots=True)
class PlainStatus:
    """The status of what has nothing to show but its plan, and a kind's blocks if it has any."""

    name: str
    plan: Plan
    blocks: tuple[Block, ...] = ()
    is_compared: bool = True

    @property
    def summary(self) -> str:
        return summary(self.plan) if self.is_compared else NOT_COMPARED

    @property
    def remarks(self) -> tuple[str, ...]:
        return ()

    @property
    def holds(self) -> tuple[Hold, ...]:
        return self.plan.held

    @property
    def notes(self) -> tuple[Hold, ...]:
        return self.plan.notes

    def details(self) -> Mapping[str, object]:
        return {}
