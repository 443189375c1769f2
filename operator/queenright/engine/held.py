"""Remembers each document's holds, so that the trail has each once: its begin, and its end.

Invariant: a hold that comes and goes is written at most once a minute; a reason that changes while
its key stays is not written again.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from queenright.core.audit.record import Trigger
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Hold, Plan
from queenright.ports.audit import Audit

GONE_S = 60.0
"""The time for which a hold has to be absent before it counts as over."""


@dataclass(slots=True)
class HeldSteps:
    """The holds in the trail that are not over, with the time at which each was last seen."""

    _seen_at_s: dict[DocumentKey, dict[str, float]] = field(default_factory=dict)

    def note(
        self, key: DocumentKey, plan: Plan, trigger: Trigger, now_s: float, audit: Audit
    ) -> None:
        """Record what has changed in a document's holds since the last pass."""
        seen = self._seen_at_s.get(key, {})
        if not plan.recorded and not seen:
            return
        held = {hold.key: hold for hold in plan.recorded}
        ended = [old for old, at_s in seen.items() if old not in held and now_s - at_s >= GONE_S]
        began: list[Hold] = [hold for new, hold in held.items() if new not in seen]
        if began or ended:
            audit.held(plan, trigger, began, ended)
        kept = {old: at_s for old, at_s in seen.items() if old not in ended}
        self._seen_at_s[key] = kept | dict.fromkeys(held, now_s)

    def forget_others(self, keys: AbstractSet[DocumentKey]) -> None:
        """Forget documents that are neither described nor deployed any more."""
        for key in self._seen_at_s.keys() - keys:
            del self._seen_at_s[key]
