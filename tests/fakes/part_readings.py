"""Readings of a part of the fake swarm, as stale as the real adapter's; and what a write keeps of
its own.

What has changed without an event that was heard is as in the last reading.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace

from queenright.core.observed import SwarmState
from queenright.core.observed.part_reading import with_part

KEPT = frozenset({"nodes", "networks", "secrets"})
"""Lists that a reading of a part takes from the last one, unless they may have changed."""


@dataclass(frozen=True)
class Write:
    """A write that took effect; ``observed_at_s`` is when the pass behind it began to look."""

    at_s: float
    observed_at_s: float
    kind: str
    name: str


@dataclass
class PartReadings:
    """The last reading, and the lists that may have changed since."""

    last: SwarmState | None = None
    told: set[str] = field(default_factory=lambda: {*KEPT})

    def heard(self, event: str = "") -> None:
        """Note an event; without one, anything may have changed."""
        self.told |= {f"{event.partition(' ')[0]}s"} & KEPT if event else KEPT

    def begin(self) -> frozenset[str]:
        """Return the lists that a reading which begins now has to read in any case."""
        told, self.told = frozenset(self.told), set()
        return told

    def read(
        self, state: SwarmState, told: Set[str], owners: Set[str] | None, *, listens: bool
    ) -> SwarmState:
        """Return what a reading shows of this state of the swarm."""
        if owners is not None and self.last is not None and listens:
            kept = {kind: getattr(self.last, kind) for kind in KEPT if kind not in told}
            if "nodes" in kept:
                kept["former_nodes"] = self.last.former_nodes
            state = with_part(self.last, replace(state, **kept), owners)
        self.last = state
        return state
