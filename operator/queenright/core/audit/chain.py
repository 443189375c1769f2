"""The audit trail's hash chain: number, hash, link and verify records.

Pure: works on the records' text. Invariant: a record's hash covers every field of it except
``hash`` itself, among them ``seq`` and the hash of the record before. So nobody can alter, remove,
add or move a record without breaking the one after it. The chain has no key: whoever may write the
file can write a whole new chain, and only a copy elsewhere (the log stream, or a recorded head)
shows the difference.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from queenright.core.audit.record import Body

ZERO_HASH = "0" * 64
"""``prev_hash`` of a chain's first record."""

NAME_DIGITS = 12

ENVELOPE = frozenset({"event", "level", "timestamp", "repeated"})
"""Fields that the log stream adds to a record; the hash does not cover them."""

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Chain:
    """The end of a chain: the last record's number and hash, and the chain's name, which every
    record but the first carries (an operator that moves between nodes leaves several in its log).
    """

    seq: int = 0
    head: str = ZERO_HASH
    name: str = ""

    def seal(self, body: Body, at: datetime) -> tuple[Record, Chain]:
        """Return ``body`` as the next record, and the chain that ends with it."""
        record: dict[str, object] = {"seq": self.seq + 1, "at": stamp(at)}
        if self.name:
            record["chain"] = self.name
        record |= {**body, "prev_hash": self.head}
        record["hash"] = record_hash(record)
        return record, chain_after(record)


def chain_after(record: Record) -> Chain:
    """Return the chain that ends with ``record``, whose ``seq`` is a whole number."""
    return Chain(int(str(record["seq"])), str(record["hash"]), chain_name(record))


def chain_name(record: Record) -> str:
    """Return the chain's name: the beginning of its first record's hash."""
    return str(record.get("chain") or str(record["hash"])[:NAME_DIGITS])


def stamp(at: datetime) -> str:
    """Return ``2026-01-31T12:00:00.000Z``: UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record_hash(record: Record) -> str:
    """Return the SHA-256 over the record's canonical JSON: keys sorted, no spaces, ASCII."""
    hashed = {key: item for key, item in record.items() if key not in ENVELOPE and key != "hash"}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def encode(record: Record) -> bytes:
    """Return a record as the file's line, with its newline."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def decode(line: bytes) -> dict[str, object] | None:
    """Return the record in a line, after any prefix (of a log driver, of a torn line)."""
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
        raise ValueError("a key is repeated in one object: two readers may read two values")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins)


@dataclass(frozen=True, slots=True)
class Break:
    """One place where the trail is inconsistent."""

    line: int
    what: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a check. ``torn_tail`` is a last line that a kill cut short: recorded, and no
    break. ``unfinished`` are the numbers of intents without an outcome."""

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
    """Reads a trail line by line; keeps the end of each chain, and the intents without outcome."""

    def __init__(self) -> None:
        self._breaks: list[Break] = []
        self._phases: Counter[str] = Counter()
        self._other: list[tuple[int, bytes]] = []
        self._other_lines = 0
        self._open: dict[tuple[str, int], None] = {}
        self._ends: dict[str, Chain] = {}
        self._first_seq = 0
        self._last = Chain()
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
            chains=len(self._ends),
            first_seq=self._first_seq,
            last_seq=self._last.seq,
            head=self._last.head,
            phases=dict(self._phases),
            other_lines=self._other_lines,
            torn_tail=torn,
            unfinished=tuple(seq for _, seq in self._open),
            starts_midway=self._starts_midway,
        )

    def _check(self, record: dict[str, object]) -> None:
        self._is_stream = self._is_stream or "event" in record
        seq = record["seq"]
        if not isinstance(seq, int) or isinstance(seq, bool):
            self._blame("seq is not a whole number", None)
            return
        is_itself = record["hash"] == record_hash(record)
        here = chain_after(record)
        before = self._ends.get(here.name)
        if self._is_stream and is_itself and here == before:
            return  # A start repeats the last record in the stream, in case a kill lost it there.
        if before is None:
            self._begin(record, seq)
        elif seq != before.seq + 1:
            self._blame(gap(before.seq + 1, seq), seq)
        elif record["prev_hash"] != before.head:
            self._blame(f"its prev_hash is not the hash of seq {before.seq}", seq)
        self._ends[here.name] = self._last = here
        if not is_itself:
            self._blame("its content does not match its hash: it was altered", seq)
        self._count(record, here)

    def _begin(self, record: dict[str, object], seq: int) -> None:
        """Handle a chain's first record. A file has one chain, whole except for rotation."""
        is_first = seq == 1 and record["prev_hash"] == ZERO_HASH
        self._starts_midway = self._starts_midway or not is_first
        if not self._ends:
            self._first_seq = seq
        if self._is_stream:
            return
        if self._ends:
            self._blame("it begins another chain: the file was replaced, or two were mixed", seq)
        elif not is_first and record.get("phase") != "rotated":
            self._blame(f"the trail begins at seq {seq}: what was before it is missing", seq)

    def _count(self, record: dict[str, object], here: Chain) -> None:
        phase = str(record.get("phase"))
        self._phases[phase] += 1
        if phase == "intent":
            self._open[here.name, here.seq] = None
        elif phase == "outcome" and isinstance(intent := record.get("intent_seq"), int):
            self._open.pop((here.name, intent), None)
        elif phase == "recovered":
            torn = record.get("torn_sha256")
            self._other = [
                (line, text)
                for line, text in self._other
                if hashlib.sha256(text.rstrip(b"\n")).hexdigest() != torn
            ]

    def _blame_other_lines(self) -> None:
        """Report lines that are no record. In a file every line is one, or a torn one."""
        if not self._is_stream:
            for line, _ in self._other:
                self._breaks.append(Break(line, "not a record"))

    def _blame(self, what: str, seq: int | None) -> None:
        self._breaks.append(Break(self._line, what, seq))


def gap(expected: int, found: int) -> str:
    """Return the message for ``found`` at the place of ``expected``."""
    if found < expected:
        return f"seq {found} where {expected} was expected: moved or repeated"
    missing = str(expected) if found == expected + 1 else f"{expected} to {found - 1}"
    return f"seq {missing} missing"


def verify(lines: Iterable[bytes]) -> Verification:
    """Check a trail: a file's lines, or a log stream's with other lines between."""
    return Verifier().read(lines)
