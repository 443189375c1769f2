"""The audit trail for people: which records to show, and as which line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from queenright.cli.output import Output

Record = Mapping[str, object]
COLUMNS = ("At", "Cluster", "Action", "Outcome", "Why")


def told(records: Iterable[Record]) -> Iterator[Record]:
    """Of records, newest first, those that tell something: an intent only if its outcome never
    followed, which is what a kill between the two leaves."""
    finished: set[object] = set()
    for record in records:
        if record.get("phase") == "outcome":
            finished.add(record.get("intent_seq"))
        if record.get("phase") != "intent" or record.get("seq") not in finished:
            yield record


def deeds(records: Iterable[Record]) -> Iterator[Record]:
    """Those of ``told`` that are about a cluster, not about the operator or its file."""
    return (record for record in told(records) if record.get("cluster"))


def since(records: Iterable[Record], earliest: datetime | None) -> Iterator[Record]:
    """Records, newest first, back to a moment."""
    for record in records:
        if earliest is not None and (at := moment(record)) is not None and at < earliest:
            return
        yield record


def moment(record: Record) -> datetime | None:
    try:
        return datetime.fromisoformat(str(record.get("at")))
    except ValueError:
        return None


def show_records(out: Output, records: Iterable[Record]) -> None:
    out.table(COLUMNS, [cells(record) for record in records])


def cells(record: Record) -> tuple[str, ...]:
    action = record.get("action")
    key = str(action.get("key", "")) if isinstance(action, Mapping) else ""
    phase = str(record.get("phase", ""))
    outcome = str(record.get("outcome") or ("no outcome" if phase == "intent" else phase))
    return (
        str(record.get("at", "")),
        str(record.get("cluster", "")),
        key or ("(whole plan)" if phase == "refused" else "(operator)"),
        outcome,
        why(record),
    )


def why(record: Record) -> str:
    """The reason, what went wrong, and the line of the file that asked for it."""
    error, reason = record.get("error"), record.get("reason")
    parts = [str(part) for part in (error, reason) if part]
    trigger = record.get("trigger")
    if isinstance(trigger, Mapping) and trigger.get("file"):
        parts.append(f"{trigger['file']}:{trigger.get('line', 1)}")
    if not parts and record.get("phase") == "start":
        parts.append(f"queenright {record.get('version', '')}, process {record.get('pid', '')}")
    return "; ".join(parts)
