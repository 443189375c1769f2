"""What decides: the rules that plan and the guards that refuse, as one value.

The operator runs with the default; a test that takes a rule or a guard away shows what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.app.planner import APP_RULES, AppRule
from queenright.core.guards import GUARDS
from queenright.core.plan import Guard
from queenright.core.planner import RULES, Rule


@dataclass(frozen=True, slots=True)
class Doctrine:
    """The rules in their order, and the guards in theirs."""

    rules: tuple[Rule, ...] = RULES
    guards: tuple[Guard, ...] = GUARDS
    app_rules: tuple[AppRule, ...] = APP_RULES


DOCTRINE = Doctrine()
