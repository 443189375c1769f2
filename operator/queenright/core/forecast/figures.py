"""Figures of a forecast's steps from the trail: how long steps of a kind took, and clients waited.

Pure. Invariant: a figure is a median of what was recorded of the same cluster, or it is not there;
none is derived from another cluster or another kind of action.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from queenright.core.audit.questions import ACTING, LeaderChange
from queenright.core.audit.reading import Step

LONGEST_S = 600.0
"""A step that began later than this after another one did not wait for that."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A median in milliseconds, of so many records."""

    median_ms: int
    records: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one kind of action in one cluster; None where nothing is recorded.

    ``duration`` is the time of the action itself, ``until_next`` that from its end until the
    operator began the next step of the same edit, ``write_gap`` the time without a write at the
    changes of leader that it made.
    """

    duration: Figure | None = None
    until_next: Figure | None = None
    write_gap: Figure | None = None


UNKNOWN = Figures()


@dataclass(frozen=True)
class History:
    """Records of what was done, as a trail has them; ``steps`` and ``changes`` are newest first."""

    steps: Sequence[Step] = ()
    changes: Sequence[LeaderChange] = ()
    _known: dict[tuple[str, str], Figures] = field(default_factory=dict, compare=False)

    def of(self, cluster: str, kind: str) -> Figures:
        """Return the figures of a kind of action, such as ``update-service``, in a cluster."""
        if (cluster, kind) not in self._known:
            self._known[cluster, kind] = self._figures(cluster, kind)
        return self._known[cluster, kind]

    def _figures(self, cluster: str, kind: str) -> Figures:
        own = [step for step in self.steps if step.cluster == cluster and is_done(step)]
        durations = [s.duration_ms for s in own if s.kind == kind and s.duration_ms is not None]
        gaps = [
            change.measured.write_gap_ms
            for change in self.changes
            if change.cluster == cluster
            and change.cause is not None
            and change.cause.kind == kind
            and change.measured is not None
            and change.measured.write_gap_ms is not None
        ]
        return Figures(figure(durations), figure(pauses(own, kind)), figure(gaps))


def is_done(step: Step) -> bool:
    return step.phase in ACTING and step.outcome == "done"


def pauses(done: Sequence[Step], kind: str) -> list[float]:
    """Return the milliseconds from the end of each action of a kind to the next step of its
    edit."""
    found: list[float] = []
    for later, step in pairwise(done):
        if step.kind != kind or not step.edits or step.edits != later.edits:
            continue
        if step.moment is None or later.moment is None:
            continue
        began_ms = later.moment.timestamp() * 1000 - (later.duration_ms or 0.0)
        pause_ms = began_ms - step.moment.timestamp() * 1000
        if 0 <= pause_ms <= LONGEST_S * 1000:
            found.append(pause_ms)
    return found


def figure(values: Iterable[float]) -> Figure | None:
    found = [*values]
    return Figure(round(median(found)), len(found)) if found else None
