"""Manifests from a file or a directory on disk.

Does not look at their contents. A file's text is used only if its status is the same before and
after the read, so that a file replaced during the read is never taken for a whole one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from queenright.core.manifest.problems import Problem
from queenright.ports.manifests import ManifestTexts

MOST_BYTES = 1 << 20
SUFFIXES = frozenset({".yaml", ".yml"})
OLD_ENOUGH_NS = 2_000_000_000
"""Two seconds: no file system that carries manifests counts time in larger steps."""


class _ReadError(Exception):
    """A file without a usable text; the message is for people."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file's text, and the status with which it was read."""

    status: str
    text: str


@dataclass(slots=True)
class ManifestFiles:
    """Files below `path`: the file itself, or a directory's own `*.yaml` and `*.yml`, without
    hidden ones and without subdirectories. Links are followed, so that a swapped link (as mounted
    configs are) counts as a change. A file is opened again only if its status has changed."""

    path: Path
    _kept: dict[str, _Kept] = field(default_factory=dict, init=False, repr=False, compare=False)

    def fingerprint(self) -> str:
        """Return a digest of names, inodes, sizes and times."""
        try:
            return _digest(self._found())
        except _ReadError as error:
            return _digest([("", str(error))])

    def read(self) -> ManifestTexts:
        """Return every file's text by its path, or the reason why it has none."""
        try:
            found = self._found()
        except _ReadError as error:
            return ManifestTexts(self.fingerprint(), problems=(_problem(str(self.path), error),))
        fingerprint, texts, problems = _digest(found), dict[str, str](), list[Problem]()
        kept: dict[str, _Kept] = {}
        for file, status in found:
            try:
                known = self._kept.get(file)
                if known is None or known.status != status:
                    known = _read(Path(file))
                    if not _may_change_unseen(known):
                        kept[file] = known
                else:
                    kept[file] = known
                texts[_name(file)] = known.text
            except _ReadError as error:
                problems.append(_problem(file, error))
        self._kept = kept
        if not found:
            empty = _ReadError("the directory has no *.yaml or *.yml file in it")
            problems.append(_problem(str(self.path), empty))
        elif fingerprint != self.fingerprint():
            changed = _ReadError("the files changed during the read; the operator reads them again")
            problems.append(_problem(str(self.path), changed))
        return ManifestTexts(fingerprint, texts, tuple(problems))

    def _found(self) -> list[tuple[str, str]]:
        """Return each file's path and status, in the order of their names."""
        try:
            if not stat.S_ISDIR(self.path.stat().st_mode):
                return [(str(self.path), _status(self.path))]
            with os.scandir(self.path) as entries:
                found = [(entry.path, status) for entry in entries if (status := _entry(entry))]
        except (OSError, ValueError) as error:
            raise _ReadError(_reason(error)) from None
        return sorted(found)


def _entry(entry: os.DirEntry[str]) -> str:
    """Return the status of a directory's entry, "" if it is no manifest."""
    name = entry.name
    if name.startswith(".") or os.path.splitext(name)[1] not in SUFFIXES:  # noqa: PTH122  # many
        return ""
    try:
        found = entry.stat()
    except (OSError, ValueError) as error:
        return _reason(error)
    return "" if stat.S_ISDIR(found.st_mode) else _signature(found)


def _digest(found: Sequence[tuple[str, str]]) -> str:
    text = "".join(f"{file}\0{status}\0" for file, status in found)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _may_change_unseen(known: _Kept) -> bool:
    """Return True if the file was written so shortly before it was read that it could have been
    written again within the same tick of the file system's clock."""
    *_, modified_ns, changed_ns = known.status.split()
    return max(int(modified_ns), int(changed_ns)) > time.time_ns() - OLD_ENOUGH_NS


def _status(file: Path) -> str:
    """Return a text that changes with the file, through links; or the reason for none."""
    try:
        found = file.stat()
    except (OSError, ValueError) as error:
        return _reason(error)
    return _signature(found)


def _signature(found: os.stat_result) -> str:
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _read(file: Path) -> _Kept:
    """Return the file's text and status; _ReadError if it is no UTF-8 file of moderate size."""
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
    return _Kept(_signature(after), _decode(content))


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


def _name(file: str) -> str:
    return file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _problem(file: str, error: _ReadError) -> Problem:
    return Problem(_name(file), 1, "file", str(error))
