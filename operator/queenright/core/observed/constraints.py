"""Swarm's placement constraints (swarmkit: constraint.Parse, constraint.NodeMatches).

Pure: evaluates constraints that the operator or a person wrote. Invariant: what the observation of
a node does not show gives None, neither met nor not met.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from queenright.core.manifest.remembered import MOST_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from queenright.core.observed.swarm_objects import Node

LABELS = "node.labels."
_EXPRESSION = re.compile(r"\s*([^=!\s]+)\s*(==|!=)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One condition: ``key`` is (or, with ``is_equal`` False, is not) ``value``."""

    key: str
    value: str
    is_equal: bool = True

    @property
    def label(self) -> str:
        """Return the key of the node label that it tests; empty for any other constraint."""
        return self.key[len(LABELS) :] if self.key.lower().startswith(LABELS) else ""

    def allows(self, found: str) -> bool:
        """Return True if the value satisfies it; swarm ignores case."""
        return (found.lower() == self.value.lower()) == self.is_equal


@lru_cache(maxsize=MOST_TEXTS)
def read_constraint(text: str) -> Constraint | None:
    """Return the constraint, or None for a text that is none."""
    match = _EXPRESSION.fullmatch(text)
    return None if match is None else Constraint(match[1], match[3], match[2] == "==")


def is_met(constraint: Constraint, node: Node) -> bool | None:
    """Return True if a node meets it, None where the tested value is not observed."""
    if label := constraint.label:
        return constraint.allows(node.labels.get(label, ""))
    match constraint.key.lower():
        case "node.id":
            return constraint.allows(node.id)
        case "node.hostname":
            return constraint.allows(node.name)
        case "node.role":
            return constraint.allows(node.role)
        case _:
            return None


def meets(node: Node, constraints: Iterable[str]) -> bool:
    """Return True if a node is known to meet every constraint."""
    found = [read_constraint(text) for text in constraints]
    return all(one is not None and is_met(one, node) for one in found)


def value_for(constraints: Iterable[str], key: str) -> str:
    """Return the value that the constraints require for ``key``; empty where none does."""
    for text in constraints:
        found = read_constraint(text)
        if found is not None and found.is_equal and found.key == key:
            return found.value
    return ""


def loses_place(
    constraints: Iterable[str], before: Mapping[str, str], after: Mapping[str, str]
) -> bool:
    """Return True if a change of a node's labels breaks a constraint that they met."""
    for text in constraints:
        found = read_constraint(text)
        if found is None or not found.label:
            continue
        was, will = (found.allows(labels.get(found.label, "")) for labels in (before, after))
        if was and not will:
            return True
    return False
