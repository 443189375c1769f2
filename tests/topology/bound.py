"""The rows that a node's loss of power may cost by asynchronous replication, and nothing else may.

Pure. The bound of a cut is what the leader had acknowledged and no other member had received when
its node lost power. For a node whose member does not lead it is empty. Replication that confirms
commits has no such rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.soak.judge import Acknowledged

Row = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """A node's loss of power: when it was over (monotonic), the operator's action before it,
    whether its member led, and the rows that the other members had received by then."""

    at: float
    node: str
    after: str
    led: bool
    received: frozenset[Row] = frozenset()


def bounds(
    told: Iterable[Acknowledged], cuts: Sequence[Cut]
) -> Iterator[tuple[Cut, list[Acknowledged]]]:
    """Yield each cut with the rows of its bound, oldest first; ``cuts`` are in their order. What
    was acknowledged before the cut before it is none of its rows."""
    rows, since = sorted(told, key=lambda row: row.at), float("-inf")
    for cut in cuts:
        yield (
            cut,
            [
                row
                for row in rows
                if cut.led and since < row.at <= cut.at and row_of(row) not in cut.received
            ],
        )
        since = cut.at


def beyond(
    lost: Iterable[Acknowledged], told: Iterable[Acknowledged], cuts: Sequence[Cut]
) -> list[Acknowledged]:
    """Return the lost rows that no cut's bound has."""
    allowed = {row_of(row) for _, rows in bounds(told, cuts) for row in rows}
    return [row for row in lost if row_of(row) not in allowed]


def bound_lines(told: Iterable[Acknowledged], cuts: Sequence[Cut]) -> list[str]:
    """Return each cut and its bound in words."""
    return [words(cut, rows) for cut, rows in bounds(told, cuts)]


def words(cut: Cut, rows: Sequence[Acknowledged]) -> str:
    told = f"{cut.node} without power after {cut.after}"
    if not cut.led:
        return f"{told}: its member did not lead, so no row may be lost"
    if not rows:
        return f"{told}: its member led, and the others had every row"
    age_s = cut.at - rows[0].at
    return f"{told}: its member led; {len(rows)} rows of the last {age_s:.2f} s were on no other"


def row_of(row: Acknowledged) -> Row:
    return row.client, row.number
