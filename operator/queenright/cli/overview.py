"""Many clusters at a glance: the worst first, counts, and one line for what is converged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from queenright.core.planning.conditions import CONVERGED, Shown, condition, counted

Found: TypeAlias = Mapping[str, Sequence[Shown]]

MOST_WHOLE = 10
"""With more documents than this, those that are converged have one line each."""


def counts(found: Found) -> str:
    """Return how many documents there are in each condition; empty for less than two."""
    number = counted(condition(*one) for shown in found.values() for one in shown)
    if sum(count for _, count in number) < 2:
        return ""
    return ", ".join(f"{count} {name}" for name, count in number)


def is_one_line(found: Found, one: Shown) -> bool:
    """Return True if a document has one line because there are many, and nothing to say of it."""
    return sum(map(len, found.values())) > MOST_WHOLE and condition(*one) == CONVERGED


def only(found: Found, name: str) -> dict[str, list[Shown]]:
    """Return what has this name, of any kind."""
    return {kind: [one for one in shown if one[0].name == name] for kind, shown in found.items()}
