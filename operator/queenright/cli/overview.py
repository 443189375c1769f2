"""Many clusters at a glance: the worst first, counts, and one line for what is converged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from queenright.core.planning.plan import Refusal
from queenright.core.planning.status import Status

Shown: TypeAlias = tuple[Status, Refusal | None]
Found: TypeAlias = Mapping[str, Sequence[Shown]]

MOST_WHOLE = 10
"""With more documents than this, those that are converged have one line each."""
CONDITIONS = ("needs you", "held", "to do", "not compared", "converged")
"""The conditions, worst first."""


def condition(status: Status, refusal: Refusal | None) -> str:
    """Return the worst that is to be said of a document."""
    plan = status.plan
    if refusal is not None or any(hold.wants_attention for hold in plan.held):
        return "needs you"
    if plan.held or status.remarks:
        return "held"
    if plan.actions:
        return "to do"
    return "converged" if status.is_compared else "not compared"


def worst_first(found: Sequence[Shown]) -> list[Shown]:
    """Return the documents of a kind, worst first, and else in their order."""
    return sorted(found, key=lambda one: CONDITIONS.index(condition(*one)))


def counts(found: Found) -> str:
    """Return how many documents there are in each condition; empty for less than two."""
    number = Counter(condition(*one) for shown in found.values() for one in shown)
    if number.total() < 2:
        return ""
    return ", ".join(f"{number[name]} {name}" for name in CONDITIONS if number[name])


def is_one_line(found: Found, one: Shown) -> bool:
    """Return True if a document has one line because there are many, and nothing to say of it."""
    return sum(map(len, found.values())) > MOST_WHOLE and condition(*one) == "converged"


def only(found: Found, name: str) -> dict[str, list[Shown]]:
    """Return what has this name, of any kind."""
    return {kind: [one for one in shown if one[0].name == name] for kind, shown in found.items()}
