"""One record of the trail as a value, for whoever explains it.

Pure. Invariant: any JSON object gives a ``Step``; a field of another type than the operator writes
is empty. So a hostile or an older record is never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

from queenright.core.audit.chain import record_hash
from queenright.core.audit.record import shorten

Record = Mapping[str, object]

MOST_ITEMS = 100
"""The number of changes, holds or edits that are read from one record."""


@dataclass(frozen=True, slots=True)
class Change:
    """One field: its path, and both values in words."""

    path: str
    old: str
    new: str
    file: str = ""
    line: int = 0
    document: str = ""

    def __str__(self) -> str:
        old, new = self.old or "(absent)", self.new or "(absent)"
        return f"{self.path}: {old} -> {new}"


@dataclass(frozen=True, slots=True)
class HeldStep:
    """One hold that began."""

    key: str
    reason: str
    rule: str
    wants_attention: bool
    is_note: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One record: an action, a refusal, holds, a measurement, or the operator's own start."""

    phase: str
    at: str
    moment: datetime | None
    seq: int | None
    chain: str
    is_altered: bool
    cluster: str
    plan_id: str
    trigger: str
    detail: str
    file: str
    line: int
    edits: tuple[Change, ...]
    more_edits: int
    key: str
    target: str
    rule: str
    reason: str
    changes: tuple[Change, ...]
    disturbs: str
    outcome: str
    error: str
    is_transient: bool
    duration_ms: float | None
    intent_seq: int | None
    guard: str
    guards: tuple[str, ...]
    not_done: tuple[str, ...]
    holds: tuple[HeldStep, ...]
    ended: tuple[str, ...]
    leader_before: str
    leader: str
    timeline: int | None
    cause: str
    write_gap_ms: int | None
    lost_rows: int | None

    @property
    def kind(self) -> str:
        return self.key.partition("/")[0]

    @property
    def place(self) -> str:
        """Return the place of the record: ``record 57``."""
        return f"record {self.seq}" if self.seq is not None else "a record without a number"


def read_step(record: Record) -> Step:
    """Return a record as a value."""
    trigger = part(record, "trigger")
    return Step(
        phase=text(record, "phase"),
        at=text(record, "at"),
        moment=moment_of(record),
        seq=whole(record, "seq"),
        chain=text(record, "chain") or text(record, "hash")[:12],
        is_altered=is_altered(record),
        cluster=text(record, "cluster"),
        plan_id=text(record, "plan_id"),
        trigger=text(trigger, "kind"),
        detail=text(trigger, "detail"),
        file=text(trigger, "file"),
        line=whole(trigger, "line") or 0,
        edits=tuple(map(change_of, parts(trigger, "edits"))) or first_edit(trigger),
        more_edits=whole(trigger, "more_edits") or 0,
        key=text(part(record, "action"), "key"),
        target=text(record, "target"),
        rule=text(record, "rule"),
        reason=text(record, "reason"),
        changes=tuple(map(change_of, parts(record, "changes"))),
        disturbs=text(record, "disturbs"),
        outcome=text(record, "outcome"),
        error=text(record, "error"),
        is_transient=record.get("transient") is True,
        duration_ms=number(record, "duration_ms"),
        intent_seq=whole(record, "intent_seq"),
        guard=text(record, "guard"),
        guards=texts(record, "guards"),
        not_done=texts(record, "not_done"),
        holds=tuple(map(hold_of, parts(record, "holds"))),
        ended=texts(record, "ended"),
        leader_before=text(record, "leader_before"),
        leader=text(record, "leader"),
        timeline=whole(record, "timeline"),
        cause=text(record, "cause"),
        write_gap_ms=whole(record, "write_gap_ms"),
        lost_rows=whole(record, "lost_rows"),
    )


def is_altered(record: Record) -> bool:
    """Return True if a record does not match its own hash."""
    try:
        return record.get("hash") != record_hash(record)
    except (ValueError, RecursionError):
        return True


def change_of(found: Record) -> Change:
    return Change(
        path=text(found, "path"),
        old=text(found, "old"),
        new=text(found, "new"),
        file=text(found, "file"),
        line=whole(found, "line") or 0,
        document=text(found, "document"),
    )


def first_edit(trigger: Record) -> tuple[Change, ...]:
    """Return the edit of a record without ``edits``, as records before them have it: its first
    field in words. A later pass of the same edit has none."""
    path, _, values = text(trigger, "detail").partition(": ")
    old, arrow, new = values.partition(" -> ")
    file, line = text(trigger, "file"), whole(trigger, "line") or 0
    return (Change(path, old, new, file, line),) if file and arrow else ()


def hold_of(found: Record) -> HeldStep:
    return HeldStep(
        text(found, "key"),
        text(found, "reason"),
        text(found, "rule"),
        found.get("wants_attention") is True,
        found.get("is_note") is True,
    )


def moment_of(record: Record) -> datetime | None:
    """Return a record's time; None where it is none. One without a zone is UTC."""
    try:
        found = datetime.fromisoformat(text(record, "at"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def text(record: Record, key: str) -> str:
    """Return a value in words; empty for what has no words of one line."""
    found = record.get(key)
    if isinstance(found, str):
        return shorten(found)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return str(found) if is_number else ""


def texts(record: Record, key: str) -> tuple[str, ...]:
    return tuple(shorten(item) for item in _items(record, key) if isinstance(item, str))


def whole(record: Record, key: str) -> int | None:
    found = record.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number(record: Record, key: str) -> float | None:
    found = record.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found) if isfinite(found) else None
    except OverflowError:
        return None


def part(record: Record, key: str) -> Record:
    found = record.get(key)
    return found if isinstance(found, Mapping) else {}


def parts(record: Record, key: str) -> tuple[Record, ...]:
    return tuple(item for item in _items(record, key) if isinstance(item, Mapping))


def _items(record: Record, key: str) -> Sequence[object]:
    found = record.get(key)
    return found[:MOST_ITEMS] if isinstance(found, list) else ()
