"""Manifests from a file or a directory on disk.

Does not look at their contents. A file's text is used only if its status is the same before and
after the read, so that a file replaced during the read is never taken for a whole one.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from queenright.core.manifest.problems import Problem
from queenright.ports.manifests import ManifestTexts

MOST_BYTES = 1 << 20
SUFFIXES = frozenset({".yaml", ".yml"})


class _ReadError(Exception):
    """A file without a usable text; the message is for people."""


@dataclass(frozen=True, slots=True)
class ManifestFiles:
    """Files below `path`: the file itself, or a directory's own `*.yaml` and `*.yml`, without
    hidden ones and without subdirectories. Links are followed, so that a swapped link (as mounted
    configs are) counts as a change."""

    path: Path

    def fingerprint(self) -> str:
        """Return a digest of names, inodes, sizes and times."""
        digest = hashlib.sha256()
        try:
            for file in self._files():
                digest.update(f"{file}\0{_status(file)}\0".encode("utf-8", "surrogateescape"))
        except _ReadError as error:
            digest.update(str(error).encode("utf-8", "replace"))
        return digest.hexdigest()

    def read(self) -> ManifestTexts:
        """Return every file's text by its path, or the reason why it has none."""
        fingerprint = self.fingerprint()
        texts: dict[str, str] = {}
        problems: list[Problem] = []
        try:
            files = list(self._files())
        except _ReadError as error:
            return ManifestTexts(fingerprint, problems=(_problem(self.path, error),))
        for file in files:
            try:
                texts[_name(file)] = _read(file)
            except _ReadError as error:
                problems.append(_problem(file, error))
        if not files:
            empty = _ReadError("the directory has no *.yaml or *.yml file in it")
            problems.append(_problem(self.path, empty))
        elif fingerprint != self.fingerprint():
            changed = _ReadError("the files changed during the read; the operator reads them again")
            problems.append(_problem(self.path, changed))
        return ManifestTexts(fingerprint, texts, tuple(problems))

    def _files(self) -> Iterator[Path]:
        try:
            if not stat.S_ISDIR(self.path.stat().st_mode):
                yield self.path
                return
            files = sorted(self.path.iterdir())
        except (OSError, ValueError) as error:
            raise _ReadError(_reason(error)) from None
        for file in files:
            if not file.name.startswith(".") and file.suffix in SUFFIXES and not file.is_dir():
                yield file


def _status(file: Path) -> str:
    """Return a text that changes with the file, through links; or the reason for none."""
    try:
        found = file.stat()
    except (OSError, ValueError) as error:
        return _reason(error)
    return _signature(found)


def _signature(found: os.stat_result) -> str:
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _read(file: Path) -> str:
    """Return the file's text; _ReadError if it is not a whole UTF-8 file of moderate size."""
    try:
        with os.fdopen(_open_without_waiting(file), "rb") as opened:
            before = os.fstat(opened.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise _ReadError("is not a regular file")
            content = opened.read(MOST_BYTES + 1)
            after = os.fstat(opened.fileno())
    except (OSError, ValueError) as error:
        raise _ReadError(_reason(error)) from None
    if len(content) > MOST_BYTES:
        raise _ReadError("is larger than 1 MiB, which no manifest is")
    if _signature(before) != _signature(after) or _status(file) != _signature(after):
        raise _ReadError("changed during the read; the operator reads it again")
    return _decode(content)


def _open_without_waiting(file: Path) -> int:
    """Open without blocking: a named pipe without a writer would block for ever."""
    return os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _ReadError(f"is not UTF-8 text (byte {error.start}, line {line})") from None


def _reason(error: Exception) -> str:
    match error:
        case FileNotFoundError():
            return "does not exist (any more)"
        case PermissionError():
            return "can't be read: permission denied"
        case OSError():
            return f"can't be read: {error.strerror}"
    return f"can't be read: {error}"


def _name(file: Path) -> str:
    return str(file).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _problem(file: Path, error: _ReadError) -> Problem:
    return Problem(_name(file), 1, "file", str(error))
