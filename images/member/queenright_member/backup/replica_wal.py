"""Program for PostgreSQL's `restore_command` on a replica that was made from a base backup:
`replica-wal-restore NAME PATH`. The parameter runs it only while the note of ``replica`` is there.

It ends with 1 unless it has fetched the file, so that PostgreSQL asks the leader for it, and the
archive again if that has not got it. When the archive says that it has not got a WAL file, the
leader has all that follows, and the note is removed: no promotion looks anything up in the archive.
History files are not fetched. ``replica`` laid those out that lead to the leader's timeline, and
the archive may have that of a timeline which was given up.
"""

import os
import re
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .archive import ABSENT, PER_FOLDER, SEGMENT
from .barman import PROGRAMS, Barman, BarmanError
from .cluster_restore import remove_note
from .replica import NOTE
from .repository import SECRETS, RepositoryError, read_repository, system_identifier
from .wal import data_of

TIMEOUT_S = 120.0
FETCHED, NOT_FETCHED = 0, 1
_SEGMENT_NAME = re.compile(r"[0-9A-F]{24}")
_PAGE = struct.Struct("=HHIQ")
"""The beginning of a page of the WAL: a mark, switches, the timeline, and its position."""


@dataclass(frozen=True)
class Places:
    """The secrets, the note, and Barman's programs."""

    secrets: Path = SECRETS
    note: Path = NOTE
    programs: Path = PROGRAMS


def main() -> NoReturn:
    sys.exit(run(sys.argv[1:], os.environ, Places()))


def run(arguments: Sequence[str], environ: Mapping[str, str], places: Places) -> int:
    """Fetch one file, and return the exit status."""
    if len(arguments) != 2:
        print("usage: replica-wal-restore NAME PATH", file=sys.stderr)
        return NOT_FETCHED
    name, path = arguments[0], Path(arguments[1]).absolute()
    if not _SEGMENT_NAME.fullmatch(name) or is_here(path.with_name(name)):
        return NOT_FETCHED
    try:
        system = system_identifier(data_of(path))
        if places.note.read_text(encoding="utf-8").strip() != system:
            remove_note(places.note)
            return NOT_FETCHED
        barman = Barman(read_repository(environ, places.secrets), system, places.programs)
        found = barman.run(
            "wal-restore",
            ["--no-partial"],
            [name, str(path)],
            timeout_s=TIMEOUT_S,
            absent=ABSENT,
        )
        if found is None:
            remove_note(places.note)
            print(f"WAL {name}: is not in the archive; the leader sends it", file=sys.stderr)
    except (RepositoryError, BarmanError, OSError) as error:
        print(f"WAL {name}: is not fetched from the archive: {error}", file=sys.stderr)
        return NOT_FETCHED
    return NOT_FETCHED if found is None else FETCHED


def is_here(path: Path) -> bool:
    """Return True if a WAL file is in the data directory, at least its first page. PostgreSQL keeps
    files of former positions under the names of later ones."""
    try:
        with path.open("rb") as file:
            _, _, _, position = _PAGE.unpack(file.read(_PAGE.size))
    except (OSError, struct.error):
        return False
    number = int(path.name[8:16], 16) * PER_FOLDER + int(path.name[16:], 16)
    return bool(position == number * SEGMENT)
