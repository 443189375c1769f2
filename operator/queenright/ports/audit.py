"""The audit trail, as the engine needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from queenright.core.actions import Action
from queenright.core.audit import Outcome, Trigger
from queenright.core.plan import Plan, Refusal


class Audit(Protocol):
    """Append-only, hash-chained record of what was meant and what came of it."""

    def intent(self, plan: Plan, trigger: Trigger, action: Action) -> None:
        """Recorded before the action is tried; durable when it returns."""
        ...

    def outcome(
        self, plan: Plan, trigger: Trigger, action: Action, outcome: Outcome, duration_ms: float
    ) -> None:
        """Recorded after the action was tried."""
        ...

    def measured(self, cluster: str, details: Mapping[str, object]) -> None:
        """What was measured of an event, beside its cause; nothing was done."""
        ...

    def refused(self, plan: Plan, trigger: Trigger, refusal: Refusal) -> None:
        """A guard stopped the plan: nothing of it was tried."""
        ...
