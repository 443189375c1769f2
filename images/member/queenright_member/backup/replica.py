"""Program for Patroni's creation of a replica: `replica-restore`, which takes a base backup instead
of a copy of another member. `replica-wal-restore` (``replica_wal``) then fetches what follows it.

It takes the newest base backup from which the leader's timeline is reached, and only if the archive
has all WAL from its begin up to the position from which the leader keeps its own for this member.
Any failure is one line and status 1, at which Patroni copies another member.

Invariant: the base backup is laid out in a folder of the data directory, whose files move up when
they are whole and on the disk. While that folder is there, nothing else in the directory is data,
and a member that finds it when it starts removes all (``unfinished``). The note by which WAL comes
from the archive lies beside Raft's files, which no copy of a data directory takes along.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .archive import ABSENT, FETCH_S, SEGMENT, missing_along, number_of
from .barman import PROGRAMS, Barman, BarmanError
from .base_backup import SUPERUSER, backups, password_file
from .cluster_restore import COPY_NOTE, LEFT_OUT, empty, remove_note, sync_directory, write_note
from .leader import Leader, Question, history_of, slot_of
from .repository import SECRETS, RepositoryError, read_repository, system_identifier
from .timelines import is_before

NOTE = Path("/home/postgres/raft/replica")
"""The note of a replica that fetches WAL from the archive: the database system's identifier. The
operator writes its path into `restore_command`, which looks for it first."""
FORMER_NOTES = ("rewind", COPY_NOTE)
"""The notes of a rewind and of a copy that did not end (``rewind.NOTE``), which lie there too."""
FOLDER = ".from-backup"
LAST = "global"
"""It has `pg_control`, without which nothing takes the directory for data of PostgreSQL."""
KEPT_S, ARCHIVED_S, AGAIN_S = 40.0, 60.0, 2.0
"""The longest waits for the slot and for WAL that the leader has not archived yet; the pauses."""
_PARAMETER = re.compile(r"--(datadir|connstring)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Places:
    """The secrets, the note, Barman's programs, and how long it waits."""

    secrets: Path = SECRETS
    note: Path = NOTE
    programs: Path = PROGRAMS
    scratch: Path | None = None
    kept_s: float = KEPT_S
    archived_s: float = ARCHIVED_S
    again_s: float = AGAIN_S


def main() -> NoReturn:
    """`replica-restore --datadir=… --connstring=…`, as Patroni calls it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends Barman, and removes what is there
    sys.exit(run(sys.argv[1:], os.environ, Places()))


def run(arguments: Sequence[str], environ: Mapping[str, str], places: Places) -> int:
    """Make the replica's data directory, and return the exit status."""
    found = dict(match.groups() for match in map(_PARAMETER.fullmatch, arguments) if match)
    data = Path(found.get("datadir", ""))
    if set(found) != {"datadir", "connstring"} or not data.is_dir():
        print("usage: replica-restore --datadir=DIRECTORY --connstring=TEXT", file=sys.stderr)
        return 1
    unfinished(data)
    if any(data.iterdir()):
        print(f"replica-restore: made nothing: directory {data} is not empty", file=sys.stderr)
        return 1
    remove_note(places.note)
    for name in FORMER_NOTES:
        remove_note(places.note.with_name(name))  # it is of the data that are gone
    try:
        restore(data, found["connstring"], environ, places)
    except (RepositoryError, BarmanError, OSError) as error:
        places.note.unlink(missing_ok=True)
        print(
            f"replica-restore: made nothing: {error}; this member is copied from another one",
            file=sys.stderr,
            flush=True,
        )
        return 1
    finally:
        unfinished(data)
    return 0


def restore(data: Path, dsn: str, environ: Mapping[str, str], places: Places) -> None:
    """Choose the base backup and lay it out; RepositoryError or BarmanError with the reason."""
    repository = read_repository(environ, places.secrets)
    slot = slot_of(environ.get("NODE_NAME", ""))
    with password_file(places.secrets, places.scratch) as environment:
        question = Question(dsn, SUPERUSER, environment, slot, places.programs / "python")
        leader = question.ask()
        barman = Barman(repository, leader.system, places.programs)
        found = backups(barman)
        choose(found, leader, repository.url)  # none is known before the wait for the slot
        leader = question.ask_until_kept(places.kept_s, places.again_s)
        chosen = choose(found, leader, repository.url)
        refuse_gap(barman, leader, chosen, places)
        print(
            f"replica-restore: restores base backup {chosen['id']}, which ended at "
            f"{chosen['end']}, of {repository.url}",
            flush=True,
        )
        folder = data / FOLDER
        folder.mkdir(mode=0o700)
        barman.run("restore", arguments=[str(chosen["id"]), str(folder)])
        # It may have taken hours, and another member may lead now.
        leader = question.ask_until_kept(places.kept_s, places.again_s)
        if leader.system != system_identifier(folder):
            raise BarmanError("the leader has another database system now")
        choose([chosen], leader, repository.url)
        refuse_gap(barman, leader, chosen, places)
    for name in LEFT_OUT:
        (folder / name).unlink(missing_ok=True)
    write_histories(folder / "pg_wal", barman, leader, chosen)
    move_up(folder, data, leader.system, places.note)
    print(f"replica-restore: restored base backup {chosen['id']}", flush=True)


def choose(found: Sequence[Mapping[str, Any]], leader: Leader, url: str) -> Mapping[str, Any]:
    """Return the newest whole base backup from which the leader's timeline is reached."""
    whole = [one for one in found if one["status"] == "DONE" and one["end_wal"] and one["end_lsn"]]
    fitting = [one for one in whole if is_before(one, leader.timeline, leader.left)]
    if not fitting:
        raise BarmanError(
            f"{url} has no whole base backup from which timeline {leader.timeline} is reached"
        )
    return fitting[-1]


def refuse_gap(barman: Barman, leader: Leader, chosen: Mapping[str, Any], places: Places) -> None:
    """BarmanError unless the archive has all WAL from a base backup's begin to the position from
    which the leader keeps it. What is not archived yet is waited for."""
    deadline = time.monotonic() + places.archived_s
    numbers = range(number_of(str(chosen["begin_wal"])), (leader.kept_from or 0) // SEGMENT)
    while numbers and (gap := missing_along(barman, leader.timeline, leader.left, numbers)):
        if gap.is_lost or time.monotonic() >= deadline:
            raise BarmanError(
                f"WAL file {gap.name}, which base backup {chosen['id']} needs, is neither in "
                f"{barman.repository.place} nor kept by the leader"
            )
        time.sleep(places.again_s)


def write_histories(wal: Path, barman: Barman, leader: Leader, chosen: Mapping[str, Any]) -> None:
    """Write the history of each timeline from the base backup's to the leader's. PostgreSQL looks
    for them one by one, and the newest is the one that it follows: the archive may have newer ones,
    of a timeline that was given up."""
    wal.mkdir(mode=0o700, exist_ok=True)
    first = int(str(chosen["begin_wal"])[:8], 16)
    for timeline in range(max(2, first), leader.timeline + 1):
        name = history_of(timeline)
        if name in leader.histories:
            (wal / name).write_text(leader.histories[name], encoding="utf-8")
        elif timeline > first and not barman_gives(barman, name, wal / name):
            raise BarmanError(f"{name} is neither in {barman.repository.place} nor on the leader")


def barman_gives(barman: Barman, name: str, path: Path) -> bool:
    """Return True if the archive had a file, which is there now. BarmanError."""
    words = [name, str(path)]
    found = barman.run("wal-restore", arguments=words, timeout_s=FETCH_S, absent=ABSENT)
    return found is not None


def move_up(folder: Path, data: Path, system: str, note: Path) -> None:
    """Make what is whole the data directory's, and note that WAL comes from the archive."""
    if subprocess.run(["sync", "--file-system", str(folder)], check=False).returncode != 0:
        raise OSError(f"{folder} is not written to the disk")
    for path in sorted(folder.iterdir(), key=lambda one: one.name == LAST):
        path.rename(data / path.name)
    data.chmod(0o700)
    sync_directory(data)
    write_note(note, system)
    folder.rmdir()
    sync_directory(data)


def unfinished(data: Path) -> bool:
    """Remove what was not finished; False where there was nothing of it."""
    if not (data / FOLDER).exists():
        return False
    for path in data.iterdir():
        if path.name != FOLDER:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    empty(data)
    return True
