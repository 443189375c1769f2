"""The condition of a document, in one of five words, and the worst first.

Pure: decides from a status and a guard's refusal alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from queenright.core.planning.plan import Refusal
from queenright.core.planning.status import Status

Shown: TypeAlias = tuple[Status, Refusal | None]

NEEDS_YOU, HELD, TO_DO, NOT_COMPARED, CONVERGED = CONDITIONS = (
    "needs you",
    "held",
    "to do",
    "not compared",
    "converged",
)
"""The conditions, worst first."""


def condition(status: Status, refusal: Refusal | None) -> str:
    """Return the worst that is to be said of a document."""
    plan = status.plan
    if refusal is not None or any(hold.wants_attention for hold in plan.held):
        return NEEDS_YOU
    if plan.held or status.remarks:
        return HELD
    if plan.actions:
        return TO_DO
    return CONVERGED if status.is_compared else NOT_COMPARED


def worst_first(found: Sequence[Shown]) -> list[Shown]:
    """Return the documents of a kind, worst first, and else in their order."""
    return sorted(found, key=lambda one: CONDITIONS.index(condition(*one)))


def counted(conditions: Iterable[str]) -> list[tuple[str, int]]:
    """Return each condition that occurs with its number, worst first."""
    number = Counter(conditions)
    return [(name, number[name]) for name in CONDITIONS if number[name]]
