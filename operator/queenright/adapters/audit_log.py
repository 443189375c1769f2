"""The audit trail on this machine: the log stream, and a file that outlives the process.

Every record goes to the file first (an intent is on the disk before the deed begins) and then to
the log stream. Invariant: the file's chain is unbroken from its first record on, over restarts,
kills in mid-write, full disks and rotation. Where no file can be written the stream alone carries
the trail, and the log says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import structlog

from queenright.core.actions import Action
from queenright.core.audit import (
    Body,
    Outcome,
    Trigger,
    intent_body,
    note_body,
    outcome_body,
    refused_body,
)
from queenright.core.audit_chain import Chain, Record, decode, encode
from queenright.core.plan import Plan, Refusal
from queenright.ports.clock import Clock

FILE_NAME = "audit.jsonl"
LOCK_NAME = "audit.lock"
MAX_BYTES = 64 << 20
KEPT_FILES = 5
_MOST_WAITING = 10_000
_TAIL_BYTES = 1 << 20

Sink = Callable[[Record], None]

log = structlog.get_logger()


class AuditBusyError(Exception):
    """Another process writes the audit trail in this directory."""


def log_record(record: Record) -> None:
    """The log stream as a sink: one line with the event ``audit``."""
    log.info("audit", **record)


class AuditLog:
    """Writes the trail (port: ``Audit``). Opening writes a ``start`` record, ``close`` a ``stop``.

    ``directory`` holds ``audit.jsonl`` and its older files (``audit.jsonl.1`` is the youngest of
    them); None keeps the trail in the log stream alone, as a new chain for each process.
    Raises ``AuditBusyError`` when another process writes there.
    """

    def __init__(
        self,
        directory: Path | None,
        clock: Clock,
        sink: Sink = log_record,
        *,
        version: str = "",
        max_bytes: int = MAX_BYTES,
        kept_files: int = KEPT_FILES,
    ) -> None:
        self._clock = clock
        self._sink = sink
        self._intents: dict[tuple[str, str], int] = {}
        self._is_closed = False
        self._file = _open_file(directory, max_bytes, kept_files) if directory else None
        tail = self._file.recover() if self._file else Tail()
        self._chain = tail.chain
        if tail.last is not None:
            self._sink({**tail.last, "repeated": True})
        if self._file and self._file.starts_midway:
            self._write(note_body("rotated", kept_files=kept_files))
        if tail.torn_sha256:
            self._write(
                note_body("recovered", torn_bytes=tail.torn_bytes, torn_sha256=tail.torn_sha256)
            )
        where = str(self._file.path) if self._file else ""
        self._write(note_body("start", version=version, pid=os.getpid(), file=where), durable=True)

    @property
    def file(self) -> Path | None:
        """The file that is written, None when the log stream alone carries the trail."""
        return self._file.path if self._file else None

    def intent(self, plan: Plan, trigger: Trigger, action: Action) -> None:
        self._write(intent_body(plan, trigger, action), durable=True)
        self._intents[plan.cluster, action.key] = self._chain.seq

    def outcome(
        self, plan: Plan, trigger: Trigger, action: Action, outcome: Outcome, duration_ms: float
    ) -> None:
        intent_seq = self._intents.pop((plan.cluster, action.key), None)
        self._write(
            outcome_body(
                plan, trigger, action, outcome, duration_ms=duration_ms, intent_seq=intent_seq
            )
        )

    def refused(self, plan: Plan, trigger: Trigger, refusal: Refusal) -> None:
        self._write(refused_body(plan, trigger, refusal))

    def close(self, reason: str = "") -> None:
        """Write the ``stop`` record and let go of the file. A second call does nothing."""
        if self._is_closed:
            return
        self._write(note_body("stop", reason=reason), durable=True)
        self._is_closed = True
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close("" if kind is None else kind.__name__)

    def _write(self, body: Body, *, durable: bool = False) -> None:
        if self._file and self._file.is_due_for_rotation and self._file.rotate():
            kept = self._file.kept_files
            self._append(note_body("rotated", kept_files=kept), durable=False)
        self._append(body, durable=durable)

    def _append(self, body: Body, *, durable: bool) -> None:
        record, self._chain = self._chain.seal(body, self._clock.now())
        if self._file:
            self._file.append(encode(record), durable=durable)
        self._sink(record)


class Tail:
    """How a trail's file ends: its last whole record, and what a kill left behind it."""

    def __init__(self, data: bytes = b"") -> None:
        self.last: dict[str, object] | None = None
        self.torn_bytes = 0
        self.torn_sha256 = ""
        *whole, rest = data.split(b"\n")
        self.lacks_newline = bool(rest)
        self.last = _numbered(rest)
        if rest and self.last is None:
            self.torn_bytes = len(rest)
            self.torn_sha256 = hashlib.sha256(rest).hexdigest()
        if self.last is None:
            self.last = next(filter(None, map(_numbered, reversed(whole))), None)

    @property
    def chain(self) -> Chain:
        if self.last is None:
            return Chain()
        return Chain(int(str(self.last["seq"])), str(self.last["hash"]))


def _numbered(line: bytes) -> dict[str, object] | None:
    record = decode(line)
    return record if record is not None and type(record["seq"]) is int else None


class TrailFile:
    """``audit.jsonl`` and its older siblings; one process writes them, held off by a lock."""

    def __init__(self, directory: Path, max_bytes: int, kept_files: int) -> None:
        """Raises OSError when the directory can't be written, AuditBusyError when it is in use."""
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / FILE_NAME
        self.kept_files = kept_files
        self.starts_midway = False
        self._max_bytes = max_bytes
        self._waiting: deque[bytes] = deque(maxlen=_MOST_WAITING)
        self._is_failing = False
        self._lock = (directory / LOCK_NAME).open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise AuditBusyError(
                f"{directory}: another queenright writes its audit trail here; "
                "stop it, or set QUEENRIGHT_STATE_DIR to a directory of its own"
            ) from None
        self._open()

    def _open(self) -> None:
        self._stream: IO[bytes] = self.path.open("ab", buffering=0)
        self._size = self._stream.tell()
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # The file's name is on the disk too.
        finally:
            os.close(directory)

    def recover(self) -> Tail:
        """Find where the chain goes on; a torn last line is kept, and closed off by a newline."""
        tail = _read_tail(self.path)
        if tail.last is None and (older := _read_tail(_older(self.path, 1))).last is not None:
            # Killed between a rotation and the first record of the new file.
            self.starts_midway = True
            tail.last = older.last
        if tail.lacks_newline:
            self._put(b"\n")
        return tail

    @property
    def is_due_for_rotation(self) -> bool:
        return self._size >= self._max_bytes and not self._waiting

    def append(self, line: bytes, *, durable: bool) -> None:
        """Write a line; when the disk refuses, keep it and try again with the next one."""
        self._waiting.append(line)
        try:
            while self._waiting:
                self._put(self._waiting[0])
                self._waiting.popleft()
            if durable:
                os.fsync(self._stream.fileno())
        except OSError as error:
            if not self._is_failing:
                _complain("audit-file-failing", self.path, error)
            self._is_failing = True
        else:
            if self._is_failing:
                log.warning("audit-file-recovered", file=str(self.path))
            self._is_failing = False

    def _put(self, data: bytes) -> None:
        """Write all of ``data`` or nothing of it."""
        try:
            written = 0
            while written < len(data):
                written += os.write(self._stream.fileno(), data[written:])
        except OSError:
            os.ftruncate(self._stream.fileno(), self._size)
            raise
        self._size += len(data)

    def rotate(self) -> bool:
        """Begin a new file; False, and the old one goes on, when that fails."""
        try:
            last = next(
                (n for n in range(1, self.kept_files) if not _older(self.path, n).exists()),
                self.kept_files,
            )
            for number in range(last, 1, -1):
                _older(self.path, number - 1).replace(_older(self.path, number))
            self.path.replace(_older(self.path, 1))
            self._stream.close()
            self._open()
        except OSError as error:
            _complain("audit-file-not-rotated", self.path, error)
            return False
        return True

    def close(self) -> None:
        self._stream.close()
        self._lock.close()


def _complain(event: str, path: Path, error: OSError) -> None:
    log.error(event, file=str(path), error=str(error))


def trail_files(path: Path) -> list[Path]:
    """A trail's files, oldest first: ``audit.jsonl.5`` to ``.1``, then ``audit.jsonl``."""
    numbered = [
        (int(number), older)
        for older in path.parent.glob(f"{path.name}.*")
        if (number := older.name.removeprefix(f"{path.name}.")).isdecimal()
    ]
    files = [older for _, older in sorted(numbered, reverse=True)]
    return [*files, path] if path.exists() else files


def _older(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _read_tail(path: Path) -> Tail:
    """Read the end of a file, or all of it when its end holds no record."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL_BYTES))
            tail = Tail(stream.read())
            if tail.last is None and size > _TAIL_BYTES:
                stream.seek(0)
                tail = Tail(stream.read())
    except FileNotFoundError:
        return Tail()
    return tail


def _open_file(directory: Path, max_bytes: int, kept_files: int) -> TrailFile | None:
    try:
        return TrailFile(directory, max_bytes, kept_files)
    except OSError as error:
        log.warning(
            "audit-file-unavailable",
            directory=str(directory),
            error=str(error),
            effect="the audit trail is in this log alone, as a new chain",
        )
        return None
