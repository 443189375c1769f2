"""Decides what `wal-archive` does with a file of the WAL, by the member's role.

PostgreSQL runs it on replicas too (`archive_mode: always`), and keeps a file until it ends with 0.
A replica waits until the archive has the file: what the leader could not archive is then there for
the next one. The role is what the data directory says: `standby.signal` is a replica's,
`recovery.signal` a restore's, and a leader has neither.

Invariants: a replica uploads only what the archive lacks although it has later files, which a
leader archives after it; a file that a restore fetched from the parent's archive is never uploaded;
a stop and a promotion wait for nothing here.
"""

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from .archive import SEGMENT, left_in, number_of, place_of
from .barman import Barman, BarmanError
from .folders import Abandoned, listed
from .repository import RepositoryError

FETCHED = "queenright.fetched"
"""File of the data directory with the names of what a restore fetched from the parent's archive, a
line each. Whatever copies the data directory copies it, too."""
LOOKS_S = (3.0, 7.0, 14.0, 28.0)
"""Seconds after the begin of a call at which it looks into the archive. The leader needs one or two
for a file; a look is a process and a request."""
POLL_S = 0.2
_SEGMENT_NAME = re.compile(r"[0-9A-F]{24}")
_HISTORY_NAME = re.compile(r"[0-9A-F]{8}\.history")
_FOLDER = re.compile(r"([0-9A-F]{8})([0-9A-F]{8})/")
_COMPRESSED = re.compile(r"\.(?:gz|bz2|xz|lz4|zst|snappy)$")


class Verdict(Enum):
    """The treatment of a file."""

    UPLOAD = "upload"
    DONE = "done"
    """The archive has it, or has no use for it."""
    KEEP = "keep"
    STOP = "stop"
    """PostgreSQL ends: it keeps the file, and is not to try again before that."""


@dataclass(frozen=True)
class Call:
    """One call for a file, by its full path. PostgreSQL names a file relative to its data
    directory; Patroni, before it rewinds a server that has ended, names it in full."""

    path: Path
    is_patronis: bool = False
    looks_s: Sequence[float] = LOOKS_S
    scratch: Path = Path(tempfile.gettempdir())

    @property
    def data(self) -> Path:
        return self.path.parent.parent

    def is_replica(self) -> bool:
        return (self.data / "standby.signal").exists()

    def is_restore(self) -> bool:
        return not self.is_replica() and (self.data / "recovery.signal").exists()

    def is_leader(self) -> bool:
        return not self.is_replica() and not self.is_restore()

    def is_stopping(self) -> bool:
        """Return True if PostgreSQL was told to end, or has ended."""
        return not (self.data / "postmaster.pid").exists() or self.is_told_to_stop()

    def is_told_to_stop(self) -> bool:
        """Return True while PostgreSQL ends, as its lock file says."""
        try:
            lines = (self.data / "postmaster.pid").read_text(encoding="utf-8").split("\n")
        except OSError:
            return False
        return len(lines) > 7 and lines[7].strip() == "stopping"


def verdict(call: Call, archive: Callable[[], Barman]) -> Verdict:
    """Return what is to be done with a file. On a replica this takes up to half a minute;
    BarmanError or RepositoryError where the archive could not be asked in it."""
    name = call.path.name
    if name in fetched(call.data) or is_left(call.data, name):
        return Verdict.DONE
    if call.is_leader():
        return Verdict.UPLOAD
    # Patroni has nothing to wait for, and the rewind takes the files of another server.
    return Verdict.KEEP if call.is_patronis else _awaited(call, archive)


def fetched(data: Path) -> set[str]:
    """Return the names of the files that a restore fetched from the parent's archive."""
    try:
        return set((data / FETCHED).read_text(encoding="utf-8").split())
    except FileNotFoundError:
        return set()


def note_fetched(data: Path, name: str) -> None:
    """Note a file before PostgreSQL gets it, so that it outlasts a power cut."""
    with (data / FETCHED).open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
        file.flush()
        os.fsync(file.fileno())


def is_left(data: Path, name: str) -> bool:
    """Return True for a segment that its timeline was left in or before, by the newest history that
    the server has: a recovery takes the next timeline's. Such a file may be there in part only."""
    found = (data / "pg_wal").glob("*.history")
    histories = [one for one in found if _HISTORY_NAME.fullmatch(one.name)]
    if not histories or not _SEGMENT_NAME.fullmatch(name):
        return False
    newest = max(histories, key=lambda one: one.name)
    at = left_in(newest.read_text(encoding="utf-8")).get(int(name[:8], 16))
    return at is not None and number_of(name) >= at // SEGMENT


def _awaited(call: Call, archive: Callable[[], Barman]) -> Verdict:
    """Return the verdict for a replica; a restore only waits until its timeline begins."""
    begun, parent = time.monotonic(), os.getppid()

    def interrupted() -> Verdict | None:
        if call.is_stopping() or os.getppid() != parent:
            return Verdict.STOP
        return Verdict.UPLOAD if call.is_leader() else None

    failure: BarmanError | RepositoryError | None = None
    if call.is_replica() and _is_remembered(call, archive):
        return Verdict.DONE
    for look_s in call.looks_s:
        while time.monotonic() < begun + look_s:
            if (found := interrupted()) is not None:
                return found
            time.sleep(POLL_S)
        if call.is_restore():
            continue
        try:
            found, failure = _look(call, archive(), lambda: interrupted() is None), None
        except Abandoned:
            found = interrupted()
        except (BarmanError, RepositoryError) as error:
            found, failure = None, error
        if found is not None:
            return found
    if failure is not None:
        raise failure
    return interrupted() or Verdict.KEEP


def _is_remembered(call: Call, archive: Callable[[], Barman]) -> bool:
    """Return True if the archive's last list had the file."""
    try:
        return call.path.name in Memory(call, archive()).read()
    except RepositoryError:
        return False


def _look(call: Call, archive: Barman, goes_on: Callable[[], bool]) -> Verdict | None:
    """Return the verdict if the archive's list has one for a file. BarmanError; Abandoned."""
    name, wals = call.path.name, place_of(archive)
    is_history = _HISTORY_NAME.fullmatch(name) is not None
    places = [wals] if is_history else [wals, f"{wals}{name[:16]}/"]
    found = listed(archive.repository, places, archive.programs, goes_on)
    names = {_COMPRESSED.sub("", one) for one in found.files}
    Memory(call, archive).write(names)
    if name in names:
        return Verdict.DONE
    folders = [match[1] + match[2] for match in map(_FOLDER.fullmatch, found.folders) if match]
    if is_history:
        is_late = any(folder[:8] >= name[:8] for folder in folders)
    else:
        is_late = any(folder > name[:16] for folder in folders) or any(
            _SEGMENT_NAME.fullmatch(one) and one > name for one in names
        )
    return Verdict.UPLOAD if is_late else None


class Memory:
    """The names of the archive's last list, so that of many files few need a request."""

    def __init__(self, call: Call, archive: Barman) -> None:
        repository = archive.repository
        self.of = f"{repository.endpoint} {repository.url} {archive.server}"
        where = hashlib.sha256(f"{self.of} {call.data}".encode()).hexdigest()[:16]
        self.path = call.scratch / f"queenright-archived-{where}"

    def read(self) -> set[str]:
        """Return the names; none where there was no list yet."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return set()
        return set(found["names"]) if found["of"] == self.of else set()

    def write(self, names: set[str]) -> None:
        """Keep the names. They save requests alone: a failure is none of the call's."""
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            part.write_text(json.dumps({"of": self.of, "names": sorted(names)}), encoding="utf-8")
            part.replace(self.path)
        except OSError:
            part.unlink(missing_ok=True)
