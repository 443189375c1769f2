"""An operator's right to act, by its own clock, and a pass's.

Invariant: the right is counted from before the renewal was sent, by a clock that also counts while
the machine sleeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from queenright.core.planning.lease import may_act


@dataclass
class Tenure:
    """An operator's right to act, as the clock ``now_s`` has it."""

    now_s: Callable[[], float]
    renewed_s: float | None = None
    """The time just before the last successful renewal was sent; None without a lease."""
    number: int = 0
    """A different one for each time without interruption."""
    since_s: float | None = None
    """The time at which this interruption-free time began."""

    @property
    def age_s(self) -> float | None:
        return None if self.renewed_s is None else self.now_s() - self.renewed_s

    def holds(self) -> bool:
        return may_act(self.age_s)

    def renew(self, sent_s: float) -> None:
        if not self.holds():
            self.number += 1
            self.since_s = sent_s
        self.renewed_s = sent_s

    def end(self) -> None:
        self.renewed_s = None

    @property
    def acts_s(self) -> float | None:
        """Return the seconds for which the operator has acted without interruption; None if it does
        not act."""
        if self.since_s is None or not self.holds():
            return None
        return self.now_s() - self.since_s


class Permission:
    """One pass's right to act: over when the lease was lost since the pass began, even if the
    operator has it again, because the observation is from before."""

    def holds(self) -> bool:
        """Return True if an action may begin now."""
        return True

    async def confirmed(self) -> bool:
        """Return True if the managers confirm it now, for an action that disrupts."""
        return True


ALWAYS = Permission()
"""The permission of an operator without a lease: of commands and tests."""


class LeasePermission(Permission):
    """A pass's permission by a lease; ``renew`` asks the managers."""

    def __init__(self, tenure: Tenure, renew: Callable[[], Awaitable[bool]]) -> None:
        self._tenure, self._renew = tenure, renew
        self._number = tenure.number if tenure.holds() else 0

    def holds(self) -> bool:
        return self._tenure.holds() and self._tenure.number == self._number

    async def confirmed(self) -> bool:
        return self.holds() and await self._renew() and self.holds()
