"""Rules that plan and guards that refuse, as one value.

The operator runs with the default; a test that takes a rule or a guard away shows what it is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from queenright.core.kinds.kind import Kind, Rule
from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Observed
from queenright.core.planning.guards import (
    absences_are_certain,
    labels_place_owners,
    one_disruption,
    refusal_by,
    removals_are_asked_for,
    secrets_are_never_replaced,
)
from queenright.core.planning.plan import Guard, Plan, Refusal


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The rules of each kind, by its name and in their order, and the guards in theirs."""

    rules: Mapping[str, tuple[Rule, ...]]
    guards: tuple[Guard, ...]

    def with_rules(self, kind: str, rules: tuple[Rule, ...]) -> Ruleset:
        """The same with these rules for one kind."""
        return replace(self, rules={**self.rules, kind: rules})


def ruleset_of(kinds: Mapping[str, Kind[Any, Any]]) -> Ruleset:
    """The rules and guards of some kinds, and the guards that hold for all."""
    found = [*kinds.values()]
    guards = (
        one_disruption,
        *(guard for kind in found for guard in kind.guards),
        removals_are_asked_for(tuple(may for kind in found for may in kind.removable)),
        absences_are_certain(tuple(kind.state_config for kind in found)),
        labels_place_owners(tuple(kind.label for kind in found)),
        secrets_are_never_replaced,
    )
    return Ruleset({kind.name: kind.rules for kind in found}, guards)


RULESET = ruleset_of(KINDS)
GUARDS = RULESET.guards


def first_refusal(plan: Plan, observed: Observed) -> Refusal | None:
    """The first refusal by the guards in force; None when the plan may be carried out."""
    return refusal_by(GUARDS, plan, observed)
