"""Program for a job: `restore-check` says if the repository covers a restore, before that begins.

It runs beside a member. It asks the leader to finish its WAL file and waits until the archive has
that, so that all that was committed before can be restored; then it chooses the base backup as
`cluster-restore` does, and prints one JSON line about it. It changes nothing in the repository.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .archive import SEGMENT, archive_end, lsn_of, position_of
from .barman import PROGRAMS, Barman, BarmanError
from .base_backup import HOST_VARIABLE, PORT_VARIABLE, SUPERUSER, password_file
from .cluster_restore import chosen_backup, wanted_timeline
from .repository import DATA, SECRETS, RepositoryError, read_repository, system_identifier
from .timelines import newest_timeline, refuse_gaps

ARCHIVED_S, AGAIN_S, SWITCH_S = 90.0, 1.0, 30.0
"""The longest wait for the WAL file that the leader finishes, the pauses in it, and the time limit
of that request."""
_SWITCH = """import sys, psycopg2
host, port, user = sys.argv[1:]
found = psycopg2.connect(host=host, port=port, user=user, dbname="postgres", connect_timeout=10)
found.autocommit = True
cursor = found.cursor()
cursor.execute("SELECT pg_catalog.pg_switch_wal(), "
    "pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8)")
print(*cursor.fetchone())
"""


@dataclass(frozen=True)
class Places:
    """The directories of a member, and Barman's programs."""

    data: Path = DATA
    secrets: Path = SECRETS
    programs: Path = PROGRAMS
    scratch: Path | None = None
    archived_s: float = ARCHIVED_S


def main() -> NoReturn:
    """`restore-check`: exit status 1 with one line where the target is not covered."""
    sys.exit(run(os.environ, Places()))


def run(environ: Mapping[str, str], places: Places) -> int:
    """Print what would be restored, and return the exit status."""
    try:
        print(json.dumps(check(environ, places)), flush=True)
    except (RepositoryError, BarmanError, OSError) as error:
        print(f"restore-check: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def check(environ: Mapping[str, str], places: Places) -> dict[str, Any]:
    """Return the base backup, the timeline, and the archive's end. RepositoryError or BarmanError
    with the reason for which nothing can be restored."""
    repository = read_repository(environ, places.secrets)
    barman = Barman(repository, system_identifier(places.data), places.programs)
    refuse_gaps(barman)
    if environ.get(HOST_VARIABLE):
        finish_file(environ, barman, places)
    chosen = chosen_backup(environ, barman)
    timeline = wanted_timeline(environ) or newest_timeline(barman)
    end = archive_end(barman, timeline)
    return {
        "system": barman.server,
        "base": chosen["id"],
        "ended": chosen["end"],
        "timeline": timeline,
        "archived_to": lsn_of(end.position) if end else None,
        "archived_at": end.at.strftime("%Y-%m-%dT%H:%M:%SZ") if end else None,
    }


def finish_file(environ: Mapping[str, str], barman: Barman, places: Places) -> None:
    """Have the leader finish its WAL file, and wait until the archive has that. BarmanError."""
    host, port = environ.get(HOST_VARIABLE, ""), environ.get(PORT_VARIABLE, "5432")
    line = [str(barman.programs / "python"), "-I", "-c", _SWITCH, host, port, SUPERUSER]
    with password_file(places.secrets, places.scratch) as environment:
        try:
            done = subprocess.run(
                line,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SWITCH_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BarmanError(f"the leader at {host}:{port} does not answer; try again") from None
    position, _, timeline = done.stdout.strip().partition(" ")
    if done.returncode != 0 or not re.fullmatch("[0-9A-F]{8}", timeline):
        raise BarmanError(
            f"the leader at {host}:{port} does not finish its WAL file; see that it takes "
            "connections, and try again"
        )
    deadline = time.monotonic() + places.archived_s
    finished = -(-position_of(position) // SEGMENT) * SEGMENT
    while (end := archive_end(barman, int(timeline, 16))) is None or end.position < finished:
        if time.monotonic() >= deadline:
            raise BarmanError(
                f"the archive has no WAL up to {lsn_of(finished)} after {places.archived_s:.0f} s; "
                "see that the leader archives (`queenright status`)"
            )
        time.sleep(AGAIN_S)
