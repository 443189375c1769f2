"""Why the leader changed: Patroni's history, joined with what the audit trail knows.

Decides from the moments and timelines of both. A change that nothing in the trail asked for is
Patroni's own (or was made by hand past it), and is told as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from queenright.core.observed import LeaderChange

Record = Mapping[str, object]

BEFORE = timedelta(seconds=60)
"""How long before the change it can have been asked for: a lost request may be carried out for as
long as the lock lives and a round takes (spec: database-cluster §2.5, ttl and loop_wait)."""
CLOCKS = timedelta(seconds=5)
"""By how much the members' clocks may be behind."""
MOVING = frozenset({"switchover", "failover"})
STOPPING = frozenset({"update-service", "restart-service", "restart-postgres", "remove-service"})
UNASKED = "Patroni's own failover, or by hand"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why, and, where the canary has measured it, the write gap in milliseconds and the number of
    acknowledged rows that were lost."""

    text: str
    write_gap_ms: int | None = None
    lost_rows: int | None = None


def causes(
    changes: Sequence[LeaderChange], records: Iterable[Record], cluster: str
) -> tuple[Cause, ...]:
    """A cause for each change; ``records`` are the trail's, in any order."""
    about = [record for record in records if record.get("cluster") == cluster]
    formers = ("", *(change.leader for change in changes))
    return tuple(
        cause_of(change, former, about)
        for change, former in zip(changes, formers[:-1], strict=True)
    )


def cause_of(change: LeaderChange, former: str, records: Sequence[Record]) -> Cause:
    """The cause of one change; ``former`` is who led until then, where that is known."""
    measured = next((r for r in records if measures(r, change)), None)
    gap = number(measured, "write_gap_ms")
    lost = number(measured, "lost_rows")
    for kinds, disturbed in ((MOVING, ""), (STOPPING, former)):
        asked = [
            record
            for record in records
            if may_have_caused(record, change, kinds) and concerns(record, disturbed, kinds)
        ]
        if asked:
            nearest = max(asked, key=lambda record: str(record.get("at")))
            return Cause(told(nearest), gap, lost)
    return Cause("" if change.at is None else UNASKED, gap, lost)


def measures(record: Record, change: LeaderChange) -> bool:
    """Whether the canary measured this change: it names the timeline that began."""
    return record.get("phase") == "measured" and record.get("timeline") == change.timeline + 1


def may_have_caused(record: Record, change: LeaderChange, kinds: frozenset[str]) -> bool:
    action = record.get("action")
    kind = action.get("kind") if isinstance(action, Mapping) else None
    if change.at is None or kind not in kinds or record.get("phase") == "refused":
        return False
    if record.get("outcome") == "failed" and record.get("transient") is False:
        return False
    at = moment(record)
    if at is None:
        return False
    duration_ms = record.get("duration_ms")
    took = timedelta(milliseconds=duration_ms if isinstance(duration_ms, int | float) else 0)
    return at - took - CLOCKS <= change.at <= at + BEFORE


def concerns(record: Record, former: str, kinds: frozenset[str]) -> bool:
    """Whether what was stopped is the member that led."""
    if kinds is MOVING:
        return True
    return bool(former) and str(record.get("disturbs")).endswith(f"_{former}")


def moment(record: Record) -> datetime | None:
    try:
        return datetime.fromisoformat(str(record.get("at")))
    except ValueError:
        return None


def number(record: Record | None, key: str) -> int | None:
    found = record.get(key) if record else None
    return found if isinstance(found, int) else None


def told(record: Record) -> str:
    """The reason, and who or which line of the file asked for it."""
    trigger = record.get("trigger")
    parts = [str(record.get("reason") or "")]
    if isinstance(trigger, Mapping):
        if trigger.get("kind") == "command":
            parts.append(str(trigger.get("detail") or ""))
        elif trigger.get("file"):
            parts.append(f"{trigger['file']}:{trigger.get('line', 1)}")
    return "; ".join(part for part in parts if part)
