"""Counts how often an action was tried without lasting effect.

The only thing that a killed operator forgets, and harmlessly: it then tries at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from queenright.core.actions import Action
from queenright.core.audit import Done, Outcome
from queenright.core.backoff import attempt_key, delay_s, forget_after
from queenright.core.observed import Attempt
from queenright.core.plan import Plan


@dataclass
class Attempts:
    """Attempts by action key, and when each key was last wanted."""

    counted: dict[str, Attempt] = field(default_factory=dict)
    wanted_at: dict[str, datetime] = field(default_factory=dict)

    def record(self, tried: Iterable[tuple[Action, Outcome]], now: datetime) -> None:
        """These actions were just tried."""
        for action, outcome in tried:
            key = attempt_key(action)
            before = self.counted.get(key)
            error = "" if isinstance(outcome, Done) else outcome.error
            self.counted[key] = Attempt(before.count + 1 if before else 1, now, error)
            self.wanted_at[key] = now

    def forget_satisfied(self, plans: Iterable[Plan], now: datetime) -> None:
        """Drop the keys that no plan has wanted for a while: what was done there has lasted."""
        wanted = {step.key for plan in plans for step in (*plan.actions, *plan.holds)}
        for key, at in list(self.wanted_at.items()):
            if key.partition("@")[0] in wanted:
                self.wanted_at[key] = now
            elif now - at > forget_after(key):
                del self.wanted_at[key]
                self.counted.pop(key, None)

    def retry_s(self, tried: Iterable[tuple[Action, Outcome]]) -> float | None:
        """Seconds until the first of the failed actions may be tried again; None if none failed."""
        waits = [
            delay_s(action.key, self.counted[attempt_key(action)].count)
            for action, outcome in tried
            if not isinstance(outcome, Done)
        ]
        return min(waits, default=None)
