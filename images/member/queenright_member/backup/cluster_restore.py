"""Programs for Patroni's bootstrap: `cluster-restore` and `cluster-restored`.

`cluster-restore` lays a base backup of another cluster, the parent, out in the member's empty data
directory; PostgreSQL then replays the parent's WAL up to the target. `cluster-restored` runs when
that has come to its end and the passwords are the new cluster's own.

Invariant: what lies in the data directory before `cluster-restore` begins is never touched. A note
beside Raft's files says that the data are of a restore that has not ended; only while it is there,
and it is written only where the directory was empty, may these data be removed (``unfinished``).
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from .archive import SEGMENT, End, archive_end, number_of, position_of
from .barman import PROGRAMS, Barman, BarmanError
from .base_backup import backups
from .folders import folders_in
from .repository import DATA, OWN, PARENT, SECRETS, RepositoryError, read_repository
from .timelines import newest_timeline, reaching, refuse_gaps

SYSTEM_VARIABLE, BACKUP_VARIABLE = "RESTORE_SYSTEM", "RESTORE_BACKUP"
TARGET_VARIABLE, TIMELINE_VARIABLE = "RESTORE_TARGET", "RESTORE_TIMELINE"
IN_PLACE_VARIABLE = "RESTORE_IN_PLACE"
"""Set where a cluster begins anew from its own repository, and goes on archiving there."""
NOTE = Path("/home/postgres/raft/restore")
COPY_NOTE = "copy"
"""The note of a copy that did not end (``base_copy.NOTE``), which lies there too."""
LEFT_OUT = ("standby.signal", "recovery.signal", "patroni.dynamic.json")
"""Files of the parent's that would make another server of it, or another cluster."""
AGAIN_S = 20.0
"""The wait after a failure, before the container ends and Swarm starts it again."""
DID_NOT_END = "it did not come to its end; the lines of the container before have the cause"
CLOCKS_DIFFER = timedelta(minutes=15)
"""Most that the clocks of a leader and of the repository differ: S3 refuses a request beyond it."""


@dataclass(frozen=True)
class Places:
    """The directories of a member, the note of a restore, and Barman's programs."""

    data: Path = DATA
    secrets: Path = SECRETS
    note: Path = NOTE
    programs: Path = PROGRAMS
    again_s: float = AGAIN_S


def restore_main() -> NoReturn:
    """`cluster-restore`: exit status 1 with one line when it failed."""
    sys.exit(run(os.environ, Places()))


def restored_main() -> NoReturn:
    """`cluster-restored`: the restore has ended; these data are the cluster's from now on."""
    remove_note(NOTE)
    print("cluster-restored: the cluster begins with what was restored", flush=True)
    sys.exit(0)


def run(environ: Mapping[str, str], places: Places) -> int:
    """Lay the base backup out, and return the exit status; the data directory of one that failed is
    empty again."""
    if any(places.data.iterdir()):
        print(
            f"cluster-restore: restored nothing: directory {places.data} is not empty; keep its "
            "volume, or deploy the cluster with volumes of its own",
            file=sys.stderr,
        )
        return 1
    remove_note(places.note.with_name(COPY_NOTE))  # it is of data that are gone
    write_note(places.note)
    try:
        restore(environ, places)
    except (RepositoryError, BarmanError, OSError) as error:
        empty(places.data)
        write_note(places.note, str(error))
        print(f"cluster-restore: restored nothing: {error}", file=sys.stderr, flush=True)
        time.sleep(places.again_s)
        return 1
    return 0


def restore(environ: Mapping[str, str], places: Places) -> None:
    """Choose the backup and lay it out; RepositoryError or BarmanError with the reason."""
    repository = read_repository(environ, places.secrets, PARENT)
    system = environ.get(SYSTEM_VARIABLE, "") or only_system(
        folders_in(repository, repository.folder, places.programs), repository.url
    )
    barman = Barman(repository, system, places.programs)
    if environ.get(IN_PLACE_VARIABLE):
        refuse_gaps(barman)
    else:
        refuse_used_archive(environ, places, system)
    chosen = chosen_backup(environ, barman)
    print(
        f"cluster-restore: restores base backup {chosen['id']}, which ended at {chosen['end']}, "
        f"of {repository.url}",
        flush=True,
    )
    barman.run("restore", arguments=[str(chosen["id"]), str(places.data)])
    for name in LEFT_OUT:
        (places.data / name).unlink(missing_ok=True)
    places.data.chmod(0o700)
    print(f"cluster-restore: restored base backup {chosen['id']}", flush=True)


def chosen_backup(environ: Mapping[str, str], barman: Barman) -> Mapping[str, Any]:
    """Return the base backup from which the target is reached, along the timeline that is wanted,
    or else the newest. RepositoryError or BarmanError with the reason."""
    target, url = environ.get(TARGET_VARIABLE, ""), barman.repository.url
    wanted = wanted_timeline(environ)
    fitting = reaching(barman, backups(barman), wanted or newest_timeline(barman))
    chosen = choose(fitting, target, environ.get(BACKUP_VARIABLE, ""), url)
    refuse_beyond((wanted and archive_end(barman, wanted)) or archive_end(barman), target, url)
    return chosen


def wanted_timeline(environ: Mapping[str, str]) -> int:
    """Return the timeline along which to recover; 0 for the newest. RepositoryError."""
    text = environ.get(TIMELINE_VARIABLE, "") or "0"
    if not re.fullmatch("[0-9]{1,9}", text):
        raise RepositoryError(f"environment variable {TIMELINE_VARIABLE} is not a timeline")
    return int(text)


def only_system(systems: Sequence[str], url: str) -> str:
    """Return the identifier of the one database system below a cluster's folder."""
    if not systems:
        raise RepositoryError(f"{url} has no backup; correct `cluster`, `bucket` or `prefix`")
    if len(systems) > 1:
        raise RepositoryError(
            f"{url} has several database systems ({', '.join(systems)}), each of a deployment "
            "under this name; write which of them in `system`"
        )
    return systems[0]


def refuse_used_archive(environ: Mapping[str, str], places: Places, system: str) -> None:
    """RepositoryError where the cluster's own archive has files of this database system: those of
    two clusters would overwrite each other's."""
    if not environ.get("BACKUP_URL"):
        return
    own = read_repository(environ, places.secrets, OWN)
    if folders_in(own, f"{own.folder}{system}/", places.programs):
        raise RepositoryError(
            f"{own.url} has WAL or backups of this database system already, which the new cluster "
            "would overwrite; give spec.backup another prefix"
        )


def choose(
    found: Sequence[Mapping[str, Any]], target: str, wanted: str, url: str
) -> Mapping[str, Any]:
    """Return the backup to begin with: the one that is named, else the newest from which the target
    can be reached. Of a restore point only its name is known: the oldest."""
    whole = [one for one in found if one["status"] == "DONE" and one["end"] is not None]
    if not whole:
        raise BarmanError(f"{url} has no whole base backup; nothing can be restored without one")
    kind, _, value = target.partition(" ")
    fitting = [one for one in whole if reaches(one, kind, value)]
    if wanted and wanted not in [one["id"] for one in whole]:
        known = ", ".join(str(one["id"]) for one in whole)
        raise BarmanError(f"there is no whole base backup {wanted}; those that there are: {known}")
    if wanted:
        fitting = [one for one in fitting if one["id"] == wanted]
    if not fitting:
        first, last = (
            f"{o['id']} (ended {o['end']}, WAL {o['end_wal']})" for o in (whole[0], whole[-1])
        )
        known = f"the only one is {first}"
        if len(whole) > 1:
            known = f"the first of {len(whole)} is {first}, the last {last}"
        raise BarmanError(
            f"target {kind} {value} is not covered, as no base backup ended before it; {known}"
        )
    return fitting[0] if kind == "name" else fitting[-1]


def reaches(backup: Mapping[str, Any], kind: str, value: str) -> bool:
    """Return True if a recovery from this backup can stop at the target."""
    if kind == "time":
        # The end is told without its fraction.
        return datetime.fromisoformat(backup["end"]) + timedelta(seconds=1) <= _moment(value)
    if kind == "lsn":
        return position_of(value) >= (number_of(str(backup["end_wal"])) + 1) * SEGMENT
    return True


def refuse_beyond(end: End | None, target: str, url: str) -> None:
    """BarmanError for a target that no WAL of the archive reaches. A file has no commit that is
    younger than the file; in which one a restore point is, only a recovery finds."""
    kind, _, value = target.partition(" ")
    if end is None:
        return
    if (kind == "lsn" and position_of(value) >= end.position) or (
        kind == "time" and _moment(value) > end.at + CLOCKS_DIFFER
    ):
        raise BarmanError(
            f"target {kind} {value} is not covered, as the archive {url} ends before it, with WAL "
            f"file {end.name}, archived at {end.at:%Y-%m-%dT%H:%M:%SZ}; take an earlier one, or "
            "leave the target out for the end of the archive"
        )


def unfinished(data: Path, note: Path) -> str:
    """Remove what a restore that has not ended left, and return why it ended; empty where there was
    none."""
    try:
        why = note.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    empty(data)
    return why or DID_NOT_END


def empty(directory: Path) -> None:
    """Remove all that is in a directory, which may be a volume's own."""
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def write_note(note: Path, why: str = "") -> None:
    """Write the note so that it outlasts a power cut; ``why`` is what the restore failed for."""
    part = note.with_name(f"{note.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(f"{why}\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(note)
    sync_directory(note.parent)


def remove_note(note: Path) -> None:
    """Remove the note for good: one that came back after a power cut would cost all data."""
    note.unlink(missing_ok=True)
    sync_directory(note.parent)


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise RepositoryError(f"environment variable {TARGET_VARIABLE} has no moment with its zone")
    return found
