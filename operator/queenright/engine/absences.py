"""The time for which no document has described an object, by a monotonic clock.

Only this process knows it: one that has just begun has seen no absence yet. An annotation in the
swarm about a time in which no operator looked proves no absence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queenright.core.kinds.registry import KINDS
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed


@dataclass
class Absences:
    """``described_s`` is when each name was last described; ``began_s`` is when this process first
    looked."""

    described_s: dict[str, float] = field(default_factory=dict)
    began_s: float | None = None

    def begin_again(self) -> None:
        """Forget what was noted: an operator that begins to act counts from then on."""
        self.described_s.clear()
        self.began_s = None

    def note(self, documents: Iterable[Document], now_s: float) -> None:
        """Record the documents that are in force, or were until now."""
        if self.began_s is None:
            self.began_s = now_s
        for document in documents:
            self.described_s[document.name] = now_s

    def of(self, observed: Observed, now_s: float) -> Mapping[str, float]:
        """Return, by name, the seconds for which objects in the swarm had no document."""
        began_s = now_s if self.began_s is None else self.began_s
        match observed.swarm:
            case Known(swarm):
                names = frozenset[str]().union(*(kind.owned(swarm) for kind in KINDS.values()))
            case _:
                names = frozenset()
        return {name: now_s - max(began_s, self.described_s.get(name, began_s)) for name in names}
