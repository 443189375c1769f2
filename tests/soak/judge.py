"""Judgement of a run, from what was acknowledged and what the database has at the end.

Pure. A row counts as acknowledged when PostgreSQL reported success without a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A row that the server acknowledged: when (monotonic), on which timeline, and by which start
    of PostgreSQL; no two servers have the same."""

    client: str
    number: int
    at: float
    timeline: int
    server: str = ""


def lost(told: Iterable[Acknowledged], present: Collection[tuple[str, int]]) -> list[Acknowledged]:
    """Return the acknowledged rows that the database does not have."""
    return [row for row in told if (row.client, row.number) not in present]


def beside(told: Iterable[Acknowledged]) -> list[Acknowledged]:
    """Return the rows that one server acknowledged after another one had begun to, on a newer
    timeline or on the same: at that time there were two leaders."""
    newest, found = 0, []
    last: dict[int, str] = {}
    former: set[tuple[int, str]] = set()
    for row in sorted(told, key=lambda row: row.at):
        before = last.setdefault(row.timeline, row.server)
        if before != row.server:
            former.add((row.timeline, before))
        if row.timeline < newest or (row.timeline, row.server) in former:
            found.append(row)
        last[row.timeline], newest = row.server, max(newest, row.timeline)
    return found


def longest_pause_s(told: Iterable[Acknowledged], since: float, until: float) -> float:
    """Return the longest time in which no row was acknowledged."""
    moments = sorted(row.at for row in told if since <= row.at <= until)
    return max(later - earlier for earlier, later in pairwise([since, *moments, until]))
