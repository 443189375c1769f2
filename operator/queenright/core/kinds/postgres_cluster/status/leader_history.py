"""Causes of leader changes: Patroni's history, joined with the audit trail.

Decides from the moments and timelines of both. A change that nothing in the trail requested was a
failover by Patroni (or was made by hand without the operator), and is shown as that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from queenright.core.audit.reading import moment_of
from queenright.core.audit.reading import number as number_of
from queenright.core.observed import TimelineEnd

Record = Mapping[str, object]

BEFORE = timedelta(seconds=60)
"""Longest time between a request and the change: a lost request may be carried out for as long as
the lock lives and a round takes (spec: database-cluster §2.5, ttl and loop_wait)."""
CLOCKS = timedelta(seconds=5)
"""Time by which the members' clocks may be behind."""
LONGEST_MS = 3_600_000.0
"""The longest duration that is believed, in milliseconds."""
MOVING = frozenset({"switchover", "failover"})
STOPPING = frozenset({"update-service", "restart-service", "restart-postgres", "remove-service"})
UNASKED = "failover by Patroni, or a switchover by hand"


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a leader change, with the canary's measurements where there are any.

    The write gap in milliseconds, and the number of acknowledged rows that were lost.
    """

    text: str
    write_gap_ms: int | None = None
    lost_rows: int | None = None


def causes(
    changes: Sequence[TimelineEnd], records: Iterable[Record], cluster: str
) -> tuple[Cause, ...]:
    """A cause for each change; ``records`` are the trail's, in any order."""
    about = [record for record in records if record.get("cluster") == cluster]
    formers = ("", *(change.leader for change in changes))
    return tuple(
        cause_of(change, former, about)
        for change, former in zip(changes, formers[:-1], strict=True)
    )


def cause_of(change: TimelineEnd, former: str, records: Sequence[Record]) -> Cause:
    """The cause of one change; ``former`` is who led until then, where that is known."""
    measured = next((r for r in records if measures(r, change)), None)
    gap = number(measured, "write_gap_ms")
    lost = number(measured, "lost_rows")
    for kinds, disrupted in ((MOVING, ""), (STOPPING, former)):
        asked = [
            record
            for record in records
            if may_have_caused(record, change, kinds) and concerns(record, disrupted, kinds)
        ]
        if asked:
            nearest = max(asked, key=lambda record: str(record.get("at")))
            return Cause(cause_text(nearest), gap, lost)
    return Cause("" if change.at is None else UNASKED, gap, lost)


def measures(record: Record, change: TimelineEnd) -> bool:
    """True if the canary measured this change: its record has the timeline that began."""
    return record.get("phase") == "measured" and record.get("timeline") == change.timeline + 1


def may_have_caused(record: Record, change: TimelineEnd, kinds: frozenset[str]) -> bool:
    action = record.get("action")
    kind = action.get("kind") if isinstance(action, Mapping) else None
    if change.at is None or kind not in kinds or record.get("phase") == "refused":
        return False
    if record.get("outcome") == "failed" and record.get("transient") is False:
        return False
    at = moment_of(record)
    if at is None:
        return False
    duration_ms = min(number_of(record, "duration_ms") or 0.0, LONGEST_MS)
    took = timedelta(milliseconds=max(duration_ms, 0.0))
    return at - took - CLOCKS <= change.at <= at + BEFORE


def concerns(record: Record, former: str, kinds: frozenset[str]) -> bool:
    """True if the stopped member was the leader."""
    if kinds is MOVING:
        return True
    return bool(former) and str(record.get("disturbs")).endswith(f"_{former}")


def number(record: Record | None, key: str) -> int | None:
    found = record.get(key) if record else None
    return found if isinstance(found, int) else None


def cause_text(record: Record) -> str:
    """Reason of a record, with the command or the line of the file that requested it."""
    trigger = record.get("trigger")
    parts = [str(record.get("reason") or "")]
    if isinstance(trigger, Mapping):
        if trigger.get("kind") == "command":
            parts.append(str(trigger.get("detail") or ""))
        elif trigger.get("file"):
            parts.append(f"{trigger['file']}:{trigger.get('line', 1)}")
    return "; ".join(part for part in parts if part)
