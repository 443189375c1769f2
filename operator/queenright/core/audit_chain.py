"""The audit trail's hash chain: how records are numbered, hashed, linked and checked.

Decides from the records' own text alone. Invariant: a record's hash covers every field of it but
``hash`` itself, among them ``seq`` and the hash of the record before, so that no record can be
altered, taken out, added or moved without the first one after it showing so. The chain has no key:
whoever may write the file can write a whole new chain, and only a copy elsewhere (the log stream,
or a noted head) tells the two apart.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from queenright.core.audit import Body

ZERO_HASH = "0" * 64
"""``prev_hash`` of a chain's first record."""

ENVELOPE = frozenset({"event", "level", "timestamp", "repeated"})
"""What the log stream adds around a record; outside the hash."""

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Chain:
    """The end of a chain: the last record's number and hash."""

    seq: int = 0
    head: str = ZERO_HASH

    def seal(self, body: Body, at: datetime) -> tuple[Record, Chain]:
        """``body`` as the next record, and the chain with it at its end."""
        record: dict[str, object] = {"seq": self.seq + 1, "at": stamp(at), **body}
        record["prev_hash"] = self.head
        record["hash"] = record_hash(record)
        return record, Chain(self.seq + 1, str(record["hash"]))


def stamp(at: datetime) -> str:
    """``2026-01-31T12:00:00.000Z``: UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record_hash(record: Record) -> str:
    """SHA-256, in hexadecimal, over the record's canonical JSON: keys sorted, no spaces, ASCII."""
    hashed = {key: item for key, item in record.items() if key not in ENVELOPE and key != "hash"}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def encode(record: Record) -> bytes:
    """A record as the file's line, with its newline."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def decode(line: bytes) -> dict[str, object] | None:
    """The record in a line, whatever stands before it (a log driver's prefix, a torn line)."""
    if b'"prev_hash"' not in line:
        return None
    text = line.decode("utf-8", "replace")
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and {"seq", "prev_hash", "hash"} <= value.keys():
            return value
        start = text.find("{", start + 1)
    return None


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key that stands twice in one object: two readers may read two values")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins)


@dataclass(frozen=True, slots=True)
class Break:
    """One place where the trail does not hold together."""

    line: int
    what: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a trail found. ``torn_tail`` is a last line that a kill cut short: noted,
    and no break. ``unfinished`` are the numbers of intents whose outcome never followed."""

    breaks: tuple[Break, ...] = ()
    records: int = 0
    chains: int = 0
    first_seq: int = 0
    last_seq: int = 0
    head: str = ZERO_HASH
    phases: Mapping[str, int] = field(default_factory=dict)
    other_lines: int = 0
    torn_tail: bool = False
    unfinished: tuple[int, ...] = ()
    starts_midway: bool = False

    @property
    def is_sound(self) -> bool:
        return not self.breaks


class Verifier:
    """Reads a trail line by line, in constant memory but for intents that wait for an outcome."""

    def __init__(self) -> None:
        self._breaks: list[Break] = []
        self._phases: Counter[str] = Counter()
        self._other: list[tuple[int, bytes]] = []
        self._other_lines = 0
        self._open: dict[int, None] = {}
        self._chains = 0
        self._first_seq = 0
        self._seq = 0
        self._head = ""
        self._line = 0
        self._is_stream = False
        self._starts_midway = False

    def read(self, lines: Iterable[bytes]) -> Verification:
        """Check ``lines`` (each with its newline, as a file yields them) as one trail."""
        last = b""
        for last in lines:
            self._line += 1
            record = decode(last)
            if record is not None:
                self._check(record)
            elif last.strip():
                self._other_lines += 1
                if not self._is_stream:
                    self._other.append((self._line, last))
        torn = bool(self._other) and self._other[-1][0] == self._line and not last.endswith(b"\n")
        if torn:
            self._other_lines -= 1
            self._other.pop()
        self._blame_other_lines()
        return Verification(
            breaks=tuple(sorted(self._breaks, key=lambda found: found.line)),
            records=self._phases.total(),
            chains=self._chains,
            first_seq=self._first_seq,
            last_seq=self._seq,
            head=self._head or ZERO_HASH,
            phases=dict(self._phases),
            other_lines=self._other_lines,
            torn_tail=torn,
            unfinished=tuple(self._open),
            starts_midway=self._starts_midway,
        )

    def _check(self, record: dict[str, object]) -> None:
        self._is_stream = self._is_stream or "event" in record
        seq = record["seq"]
        if not isinstance(seq, int) or isinstance(seq, bool):
            self._blame("seq is no whole number", None)
            return
        is_itself = record["hash"] == record_hash(record)
        if self._is_stream and is_itself and (seq, record["hash"]) == (self._seq, self._head):
            return  # A start repeats the last record in the stream, in case the kill ate it there.
        self._check_place(record, seq)
        self._seq, self._head = seq, str(record["hash"])
        if not is_itself:
            self._blame("its content does not match its hash: it was altered", seq)
        self._count(record, seq)

    def _check_place(self, record: dict[str, object], seq: int) -> None:
        starts = record["prev_hash"] == ZERO_HASH and seq == 1
        if not self._chains:
            self._first_seq = seq
            self._chains = 1
            self._starts_midway = not starts
            if not starts and not self._is_stream and record.get("phase") != "rotated":
                self._blame(f"the trail begins at seq {seq}: what was before it is missing", seq)
        elif starts and record.get("phase") == "start" and not record.get("file"):
            self._chains += 1
        elif seq != self._seq + 1:
            self._blame(self._gap(seq), seq)
        elif record["prev_hash"] != self._head:
            self._blame(f"its prev_hash is not the hash of seq {self._seq}", seq)

    def _gap(self, seq: int) -> str:
        expected = self._seq + 1
        if seq == 1:
            return f"the trail begins anew, after seq {self._seq}: the file was lost or replaced"
        if seq <= self._seq:
            return f"seq {seq} where {expected} was expected: moved or repeated"
        missing = str(expected) if seq == expected + 1 else f"{expected} to {seq - 1}"
        return f"seq {missing} missing"

    def _count(self, record: dict[str, object], seq: int) -> None:
        phase = str(record.get("phase"))
        self._phases[phase] += 1
        if phase == "intent":
            self._open[seq] = None
        elif phase == "outcome" and isinstance(intent := record.get("intent_seq"), int):
            self._open.pop(intent, None)
        elif phase == "recovered":
            torn = record.get("torn_sha256")
            self._other = [
                (line, text)
                for line, text in self._other
                if hashlib.sha256(text.rstrip(b"\n")).hexdigest() != torn
            ]

    def _blame_other_lines(self) -> None:
        """In a file of its own, every line is a record, or the torn one that a record explains."""
        if not self._is_stream:
            for line, _ in self._other:
                self._breaks.append(Break(line, "not a record"))

    def _blame(self, what: str, seq: int | None) -> None:
        self._breaks.append(Break(self._line, what, seq))


def verify(lines: Iterable[bytes]) -> Verification:
    """Check a trail: a file's lines, or a log stream's with other lines between."""
    return Verifier().read(lines)
