"""Reads how far a member's copy of another's data has come, out of pg_basebackup's lines.

Patroni runs it with ``--progress``, which writes one line a second while data arrive, with
kilobytes and an estimate of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

PROGRESS = re.compile(
    r"^(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*Z\s+"
    r"(?P<done>\d{1,15})/(?P<whole>\d{1,15}) kB \(\d{1,3}%\), \d+/\d+ tablespaces?"
)
KILOBYTE = 1024
WINDOW = timedelta(seconds=60)
"""The rate is that of the last minute: a copy is slower while others need the disk."""


@dataclass(frozen=True, slots=True)
class BaseCopy:
    """``done_bytes`` of ``whole_bytes``, pg_basebackup's estimate at its start, have arrived at
    ``at``, by the clock of the member's node; ``bytes_per_s`` is None until two lines tell it."""

    at: datetime
    done_bytes: int
    whole_bytes: int
    bytes_per_s: float | None = None

    @property
    def left(self) -> timedelta | None:
        """Return the time left at this rate; None while it is not known."""
        if not self.bytes_per_s:
            return None
        return timedelta(seconds=max(0, self.whole_bytes - self.done_bytes) / self.bytes_per_s)

    @property
    def percent(self) -> int:
        return min(100, 100 * self.done_bytes // self.whole_bytes) if self.whole_bytes else 100


def copy_in(lines: str) -> BaseCopy | None:
    """Return the progress that the last lines of a member's container tell, each behind its moment
    as the engine writes it; None where none does. What an earlier try wrote does not count."""
    found = [*progress_in(lines)]
    if not found:
        return None
    last = found[-1]
    begun = last
    for one in reversed(found):
        if one.done_bytes > begun.done_bytes or last.at - one.at > WINDOW:
            break
        begun = one
    lasted_s = (last.at - begun.at).total_seconds()
    rate = (last.done_bytes - begun.done_bytes) / lasted_s if lasted_s > 0 else None
    return BaseCopy(last.at, last.done_bytes, last.whole_bytes, rate)


def progress_in(lines: str) -> Iterator[BaseCopy]:
    for line in lines.splitlines():
        if match := PROGRESS.match(line):
            at = datetime.fromisoformat(match["at"]).replace(tzinfo=UTC)
            yield BaseCopy(at, int(match["done"]) * KILOBYTE, int(match["whole"]) * KILOBYTE)
