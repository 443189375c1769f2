"""Tells how far a member's data go while PostgreSQL does not run: timeline and end of its WAL.

The control file alone is not enough: a replica that was killed names the timeline and position of
its last restartpoint there. So the newest timeline is the highest one that has both a history file
and WAL here, and PostgreSQL's own ``pg_waldump`` finds where that ends. Invariant: nothing is
written, and what can't be told is told as unknown, never as less.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .findings import INTERRUPTED_COPY, damage_of

CONTROL, WALDUMP = "pg_controldata", "pg_waldump"
LIMIT_S = 120.0
_SEGMENT = re.compile(r"^([0-9A-F]{8})[0-9A-F]{16}(\.partial)?$")
_END = re.compile(r"^WAL statistics between [0-9A-F/]+ and ([0-9A-F]+/[0-9A-F]+):", re.MULTILINE)
_NOTHING = re.compile("could not find a valid record after|header specifies 0 bytes")
_LEFT = re.compile(r"\s*[0-9]+\s+([0-9A-F]+/[0-9A-F]+)")
"""A line of a history file: the timeline that was left, and where."""


class UnknownEndError(Exception):
    """The end of the data can't be told; the text says why."""


@dataclass(frozen=True, slots=True)
class DataEnd:
    """The end of a member's data. ``system`` is the database's identifier, ``location`` a WAL
    position in bytes, ``history`` a digest of the timeline's history file (empty on timeline 1).
    All are 0 or empty for a member without data."""

    system: str = ""
    timeline: int = 0
    location: int = 0
    history: str = ""


def end_of(data: Path) -> DataEnd:
    """The end of the data in a directory that no PostgreSQL uses; UnknownEndError where they are
    damaged or PostgreSQL's programs don't tell."""
    damage = damage_of(data)
    if damage == INTERRUPTED_COPY or not any(data.iterdir()):
        return DataEnd()  # nothing that any member has acknowledged
    if damage:
        raise UnknownEndError(f"its data directory is damaged ({damage})")
    control = read_control(run(CONTROL, str(data)))
    timeline = max(control.timeline, newest(data / "pg_wal"))
    location = control.floor if timeline == control.timeline else 0
    location = max(location, end_of_wal(data, timeline, control))
    history = data / "pg_wal" / f"{timeline:08X}.history"
    digest = hashlib.sha256(history.read_bytes()).hexdigest()[:16] if history.exists() else ""
    return DataEnd(control.system, timeline, location, digest)


@dataclass(frozen=True, slots=True)
class Control:
    """Of the control file: ``redo`` is where recovery begins, ``floor`` what it certainly has."""

    system: str
    timeline: int
    redo: str
    redo_timeline: int
    floor: int
    segment_bytes: int


def read_control(text: str) -> Control:
    """The control file, as ``pg_controldata`` prints it; UnknownEndError for anything else."""
    found = dict(re.findall(r"^([^:]+):\s+(.*)$", text, re.MULTILINE))
    try:
        redo_timeline = int(found["Latest checkpoint's TimeLineID"])
        recovered = int(found["Min recovery ending loc's timeline"])
        least = bytes_of(found["Minimum recovery ending location"])
        checkpoint = bytes_of(found["Latest checkpoint location"])
        timeline = max(redo_timeline, recovered)
        floors = [
            at for at, on in ((checkpoint, redo_timeline), (least, recovered)) if on == timeline
        ]
        return Control(
            found["Database system identifier"],
            timeline,
            found["Latest checkpoint's REDO location"],
            redo_timeline,
            max(floors),
            int(found["Bytes per WAL segment"]),
        )
    except (KeyError, ValueError) as error:
        raise UnknownEndError(f"{CONTROL} tells no {error}") from None


def newest(wal: Path) -> int:
    """The highest timeline of which there is WAL and, but for the first, a history file."""
    found = {int(match[1], 16) for path in wal.iterdir() if (match := _SEGMENT.match(path.name))}
    known = {n for n in found if n == 1 or (wal / f"{n:08X}.history").exists()}
    return max(known, default=0)


def end_of_wal(data: Path, timeline: int, control: Control) -> int:
    """The byte behind the last valid record of a timeline, or its begin where it has none yet;
    UnknownEndError where its WAL does not begin with what recovery reads of it first.

    0 for a base backup of which there is no WAL here: recovery begins elsewhere, by its label."""
    wal = data / "pg_wal"
    is_former = timeline != control.redo_timeline
    begin = begin_of(wal, timeline) if is_former else bytes_of(control.redo)
    first = begin // control.segment_bytes
    numbers = numbers_of(wal, timeline, control.segment_bytes)
    last = first
    while last + 1 in numbers:
        last += 1
    if first in numbers:
        # The program takes the size of a segment from the first that is named, or else from any:
        # one without content has none. Without a last one it asks for a segment that is not there,
        # and fails without a word of how far it has come.
        names = [segment(timeline, number, control.segment_bytes) for number in (first, last)]
        said = run(WALDUMP, "-z", "-p", str(wal), "-s", written(begin), *names, fails=True)
        if found := last_position(said):
            return found
        if is_former and last == first and _NOTHING.search(said):
            return begin
    if (data / "backup_label").exists():
        return 0
    raise UnknownEndError(
        f"its WAL of timeline {timeline} does not begin at {written(begin)}, where recovery does"
    )


def begin_of(wal: Path, timeline: int) -> int:
    """The position at which a timeline leaves the one before, by its history file."""
    lines = (wal / f"{timeline:08X}.history").read_text(encoding="utf-8").splitlines()
    found = [match[1] for line in lines if (match := _LEFT.match(line))]
    if not found:
        raise UnknownEndError(f"the history file of timeline {timeline} does not tell its begin")
    return bytes_of(found[-1])


def numbers_of(wal: Path, timeline: int, segment_bytes: int) -> frozenset[int]:
    """The numbers of the whole segments of a timeline."""
    names = [path.name for path in wal.glob(f"{timeline:08X}*") if _SEGMENT.match(path.name)]
    each = (1 << 32) // segment_bytes
    return frozenset(
        int(name[8:16], 16) * each + int(name[16:], 16)
        for name in names
        if not name.endswith(".partial")
    )


def segment(timeline: int, number: int, segment_bytes: int) -> str:
    """The name of a segment's file."""
    high, low = divmod(number, (1 << 32) // segment_bytes)
    return f"{timeline:08X}{high:08X}{low:08X}"


def last_position(said: str) -> int:
    """The end of the last record that ``pg_waldump`` has counted; 0 where there was none."""
    found = _END.search(said)
    return bytes_of(found[1]) if found else 0


def written(position: int) -> str:
    """A position in bytes as PostgreSQL writes it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def bytes_of(position: str) -> int:
    """A position such as 0/15261F8 in bytes; ValueError for anything else."""
    high, low = position.strip().split("/")
    return (int(high, 16) << 32) + int(low, 16)


def run(program: str, *words: str, fails: bool = False) -> str:
    """Return what a program of PostgreSQL's prints on both channels; UnknownEndError where it can't
    be run, takes too long, or ends with an error though it is not expected to."""
    try:
        done = subprocess.run(
            [program, *words],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnknownEndError(f"{program}: {error}") from None
    if done.returncode and not fails:
        raise UnknownEndError(f"{program}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def told(data: Path) -> Mapping[str, object]:
    """The end as a member tells it: its fields, or ``why`` it is not known."""
    try:
        end = end_of(data)
    except (UnknownEndError, OSError) as error:
        return {"why": str(error)}
    fields = ("system", "timeline", "location", "history")
    return {name: getattr(end, name) for name in fields}
