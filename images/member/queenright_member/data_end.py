"""Tells how far a member's data go while PostgreSQL does not run: timeline and end of its WAL.

The control file alone is not enough: a replica that was killed names the timeline and position of
its last restartpoint there. So the newest timeline is the highest one that has both a history file
and WAL here, and PostgreSQL's own ``pg_waldump`` finds where that ends. Invariant: nothing is
written, and what can't be told is told as unknown, never as less.
"""

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .findings import INTERRUPTED_COPY, damage_of
from .inputs import Paths
from .wal_files import (
    CONTROL,
    SEGMENT,
    Control,
    UnknownEndError,
    bytes_of,
    last_position,
    numbers_of,
    read_control,
    run,
    statistics,
    written,
)

_NOTHING = re.compile("could not find a valid record after|header specifies 0 bytes")
_LEFT = re.compile(r"\s*[0-9]+\s+([0-9A-F]+/[0-9A-F]+)")
"""A line of a history file: the timeline that was left, and where."""


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


def newest(wal: Path) -> int:
    """The highest timeline of which there is WAL and, but for the first, a history file."""
    found = {int(match[1], 16) for path in wal.iterdir() if (match := SEGMENT.match(path.name))}
    known = {n for n in found if n == 1 or (wal / f"{n:08X}.history").exists()}
    return max(known, default=0)


def end_of_wal(data: Path, timeline: int, control: Control) -> int:
    """The byte behind the last valid record of a timeline, or its begin where it has none yet;
    UnknownEndError where its WAL does not begin with what recovery reads of it first.

    0 for a base backup of which there is no WAL here: recovery begins elsewhere, by its label."""
    wal = data / "pg_wal"
    is_former = timeline != control.redo_timeline
    begin = begin_of(wal, timeline) if is_former else bytes_of(control.redo)
    said = statistics(wal, timeline, begin, control.segment_bytes)
    if found := last_position(said):
        return found
    goes_on = begin // control.segment_bytes + 1 in numbers_of(wal, timeline, control.segment_bytes)
    if is_former and not goes_on and _NOTHING.search(said):
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


def told(data: Path) -> Mapping[str, object]:
    """The end as a member tells it: its fields, or ``why`` it is not known."""
    try:
        return fields_of(end_of(data))
    except (UnknownEndError, OSError) as error:
        return {"why": str(error)}


def fields_of(end: DataEnd) -> Mapping[str, object]:
    return {name: getattr(end, name) for name in ("system", "timeline", "location", "history")}


def main(root: Path = Path("/"), arguments: Sequence[str] = ()) -> None:
    """Print where the data of the member end whose volume is mounted here, for a person who
    compares members, or as one line of JSON (``--json``) for the operator's command; exit with 1
    where that can't be told. A position while PostgreSQL runs on them is that of a moment ago."""
    if [*arguments] not in ([], ["--json"]):
        sys.exit("usage: data-end [--json]")
    try:
        end = end_of(Paths.under(root).data)
    except (UnknownEndError, OSError) as error:
        print(f"not known: {error}")
        sys.exit(1)
    if arguments:
        print(json.dumps(fields_of(end)))
    elif end.timeline:
        at = f"{end.location} ({written(end.location)})"
        print(f"timeline {end.timeline}, WAL position {at}, database {end.system}")
    else:
        print("no data")
