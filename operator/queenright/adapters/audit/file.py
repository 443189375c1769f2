"""The audit trail's file and its older files: append, rotate, and find the end again.

Decides where records are stored, never their content. Invariant: a line is in the file whole or not
at all, except for one that a kill cut short at the very end, which the next start finds and ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import deque
from pathlib import Path
from typing import IO

import structlog

from queenright.core.audit.chain import Chain, chain_after, decode

FILE_NAME = "audit.jsonl"
LOCK_NAME = "audit.lock"
MAX_BYTES = 64 << 20
KEPT_FILES = 5
_MOST_WAITING = 10_000
_TAIL_BYTES = 1 << 20

log = structlog.get_logger()


class AuditBusyError(Exception):
    """Another process writes the audit trail in this directory."""


class Tail:
    """The end of a trail's file: its last whole record, and the bytes of a torn line after it."""

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
        return Chain() if self.last is None else chain_after(self.last)


def _numbered(line: bytes) -> dict[str, object] | None:
    record = decode(line)
    return record if record is not None and type(record["seq"]) is int else None


class TrailFile:
    """``audit.jsonl`` and its older files; a lock keeps other processes from writing them."""

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
        status = os.fstat(self._lock.fileno())
        self.lock = f"{status.st_dev}:{status.st_ino}"
        self._open()

    def _open(self) -> None:
        self._stream: IO[bytes] = self.path.open("ab", buffering=0)
        self._size = self._stream.tell()
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # Makes the file's name durable too.
        finally:
            os.close(directory)

    def recover(self) -> Tail:
        """Find the end of the chain; a torn last line is kept, and ended by a newline."""
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
        """Write a line; if the disk refuses, keep it and try again with the next one."""
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
        """Begin a new file; if that fails, return False and go on with the old one."""
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
    """Return a trail's files, oldest first: ``audit.jsonl.5`` to ``.1``, then ``audit.jsonl``."""
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
    """Read the end of a file, or all of it if its end holds no record."""
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
