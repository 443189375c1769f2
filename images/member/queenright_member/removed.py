"""Counts what a rewind removes: the WAL that this member alone has, and the transactions in it.

After a failover by asynchronous replication a former leader has WAL that the next one never had.
`pg_rewind` removes it, so it is read beside that program, from its word where the two went apart
on. The counts are noted in Raft's directory, which no rewind and no copy touches, when the program
begins to change the directory (it may be killed after that), and once more at its end where they
were not known before. Patroni's REST API shows them with the member's status.

Bytes alone would name a loss after each failover: the recovery of a former leader ends with a
checkpoint of its own. So commits are counted, and a rewind that removes none is not noted.
Invariant: nothing here delays or fails a rewind; what was not read to the end of the WAL, which the
rewind may have removed by then, is noted as unknown, never as less.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .inputs import Paths
from .raft_aside import write_whole
from .wal_files import (
    CONTROL,
    UnknownEndError,
    bytes_of,
    last_position,
    read_control,
    run,
    statistics,
    written,
)

NOTE = "removed"
"""Its name in Raft's directory."""
KEY = "queenright_removed"
"""The key in the answer of Patroni's REST API."""
MOST = 5
"""So many rewinds are noted; an operator may have been away during some."""
_APART = re.compile(r"servers diverged at WAL location ([0-9A-F]+/[0-9A-F]+) on timeline ([0-9]+)")
_COMMITS = re.compile(r"^Transaction/COMMIT(?:_PREPARED)?\s+([0-9]+)\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Removed:
    """The WAL that one rewind removed: of ``timeline``, from ``begin`` to ``end`` in bytes, with so
    many ``commits``. The last two are None where they are not known. ``at`` is the rewind's time
    (epoch)."""

    timeline: int
    begin: int
    end: int | None
    commits: int | None
    at: int


def counted(data: Path, kept: Path, timeline: int, begin: int) -> tuple[int, int]:
    """Return the end of a timeline's WAL, and the commits in it from a position on; UnknownEndError
    where it has not been read as far as the control file, kept aside, says that it goes."""
    control = read_control(run(CONTROL, str(kept)))
    if control.timeline != timeline:
        raise UnknownEndError(f"its data are on timeline {control.timeline}")
    said = statistics(data / "pg_wal", timeline, begin, control.segment_bytes, "--stats=record")
    end = last_position(said)
    if end < control.floor:
        raise UnknownEndError(f"its WAL is not read to {written(control.floor)}")
    return end, sum(int(number) for number in _COMMITS.findall(said))


def kept_control(data: Path) -> Path:
    """Copy the control file, which is emptied when the rewind begins, and return a directory that
    has it where PostgreSQL's program looks for it."""
    folder = Path(tempfile.mkdtemp(prefix="control-"))
    (folder / "global").mkdir()
    shutil.copyfile(data / "global/pg_control", folder / "global/pg_control")
    return folder


class Counting:
    """Counts beside a rewind, from the line on that says where the two went apart."""

    def __init__(
        self, data: Path, count: Callable[[Path, Path, int, int], tuple[int, int]] = counted
    ) -> None:
        self._data, self._count = data, count
        self._apart: tuple[int, int] | None = None
        self._found: tuple[int, int] | None = None
        self._kept: Path | None = None

    def hear(self, line: str) -> None:
        """Take a line of the program's."""
        match = _APART.search(line)
        if match and self._apart is None:
            self._apart = int(match[2]), bytes_of(match[1])
            try:
                kept = self._kept = kept_control(self._data)
            except OSError as error:
                self._warn(error)
                return
            threading.Thread(target=self._look, args=(kept, *self._apart), daemon=True).start()

    def _look(self, kept: Path, timeline: int, begin: int) -> None:
        try:
            self._found = self._count(self._data, kept, timeline, begin)
        except (UnknownEndError, OSError, ValueError) as error:
            self._warn(error)

    @staticmethod
    def _warn(error: Exception) -> None:
        print(f"pg_rewind: what it removes is not counted: {error}", file=sys.stderr)

    def end(self) -> Removed | None:
        """Return what the program removes, as far as it is known by now; None where the two did not
        go apart, and where no commit is removed."""
        if self._apart is None or (self._found is not None and self._found[1] == 0):
            return None
        end, commits = self._found or (None, None)
        now = int(time.time())  # noqa: TID251  # a program of its own, without ports
        return Removed(*self._apart, end, commits, now)

    def close(self) -> None:
        """Remove what was kept; a count that goes on is not waited for."""
        if self._kept is not None:
            shutil.rmtree(self._kept, ignore_errors=True)


def note(raft: Path, removed: Removed | None, before: Removed | None = None) -> None:
    """Note what a rewind removes, beside what former ones did and in the place of what was noted of
    it ``before``; a failure is a warning."""
    if removed == before:
        return
    former = [one for one in noted(raft) if before is None or one != asdict(before)]
    try:
        kept = [*former, *([asdict(removed)] if removed else [])][-MOST:]
        write_whole(raft / NOTE, json.dumps(kept).encode())
    except OSError as error:
        print(f"pg_rewind: what it removes is not noted: {error.strerror}", file=sys.stderr)


def noted(raft: Path) -> list[Mapping[str, object]]:
    """Return what rewinds have removed, oldest first; nothing where no note can be read."""
    try:
        found = json.loads((raft / NOTE).read_bytes())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def show_removed(kind: Any, raft: Path) -> None:
    """Have Patroni's class ``RestApiHandler`` show the note with a member's status."""
    write = kind._write_status_response  # noqa: SLF001 - no other place has the whole answer

    def write_with_note(self: Any, status_code: int, response: dict[str, Any]) -> None:
        if found := noted(raft):
            response[KEY] = found
        write(self, status_code, response)

    kind._write_status_response = write_with_note  # noqa: SLF001


def make_shown() -> None:
    """Have the Patroni that this process becomes show it; PID 1 only starts it."""
    if os.getpid() == 1:
        return
    from patroni.api import RestApiHandler  # noqa: PLC0415 - Patroni sets the umask here

    show_removed(RestApiHandler, Paths.under(Path("/")).raft)
