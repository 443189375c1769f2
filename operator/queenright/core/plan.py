"""What a pass decided: actions in order, and holds that say why something is not done now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from queenright.core.actions import Action
from queenright.core.digest import digest

if TYPE_CHECKING:
    from queenright.core.observed import Observed


@dataclass(frozen=True, slots=True)
class Hold:
    """Why something wanted is not done now.

    ``key`` names what is held (as actions do), ``reason`` says why and what a person can do,
    ``recheck_at`` is when time alone may change it (None: only another observation will).
    ``wants_attention`` tells a waiting step (False) from one that needs a person (True).
    ``is_news`` is a hold for which nothing is waited: things are as the file wants them, and a
    person should know what that means.
    """

    key: str
    reason: str
    recheck_at: datetime | None = None
    wants_attention: bool = False
    is_news: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A plan that a guard stopped, whole."""

    guard: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One cluster's next safe steps. ``id`` is the same for the same decision on the same world."""

    cluster: str
    desired_digest: str
    actions: tuple[Action, ...] = ()
    holds: tuple[Hold, ...] = ()

    @property
    def id(self) -> str:
        held = [(hold.key, hold.reason) for hold in self.holds]
        return digest(self.cluster, self.desired_digest, self.actions, held)

    @property
    def is_empty(self) -> bool:
        return not self.actions

    @property
    def is_converged(self) -> bool:
        return not self.actions and all(hold.is_news for hold in self.holds)

    @property
    def recheck_at(self) -> datetime | None:
        """The earliest moment at which time alone may change a hold."""
        return min((hold.recheck_at for hold in self.holds if hold.recheck_at), default=None)


def summary(plan: Plan) -> str:
    """The plan in a few words."""
    if plan.is_converged:
        return "converged"
    parts = [f"{len(plan.actions)} to do"] if plan.actions else []
    if plan.holds:
        parts.append(f"{len(plan.holds)} held")
    return ", ".join(parts)


Guard: TypeAlias = Callable[[Plan, "Observed"], Refusal | None]
