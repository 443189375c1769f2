"""Write gap and lost rows that clients of the read-write port see when the leader changes.

Decides from the moments and numbers of acknowledged rows alone; seconds are of any one monotonic
clock. Invariant: a row counts as lost only when the database was asked and did not have it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

WINDOW_S = 180.0
"""Time before now that is searched for a gap: a failover takes ttl and the proxies' checks."""
KEPT_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class WriteGap:
    """The longest time without an acknowledged write, in milliseconds."""

    gap_ms: int
    writes: int


@dataclass
class Acknowledged:
    """The latest acknowledged rows, oldest first: number and second of each."""

    rows: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=KEPT_ROWS))

    def add(self, number: int, at_s: float) -> None:
        self.rows.append((number, at_s))

    @property
    def last_at_s(self) -> float | None:
        return self.rows[-1][1] if self.rows else None

    def reaches(self, moment_s: float) -> bool:
        """True if any row was acknowledged before a moment, so that a gap at it can be measured."""
        return bool(self.rows) and self.rows[0][1] < moment_s

    def gap(self, since_s: float) -> WriteGap | None:
        """The longest pause between two successes of which the later came after ``since_s``; None
        when there were not two."""
        moments = [at for _, at in self.rows]
        pauses = [later - earlier for earlier, later in pairwise(moments) if later > since_s]
        if not pauses:
            return None
        return WriteGap(round(max(pauses) * 1000), len(pauses))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The rows, however long ago they were acknowledged: an outage may have been longer than
        any window."""
        return tuple(sorted(number for number, _ in self.rows))

    def lost(self, found: Collection[int]) -> tuple[int, ...]:
        """Rows that the database does not have."""
        return tuple(sorted({*self.numbers} - {*found}))


def shown_rows(numbers: Iterable[int], limit: int = 20) -> str:
    """Row numbers for a log line: the first few, and how many more."""
    found = sorted(numbers)
    text = ", ".join(str(number) for number in found[:limit])
    more = len(found) - limit
    return f"{text} and {more} more" if more > 0 else text
