"""Reads a member's control file and WAL by PostgreSQL's own programs, while no server uses them.

Invariant: nothing is written, and what can't be read is an error, never less than there is.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CONTROL, WALDUMP = "pg_controldata", "pg_waldump"
LIMIT_S = 120.0
SEGMENT = re.compile(r"^([0-9A-F]{8})[0-9A-F]{16}(\.partial)?$")
_END = re.compile(r"^WAL statistics between [0-9A-F/]+ and ([0-9A-F]+/[0-9A-F]+):", re.MULTILINE)


class UnknownEndError(Exception):
    """The end of the data can't be told; the text says why."""


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


def statistics(wal: Path, timeline: int, begin: int, segment_bytes: int, *more: str) -> str:
    """Return what ``pg_waldump -z`` prints of a timeline from a position to its end; empty where
    there is no WAL of that position."""
    first = last = begin // segment_bytes
    numbers = numbers_of(wal, timeline, segment_bytes)
    while last + 1 in numbers:
        last += 1
    if first not in numbers:
        return ""
    # The program takes the size of a segment from the first that is named, or else from any:
    # one without content has none. Without a last one it asks for a segment that is not there,
    # and fails without a word of how far it has come.
    names = [segment(timeline, number, segment_bytes) for number in (first, last)]
    options = ("-p", str(wal), "-s", written(begin), *more)
    return run(WALDUMP, "-z", *options, *names, fails=True)


def numbers_of(wal: Path, timeline: int, segment_bytes: int) -> frozenset[int]:
    """The numbers of the whole segments of a timeline."""
    names = [path.name for path in wal.glob(f"{timeline:08X}*") if SEGMENT.match(path.name)]
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
