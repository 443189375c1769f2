"""Counts how often an action was tried without lasting effect.

The only thing that a killed operator forgets, and harmlessly: it then tries at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from queenright.core.backoff import FORGET_AFTER
from queenright.core.observed import Attempt
from queenright.core.plan import Plan


@dataclass
class Attempts:
    """Attempts by action key, and when each key was last wanted."""

    counted: dict[str, Attempt] = field(default_factory=dict)
    wanted_at: dict[str, datetime] = field(default_factory=dict)

    def record(self, keys: Iterable[str], now: datetime) -> None:
        """These actions were just tried."""
        for key in keys:
            before = self.counted.get(key)
            self.counted[key] = Attempt(before.count + 1 if before else 1, now)
            self.wanted_at[key] = now

    def forget_satisfied(self, plans: Iterable[Plan], now: datetime) -> None:
        """Drop the keys that no plan has wanted for a while: what was done there has lasted."""
        for plan in plans:
            for step in (*plan.actions, *plan.holds):
                if step.key in self.counted:
                    self.wanted_at[step.key] = now
        for key, at in list(self.wanted_at.items()):
            if now - at > FORGET_AFTER:
                del self.wanted_at[key]
                self.counted.pop(key, None)
