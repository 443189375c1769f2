"""The audit trail for people: which records to show, and as which line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from heapq import merge
from pathlib import Path

from queenright.adapters.audit_reader import newest_records
from queenright.adapters.trail_file import FILE_NAME
from queenright.cli.output import Output

Record = Mapping[str, object]
COMMANDS_DIRECTORY = "commands"
"""Within the state directory: the trail of what people did by command, a chain of its own, since
the operator alone writes its own."""
COLUMNS = ("At", "Cluster", "Action", "Outcome", "Why")


def both(operator: Iterable[Record], commands: Iterable[Record]) -> Iterator[Record]:
    """Two trails as one, newest first; each is that already."""
    return merge(operator, commands, key=lambda record: str(record.get("at", "")), reverse=True)


def trail_paths(state_dir: Path) -> tuple[Path, Path]:
    """The operator's trail and that of the commands."""
    return state_dir / FILE_NAME, state_dir / COMMANDS_DIRECTORY / FILE_NAME


def known_records(state_dir: Path | None) -> Iterator[Record]:
    """Both trails, newest first, as far as they are at hand and can be read."""
    if state_dir is None:
        return
    operator, commands = (readable(path) for path in trail_paths(state_dir))
    yield from both(operator, commands)


def readable(path: Path) -> Iterator[Record]:
    with suppress(OSError):
        yield from newest_records(path)


def told(records: Iterable[Record]) -> Iterator[Record]:
    """Of records, newest first, those that tell something: an intent only if its outcome never
    followed, which is what a kill between the two leaves."""
    finished: set[tuple[object, object]] = set()
    for record in records:
        chain = record.get("chain")
        if record.get("phase") == "outcome":
            finished.add((chain, record.get("intent_seq")))
        if record.get("phase") != "intent" or (chain, record.get("seq")) not in finished:
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


def measured(record: Record) -> str:
    """The canary's word on a change of leader."""
    gap, lost = record.get("write_gap_ms"), record.get("lost_rows")
    said = f"no write for {gap} ms" if gap is not None else "the write gap is not known"
    rows = f"{lost} acknowledged rows lost" if lost is not None else "nor whether rows were lost"
    return (
        f"{record.get('leader_before')} -> {record.get('leader')} on timeline "
        f"{record.get('timeline')}, {record.get('cause')}: {said}, {rows}"
    )


def why(record: Record) -> str:
    """The reason, what went wrong, and the line of the file that asked for it."""
    error, reason = record.get("error"), record.get("reason")
    parts = [str(part) for part in (error, reason) if part]
    trigger = record.get("trigger")
    if isinstance(trigger, Mapping) and trigger.get("file"):
        parts.append(f"{trigger['file']}:{trigger.get('line', 1)}")
    if isinstance(trigger, Mapping) and trigger.get("kind") == "command":
        parts.append(str(trigger.get("detail", "")))
    if record.get("phase") == "measured":
        parts.append(measured(record))
    if not parts and record.get("phase") == "start":
        parts.append(f"queenright {record.get('version', '')}, process {record.get('pid', '')}")
    return "; ".join(parts)
