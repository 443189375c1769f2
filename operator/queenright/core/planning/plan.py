"""A pass's decision: actions in order, and holds with the reason why something is not done now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

from queenright.core.actions import AnyAction
from queenright.core.observed import Observed
from queenright.core.planning.faults import Fault
from queenright.core.swarm.digest import digest


@dataclass(frozen=True, slots=True)
class Hold:
    """A desired step that is not done now, with its reason.

    ``key`` names the step (as actions do), ``reason`` has the cause and what a person can do,
    ``recheck_at`` is when time alone may change it (None: only another observation will).
    ``wants_attention`` separates a waiting step (False) from one that needs a person (True).
    ``is_informational`` marks a note: nothing waits for it, and the state is as the file says;
    ``is_recorded`` marks a note that the audit trail has, too, as it has each other hold.
    """

    key: str
    reason: str
    recheck_at: datetime | None = None
    wants_attention: bool = False
    is_informational: bool = False
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A plan that a guard refused as a whole; ``fault`` is set where the guard itself failed."""

    guard: str
    reason: str
    fault: Fault | None = None


@dataclass(frozen=True)
class Plan:
    """One object's next safe steps. The same decision on the same observation has the same
    ``id``."""

    cluster: str
    desired_digest: str
    actions: tuple[AnyAction, ...] = ()
    holds: tuple[Hold, ...] = ()
    rules: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The rule that made each step, by the step's key: told, and no part of the decision."""

    def rule_of(self, key: str) -> str:
        """Return the name of the rule that made a step; empty where none did."""
        return next((rule for step, rule in self.rules if step == key), "")

    @cached_property
    def id(self) -> str:
        held = [(hold.key, hold.reason) for hold in self.holds]
        return digest(self.cluster, self.desired_digest, self.actions, held)

    @property
    def is_empty(self) -> bool:
        return not self.actions

    @property
    def is_converged(self) -> bool:
        return not self.actions and all(hold.is_informational for hold in self.holds)

    @property
    def held(self) -> tuple[Hold, ...]:
        """The holds of steps that are desired and not done now."""
        return tuple(hold for hold in self.holds if not hold.is_informational)

    @property
    def notes(self) -> tuple[Hold, ...]:
        """The holds that only inform."""
        return tuple(hold for hold in self.holds if hold.is_informational)

    @property
    def recorded(self) -> tuple[Hold, ...]:
        """The holds that the audit trail has."""
        return tuple(h for h in self.holds if not h.is_informational or h.is_recorded)

    @property
    def recheck_at(self) -> datetime | None:
        """Return the earliest moment at which time alone may change a hold."""
        return min((hold.recheck_at for hold in self.holds if hold.recheck_at), default=None)


NOT_COMPARED = "as it is; not compared, since the files are not valid"
"""Replaces the summary where no valid file describes the desired state."""


def summary(plan: Plan) -> str:
    """Return the plan in a few words."""
    if plan.is_converged:
        return "converged"
    parts = [f"{len(plan.actions)} to do"] if plan.actions else []
    if plan.held:
        parts.append(f"{len(plan.held)} held")
    return ", ".join(parts)


Guard: TypeAlias = Callable[[Plan, Observed], Refusal | None]
