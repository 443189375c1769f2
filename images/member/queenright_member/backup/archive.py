"""The WAL that the repository has of one database system: its end, and what a base backup lacks.

Barman keeps a file in a folder of its timeline and of the higher half of its position
(`wals/0000000200000000/000000020000000000000007.gz`). A new leader first archives the file that the
former one had begun, as a part (`.partial`), which Barman gives to a recovery where there is no
whole one. Invariant: a part is enough to say that the archive may reach a position, and too little
to say that a base backup can be restored.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from .barman import Barman, BarmanError
from .folders import listed

SEGMENT = 16 << 20
"""Bytes of a WAL file."""
PER_FOLDER = (1 << 32) // SEGMENT
ABSENT = r"WAL file \S+ for server \S+ does not exist"
"""Barman's line for a file that is not there. Its status is that of a missing bucket as well."""
FETCH_S = 120.0
SWITCH_S = 30.0
_FOLDER = re.compile(r"([0-9A-F]{8})([0-9A-F]{8})/")
_FILE = re.compile(r"([0-9A-F]{8})[0-9A-F]{16}(\.partial)?(?:\.(?!partial)\w+)?")
_LEFT = re.compile(r"^([0-9]+)\s+([0-9A-F]+/[0-9A-F]+)", re.MULTILINE)
#: The server of the connection, or the one that it streams from, begins another WAL file, unless it
#: has left the one with this position already.
_SWITCH = """import sys, psycopg2
host, port, user, end = sys.argv[1:]
def connected(host, port):
    found = psycopg2.connect(host=host, port=port, user=user, dbname="postgres", connect_timeout=10)
    found.autocommit = True
    return found.cursor()
cursor = connected(host, port)
cursor.execute("SELECT sender_host, sender_port FROM pg_catalog.pg_stat_wal_receiver")
if sender := cursor.fetchone():
    cursor = connected(*sender)
cursor.execute("SELECT pg_catalog.pg_switch_wal() "
    "WHERE pg_catalog.pg_current_wal_insert_lsn() < %s::pg_catalog.pg_lsn", [end])
"""


@dataclass(frozen=True)
class Missing:
    """A WAL file that a base backup needs. ``is_lost`` where the archive has a later one: files are
    archived in their order."""

    name: str
    is_lost: bool


@dataclass(frozen=True)
class End:
    """The last file of an archive, the position behind it, and the moment at which the repository
    got the youngest one."""

    name: str
    position: int
    at: datetime


class File(NamedTuple):
    """A file of the archive, and the moment at which the repository got it."""

    timeline: int
    number: int
    is_whole: bool
    at: datetime


def position_of(lsn: str) -> int:
    """Return a position in the WAL, in bytes, as PostgreSQL writes it: `0/3000060`."""
    high, _, low = lsn.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def lsn_of(position: int) -> str:
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def number_of(name: str) -> int:
    """Return the number of a WAL file, counted over all timelines."""
    return int(name[8:16], 16) * PER_FOLDER + int(name[16:24], 16)


def name_of(timeline: int, number: int) -> str:
    return f"{timeline:08X}{number // PER_FOLDER:08X}{number % PER_FOLDER:08X}"


def archive_end(barman: Barman, of: int = 0) -> End | None:
    """Return how far the archive has come, on one timeline where ``of`` is not 0; None where it has
    no file. BarmanError."""
    last: dict[str, str] = {}
    for timeline, high in _folders(barman):
        if of in {0, int(timeline, 16)}:
            last[timeline] = max(high, last.get(timeline, ""))
    found = _files(barman, [*last.items()])
    if not found:
        return None
    file = max(found, key=lambda one: (one.number, one.timeline))
    name = name_of(file.timeline, file.number)
    return End(name, (file.number + 1) * SEGMENT, max(one.at for one in found))


def missing_wal(barman: Barman, backup: Mapping[str, Any]) -> Missing | None:
    """Return the first WAL file between a base backup's begin and its end that no timeline of its
    own has in the archive; None where it can be restored. BarmanError."""
    end = position_of(str(backup["end_lsn"]))
    first, last = number_of(str(backup["begin_wal"])), (end - 1) // SEGMENT
    begun, own = (int(str(backup[key])[:8], 16) for key in ("begin_wal", "end_wal"))
    folders = [(t, high) for t, high in _folders(barman) if int(t, 16) >= begun]
    highs = range(first // PER_FOLDER, last // PER_FOLDER + 1)
    near = [(t, high) for t, high in folders if int(high, 16) in highs]
    found, lacking = _files(barman, near), list[int]()
    for timeline in sorted({own, *(file.timeline for file in found if file.timeline > own)}):
        left = {} if timeline == begun else left_at(barman, timeline)
        if timeline > own and left.get(own, 0) < end:
            continue
        had = whole_along(found, timeline, left)
        gaps = [number for number in range(first, last + 1) if number not in had]
        if not gaps:
            return None
        lacking.append(gaps[0])
    gap = max(lacking)
    is_lost = any(file.number > gap for file in found) or any(
        int(high, 16) > highs[-1] for _, high in folders
    )
    return Missing(name_of(own, gap), is_lost)


def missing_along(
    barman: Barman, timeline: int, left: Mapping[int, int], numbers: range
) -> Missing | None:
    """Return the first of some WAL files that the archive has not got along a timeline, whose
    former ones were left at these positions; None where it has all. BarmanError."""
    highs = range(numbers.start // PER_FOLDER, (numbers.stop - 1) // PER_FOLDER + 1)
    folders = [(own, high) for own, high in _folders(barman) if int(own, 16) in {timeline, *left}]
    had = whole_along(
        _files(barman, [(own, high) for own, high in folders if int(high, 16) in highs]),
        timeline,
        left,
    )
    gap = next((number for number in numbers if number not in had), None)
    if gap is None:
        return None
    is_later = any(int(own, 16) == timeline and int(high, 16) > highs[-1] for own, high in folders)
    return Missing(name_of(timeline, gap), is_later or any(number > gap for number in had))


def whole_along(files: Iterable[File], timeline: int, left: Mapping[int, int]) -> set[int]:
    """Return the numbers of the whole files along a timeline. The file in which a former one was
    left has the rest of it on the next one only."""
    return {
        file.number
        for file in files
        if file.is_whole
        and (file.timeline == timeline or file.number < left.get(file.timeline, 0) // SEGMENT)
    }


def switch_wal(
    barman: Barman,
    backup: Mapping[str, Any],
    server: tuple[str, str, str],
    environment: Mapping[str, str],
) -> None:
    """Ask the leader to finish the file with which a backup ends, which it would else archive when
    that is full, or at `archive_timeout` if something was written since. A leader that does not
    answer is no failure: the file may come all the same. ``server`` is the address, the port and
    the user of the leader, or of a replica that streams from it."""
    end = (position_of(str(backup["end_lsn"])) - 1) // SEGMENT * SEGMENT + SEGMENT
    line = [str(barman.programs / "python"), "-I", "-c", _SWITCH, *server, lsn_of(end)]
    try:
        subprocess.run(
            line,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SWITCH_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return


def timelines_with_wal(barman: Barman) -> set[int]:
    """Return the timelines of which the archive has WAL files. BarmanError."""
    return {int(timeline, 16) for timeline, _ in _folders(barman)}


def _folders(barman: Barman) -> list[tuple[str, str]]:
    """Return the timeline and the higher half of the position of each folder, as written."""
    found = listed(barman.repository, [place_of(barman)], barman.programs).folders
    return [(match[1], match[2]) for match in map(_FOLDER.fullmatch, found) if match]


def _files(barman: Barman, folders: list[tuple[str, str]]) -> list[File]:
    """Return the files in some folders."""
    if not folders:
        return []
    places = [f"{place_of(barman)}{timeline}{high}/" for timeline, high in folders]
    found = listed(barman.repository, places, barman.programs).files
    return [
        File(int(match[1], 16), number_of(name), not match[2], at)
        for name, at in found.items()
        if (match := _FILE.fullmatch(name))
    ]


def place_of(barman: Barman) -> str:
    """Return the folder of a database system's WAL, in the bucket."""
    return f"{barman.repository.folder}{barman.server}/wals/"


def left_at(barman: Barman, timeline: int) -> dict[int, int]:
    """Return the positions at which a timeline's former ones were left, as its file in the archive
    has them; empty where that is not there."""
    name = f"{timeline:08X}.history"
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / name
        words = [name, str(file)]
        try:
            given = barman.run("wal-restore", arguments=words, timeout_s=FETCH_S, absent=ABSENT)
            text = file.read_text(encoding="utf-8") if given is not None else ""
        except OSError as error:
            raise BarmanError(f"{name} can't be read ({error.strerror})") from None
    return left_in(text)


def left_in(history: str) -> dict[int, int]:
    """Return the positions at which a timeline's former ones were left, from its file's text."""
    return {int(one[1]): position_of(one[2]) for one in _LEFT.finditer(history)}
