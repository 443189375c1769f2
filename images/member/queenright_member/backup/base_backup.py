"""Programs for people and jobs: `base-backup`, `backup-list`, `base-restore`.

`base-backup` copies the data directory of the member in whose container (or beside whose volume) it
runs, from a replica as well as from the leader, waits until the archive has the WAL with which the
copy ends, and prints one line about what it made. With a moment in BACKUP_DUE it makes none if the
repository has one that began since, unless WAL that this one needs is lost; with BACKUP_KEEP_COUNT
or BACKUP_KEEP_DAYS, Barman then removes what these do not keep.
`backup-list` prints the backups, oldest first, each with `obsolete`: true if Barman would remove
it by the same variables; then how many there are, to standard error. `base-restore` lays one out in
an empty directory.
"""

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from . import unwaited_stop
from .archive import missing_wal, switch_wal
from .barman import PROGRAMS, Barman, BarmanError
from .repository import DATA, SECRETS, RepositoryError, read_repository, system_identifier

HOST_VARIABLE, PORT_VARIABLE = "BACKUP_HOST", "BACKUP_PORT"
SYSTEM_VARIABLE = "BACKUP_SYSTEM"
"""Identifier of the database system; by default that of the data directory."""
DUE_VARIABLE = "BACKUP_DUE"
KEEP_COUNT_VARIABLE, KEEP_DAYS_VARIABLE = "BACKUP_KEEP_COUNT", "BACKUP_KEEP_DAYS"
SUPERUSER, PASSWORD_FILE = "postgres", "pg_superuser_pw"
CLOCKS_DIFFER = timedelta(minutes=5)
SOCKETS = "/var/run/postgresql"
WORDS = ("id", "begin", "end", "begin_wal", "end_wal", "bytes")
"""The lines about a backup that was made."""
ARCHIVE_SIZE = "20GB"
"""The size at which Barman begins another archive. The parts of an upload depend on it: of
those Barman keeps five in temporary files, with this 5 MB each, by its own default 20."""
ARCHIVED_S, AGAIN_S = 600.0, 2.0
"""The longest wait for the WAL with which a base backup ends, and the pauses in it."""


@dataclass(frozen=True)
class Places:
    """The directories of a member, and Barman's programs."""

    data: Path = DATA
    secrets: Path = SECRETS
    programs: Path = PROGRAMS
    scratch: Path | None = None
    archived_s: float = ARCHIVED_S
    again_s: float = AGAIN_S


def backup_main() -> NoReturn:
    """`base-backup`: make one; exit status 1 with one line when it failed."""
    sys.exit(run("base-backup", sys.argv[1:], os.environ, Places()))


def list_main() -> NoReturn:
    """`backup-list`: print the backups as JSON, one a line."""
    sys.exit(run("backup-list", sys.argv[1:], os.environ, Places()))


def restore_main() -> NoReturn:
    """`base-restore BACKUP DIRECTORY`: lay a backup out in an empty directory."""
    sys.exit(run("base-restore", sys.argv[1:], os.environ, Places()))


def run(program: str, arguments: Sequence[str], environ: Mapping[str, str], places: Places) -> int:
    """Run one of the programs, and return its exit status."""
    try:
        match program, arguments:
            case "base-backup", []:
                back_up(environ, places)
            case "backup-list", []:
                list_backups(environ, places)
            case "base-restore", [wanted, directory]:
                restore(wanted, Path(directory), environ, places)
            case _:
                usage = f"{program} BACKUP DIRECTORY" if program == "base-restore" else program
                print(f"usage: {usage}", file=sys.stderr)
                return 1
    except (RepositoryError, BarmanError, OSError) as error:
        failed = {"base-backup": "failed", "base-restore": "restored nothing"}
        print(f"{program}: {failed.get(program, 'got no answer')}: {error}", file=sys.stderr)
        return 1
    return 0


def back_up(environ: Mapping[str, str], places: Places) -> None:
    """Make a base backup, unless one was made since it was due, and print a line about it as soon
    as it can be restored; then remove what is not kept."""
    barman, due, kept = _barman(environ, places), _due(environ), _retention(environ)
    before = backups(barman)
    last = next((one for one in reversed(before) if _is_since(one, due)), None)
    if last is None or _lost_wal(barman, last, environ, places):
        last = _make(barman, before, environ, places)
        if lost := _lost_wal(barman, last, environ, places):
            raise BarmanError(
                f"base backup {last['id']} can't be restored (WAL file {lost}, which it needs, was "
                "not archived before the leader changed); begin the backup again"
            )
    words = " ".join(f"{key}={last[key]}" for key in WORDS)
    print(f"backed up {words}", flush=True)
    if not kept:
        return
    try:
        barman.run("backup-delete", kept)
    except BarmanError as error:
        print(f"removed nothing: {error}", flush=True)


def _make(
    barman: Barman, before: list[dict[str, Any]], environ: Mapping[str, str], places: Places
) -> dict[str, Any]:
    """Make a base backup and return what the repository has of it."""
    host, port = _server(environ)
    with password_file(places.secrets, places.scratch) as environment:
        options = [
            *barman.repository.upload_options,
            "--immediate-checkpoint",
            f"--max-archive-size={ARCHIVE_SIZE}",
            f"--host={host}",
            f"--port={port}",
            f"--user={SUPERUSER}",
            "--dbname=postgres",
        ]
        if places.scratch is not None:
            environment["TMPDIR"] = str(places.scratch)
        barman.run("backup", options, environment=environment, program=unwaited_stop.PROGRAM)
    known = {backup["id"] for backup in before}
    made = [backup for backup in backups(barman) if backup["id"] not in known]
    if not made or made[-1]["status"] != "DONE":
        raise BarmanError("Barman made none, and gave no reason; see the repository")
    return made[-1]


def _lost_wal(
    barman: Barman, backup: Mapping[str, Any], environ: Mapping[str, str], places: Places
) -> str:
    """Return empty as soon as the archive has all WAL from the begin of a base backup to its end:
    without that it can't be restored. Return a file that does not come any more; BarmanError with
    one that is not there in time."""
    server = (*_server(environ), SUPERUSER)
    deadline = time.monotonic() + places.archived_s
    with password_file(places.secrets, places.scratch) as environment:
        while (lacking := missing_wal(barman, backup)) is not None:
            if lacking.is_lost:
                return lacking.name
            if time.monotonic() >= deadline:
                raise BarmanError(
                    f"base backup {backup['id']} can't be restored (WAL file {lacking.name}, which "
                    f"it needs, is not in {barman.repository.place} after "
                    f"{places.archived_s:.0f} s); see that the leader archives"
                )
            switch_wal(barman, backup, server, {**os.environ, **environment})
            time.sleep(places.again_s)
    return ""


@contextmanager
def password_file(secrets: Path, scratch: Path | None) -> Iterator[dict[str, str]]:
    """A file with the superuser's password while it is needed; the variables that name it."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        pgpass = Path(directory) / "pgpass"
        pgpass.touch(mode=0o600)
        pgpass.write_text(f"*:*:*:*:{_password(secrets)}\n", encoding="utf-8")
        yield {"PGPASSFILE": str(pgpass)}


def _server(environ: Mapping[str, str]) -> tuple[str, str]:
    return environ.get(HOST_VARIABLE, SOCKETS), environ.get(PORT_VARIABLE, "5432")


def list_backups(environ: Mapping[str, str], places: Places) -> None:
    """Print the backups, one JSON object a line, oldest first; then their number, by which a reader
    knows that the list is whole."""
    barman, kept = _barman(environ, places), _retention(environ)
    found = backups(barman)
    obsolete = _obsolete(barman, kept) if kept and found else set()
    for backup in found:
        is_obsolete = None if obsolete is None else backup["id"] in obsolete
        print(json.dumps({**backup, "obsolete": is_obsolete}))
    sys.stdout.flush()
    print(f"listed {len(found)} base backups", file=sys.stderr)


def _obsolete(barman: Barman, kept: list[str]) -> set[str] | None:
    """Return the backups that Barman would remove; None where it does not say."""
    try:
        said = barman.run("backup-delete", [*kept, "--dry-run"]) or ""
    except BarmanError:
        return None
    return set(re.findall(r"/base/([^/'\s]+)/backup\.info'", said))


def restore(wanted: str, directory: Path, environ: Mapping[str, str], places: Places) -> None:
    """Lay a backup out in an empty directory; `latest` is the newest that is whole."""
    if directory.exists() and any(directory.iterdir()):
        raise BarmanError(f"directory {directory} is not empty; name an empty one")
    barman = _barman(environ, places)
    whole = [backup["id"] for backup in backups(barman) if backup["status"] == "DONE"]
    if wanted == "latest" and whole:
        wanted = whole[-1]
    if wanted not in whole:
        known = ", ".join(whole) or "none"
        raise BarmanError(f"there is no whole backup {wanted}; those that there are: {known}")
    barman.run("restore", arguments=[wanted, str(directory)])
    directory.chmod(0o700)
    print(f"restored {wanted} to {directory}")


def backups(barman: Barman) -> list[dict[str, Any]]:
    """Return what the repository has of this database system, oldest first."""
    found = json.loads(barman.run("backup-list", ["--format=json"]) or "{}")
    return [
        {
            "id": backup["backup_id"],
            "status": backup["status"],
            "begin": _moment(backup.get("begin_time_iso")),
            "end": _moment(backup.get("end_time_iso")),
            "timeline": backup["timeline"],
            "begin_wal": backup["begin_wal"],
            "end_wal": backup["end_wal"],
            "end_lsn": backup.get("end_xlog"),
            # Barman's cloud commands fill in no size of what is stored, but that of the databases.
            "bytes": backup.get("size") or backup.get("cluster_size") or 0,
            "error": backup["error"],
        }
        for backup in sorted(found.get("backups_list", []), key=lambda one: str(one["backup_id"]))
    ]


def _is_since(backup: Mapping[str, Any], due: datetime | None) -> bool:
    """Return True for a whole backup that began at this moment or later; one that began in the
    future, by a clock that was wrong, counts for nothing."""
    if due is None or backup["status"] != "DONE" or backup["begin"] is None:
        return False
    now = datetime.now(UTC)  # noqa: TID251  # a program of its own, without ports
    return due <= datetime.fromisoformat(backup["begin"]) <= now + CLOCKS_DIFFER


def _due(environ: Mapping[str, str]) -> datetime | None:
    text = environ.get(DUE_VARIABLE, "")
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        found = None
    if text and (found is None or found.tzinfo is None):
        raise RepositoryError(f"environment variable {DUE_VARIABLE} is not a moment with its zone")
    return found


def _retention(environ: Mapping[str, str]) -> list[str]:
    """Return Barman's options for what is kept; none where everything is."""
    count, days = (environ.get(name, "") for name in (KEEP_COUNT_VARIABLE, KEEP_DAYS_VARIABLE))
    for name, text in ((KEEP_COUNT_VARIABLE, count), (KEEP_DAYS_VARIABLE, days)):
        if text and (not re.fullmatch("[0-9]{1,6}", text) or int(text) < 1):
            raise RepositoryError(f"environment variable {name} is not a number from 1 on")
    if not count and not days:
        return []
    policy = f"RECOVERY WINDOW OF {days} DAYS" if days else f"REDUNDANCY {count}"
    return [f"--minimum-redundancy={count or 1}", f"--retention-policy={policy}"]


def _moment(text: object) -> str | None:
    """Return a moment of Barman's in UTC, to the second."""
    if not isinstance(text, str):
        return None
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _barman(environ: Mapping[str, str], places: Places) -> Barman:
    repository = read_repository(environ, places.secrets)
    server = environ.get(SYSTEM_VARIABLE) or system_identifier(places.data)
    return Barman(repository, server, places.programs)


def _password(secrets: Path) -> str:
    """Return the superuser's password as a password file writes it."""
    try:
        text = (secrets / PASSWORD_FILE).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise RepositoryError(f"secret {PASSWORD_FILE} cannot be read: {error.strerror}") from None
    return text.replace("\\", "\\\\").replace(":", "\\:")
