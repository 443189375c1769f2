"""The port for writing the audit trail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from queenright.core.actions import AnyAction
from queenright.core.audit.record import Outcome, Trigger
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Hold, Plan, Refusal


class Audit(Protocol):
    """An append-only, hash-chained record of the operator's actions."""

    @property
    def end(self) -> str:
        """The trail's end as ``NAME/NUMBER/HASH``: the chain's name, and its last record."""
        ...

    @property
    def lock(self) -> str:
        """The file that this process keeps locked beside the trail, as ``DEVICE:INODE``; empty
        without a file."""
        ...

    def intent(self, plan: Plan, trigger: Trigger, action: AnyAction) -> None:
        """Record an action before it is tried; the record is durable when this returns."""
        ...

    def outcome(
        self, plan: Plan, trigger: Trigger, action: AnyAction, outcome: Outcome, duration_ms: float
    ) -> None:
        """Record an action's result after it was tried."""
        ...

    def measured(self, cluster: str, details: Mapping[str, object]) -> None:
        """Record a measurement of an event with its cause, without an action."""
        ...

    def refused(self, plan: Plan, trigger: Trigger, refusal: Refusal) -> None:
        """Record that a guard refused the plan, so that nothing of it was tried."""
        ...

    def held(
        self, plan: Plan, trigger: Trigger, began: Sequence[Hold], ended: Sequence[str]
    ) -> None:
        """Record the holds of a document that began, and the keys of those that are over."""
        ...

    def lease(
        self, *, acting: bool, why: str, host: str, term: str = "", other: Lease | None = None
    ) -> None:
        """Record that the operator begins or ceases to act; ``other`` had the lease before, or has
        it now. The record is durable when this returns."""
        ...
