"""Program for a job: `backup-drill` restores the latest base backup and all WAL, and checks them.

It lays the backup out in an empty directory of its own, recovers to the end of the archive, checks
that the WAL file in DRILL_WAL was reached, runs `pg_amcheck` on every database, and prints one line
with what it measured. Invariant: it touches no member. The server listens on no TCP port, archives
nothing, replicates nothing, and reads none of the member's configuration files.
"""

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .barman import PROGRAMS, Barman, BarmanError
from .base_backup import SYSTEM_VARIABLE, backups
from .cluster_restore import LEFT_OUT, empty
from .drill_server import DrillServer, DrillServerError
from .repository import DATA, SECRETS, RepositoryError, read_repository
from .timelines import newest_timeline, reaching

BACKUP_VARIABLE = "DRILL_BACKUP"
"""The base backup that was made last: one as new has to be there."""
WAL_VARIABLE = "DRILL_WAL"
"""The WAL file that the leader had archived last when the drill began."""
CANARY_VARIABLE = "DRILL_CANARY"
"""Database of the canary; empty where it is off."""
RESTORE_COMMAND = "wal-restore %f %p"
_SEGMENT = re.compile(r"[0-9A-F]{24}(\.[0-9A-F]{8}\.backup)?")
_POINT_SQL = """SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_replay_lsn(), '0/0'),
  pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size')),
  pg_catalog.to_char(pg_catalog.pg_last_xact_replay_timestamp() AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  (SELECT pg_catalog.sum(pg_catalog.pg_database_size(oid)) FROM pg_catalog.pg_database),
  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_database WHERE datallowconn)"""
_TABLE_SQL = "SELECT pg_catalog.to_regclass('public.beat')"
_CANARY_SQL = """SELECT pg_catalog.to_char(pg_catalog.max(at) AT TIME ZONE 'UTC',
  'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM public.beat"""


@dataclass(frozen=True)
class Places:
    """The drill's directories, Barman's programs, and PostgreSQL's where the path has them not."""

    data: Path = DATA
    secrets: Path = SECRETS
    programs: Path = PROGRAMS
    scratch: Path = Path("/tmp")  # the job's tmpfs
    postgresql: Path | None = None
    restore_command: str = RESTORE_COMMAND


class DrillError(Exception):
    """The backup can't be restored, or is not whole; the message is one line."""


def main() -> NoReturn:
    """`backup-drill`: exit status 1 with one line when it failed."""
    sys.exit(run(sys.argv[1:], os.environ, Places()))


def run(arguments: Sequence[str], environ: Mapping[str, str], places: Places) -> int:
    """Make the drill, and return the exit status."""
    if arguments:
        print("usage: backup-drill", file=sys.stderr)
        return 1
    try:
        drill(environ, places)
    except (RepositoryError, BarmanError, DrillServerError, DrillError, OSError) as error:
        print(f"backup-drill: failed: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def drill(environ: Mapping[str, str], places: Places) -> None:
    """Make the drill in an empty directory, which is empty again afterwards."""
    if not (system := environ.get(SYSTEM_VARIABLE, "")):
        raise RepositoryError(f"environment variable {SYSTEM_VARIABLE} is empty or unset")
    if any(places.data.iterdir()):
        raise DrillError(f"directory {places.data} is not empty; nothing is restored over data")
    barman = Barman(read_repository(environ, places.secrets), system, places.programs)
    try:
        restore_and_check(barman, environ, places)
    finally:
        empty(places.data)


def restore_and_check(barman: Barman, environ: Mapping[str, str], places: Places) -> None:
    """Restore into the empty directory, recover, check, and print a line about it."""
    begun = time.monotonic()
    found = reaching(barman, backups(barman), newest_timeline(barman))
    backup = latest(found, environ.get(BACKUP_VARIABLE, ""), barman.repository.url)
    print(f"backup-drill: restores base backup {backup['id']}", flush=True)
    lay_out(barman, str(backup["id"]), places.data)
    took_s = time.monotonic() - begun
    print(f"backup-drill: laid it out in {took_s:.0f} s, and replays the WAL", flush=True)
    server = DrillServer(places.data, places.scratch, places.postgresql, places.restore_command)
    with server.recovered():
        took_s = time.monotonic() - begun
        position, segment, reached, size, databases = server.row(_POINT_SQL)
        wal = environ.get(WAL_VARIABLE, "")
        check_reached(int(position or 0), int(segment), wal)
        print(f"backup-drill: checks {databases} databases", flush=True)
        if damage := server.damage():
            raise DrillError(f"base backup {backup['id']}: pg_amcheck found damage: {damage}")
        canary = environ.get(CANARY_VARIABLE, "")
        is_there = canary and server.has(canary) and server.row(_TABLE_SQL, canary)[0]
        beat = server.row(_CANARY_SQL, canary)[0] if is_there else ""
    print(
        f"proved backup={backup['id']} seconds={took_s:.0f} bytes={size} databases={databases} "
        f"reached={reached or 'None'} canary={beat or 'None'}",
        flush=True,
    )


def latest(found: Sequence[Mapping[str, Any]], noted: str, url: str) -> Mapping[str, Any]:
    """Return the newest whole backup; DrillError where it is older than the one that was noted."""
    whole = [one for one in found if one["status"] == "DONE"]
    if not whole:
        raise DrillError(f"{url} has no whole base backup; nothing can be restored without one")
    if noted and str(whole[-1]["id"]) < noted:
        raise DrillError(
            f"base backup {noted} was made, and {url} has it no more; the newest that is whole is "
            f"{whole[-1]['id']}"
        )
    return whole[-1]


def lay_out(barman: Barman, backup: str, data: Path) -> None:
    """Restore a base backup's files without those that would make a member of it."""
    try:
        barman.run("restore", arguments=[backup, str(data)])
    except BarmanError as error:
        raise DrillError(f"base backup {backup} is not restored: {error}") from None
    for name in (*LEFT_OUT, "postgresql.auto.conf"):
        (data / name).unlink(missing_ok=True)
    data.chmod(0o700)
    (data / "recovery.signal").touch()


def check_reached(position: int, segment: int, wal: str) -> None:
    """DrillError where the recovery ended before a file that the archive had; ``position`` is the
    end of the last record that was replayed, in bytes."""
    if not _SEGMENT.fullmatch(wal):
        return
    start = (int(wal[8:16], 16) << 32) + int(wal[16:24], 16) * segment
    if position < start:
        at = position // segment * segment
        name = f"{wal[:8]}{at >> 32:08X}{(at & 0xFFFFFFFF) // segment:08X}"
        raise DrillError(
            f"the recovery ended at {position >> 32:X}/{position & 0xFFFFFFFF:X}, before WAL file "
            f"{wal[:24]}, which was archived when the drill began; WAL file {name} (or that of a "
            "former timeline) is missing in the repository or damaged"
        )
