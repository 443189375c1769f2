"""Asks the leader what a new replica has to follow: its timeline, and where its WAL begins.

The slot that Patroni keeps for a member on the leader says from where on the leader has all WAL for
it; what is older has to be in the archive.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .archive import left_in, position_of
from .barman import BarmanError

TIMEOUT_S = 40.0
_ASK = """import json, sys, psycopg2
dsn, user, slot = sys.argv[1:]
def connected(**place):
    found = psycopg2.connect(dsn, user=user, dbname="postgres", connect_timeout=10, **place)
    found.autocommit = True
    return found.cursor()
def value(statement, *values):
    cursor.execute(statement, values)
    found = cursor.fetchone()
    return found and found[0]
cursor = connected()
cursor.execute("SELECT sender_host, sender_port FROM pg_catalog.pg_stat_wal_receiver")
if sender := cursor.fetchone():
    cursor = connected(host=sender[0], port=sender[1])
cursor.execute("SELECT name, pg_catalog.pg_read_file('pg_wal/' || name) "
    "FROM pg_catalog.pg_ls_dir('pg_wal') AS name WHERE name ~ '^[0-9A-F]{8}[.]history$'")
print(json.dumps({
    "histories": dict(cursor.fetchall()),
    "system": str(value("SELECT system_identifier FROM pg_catalog.pg_control_system()")),
    "timeline": value("SELECT pg_catalog.substr(pg_catalog.pg_walfile_name("
        "pg_catalog.pg_current_wal_lsn()), 1, 8)"),
    "slot": value("SELECT restart_lsn::text FROM pg_catalog.pg_replication_slots "
        "WHERE slot_name = %s", slot),
}))
"""


@dataclass(frozen=True)
class Leader:
    """The leader's database system and timeline, the text of the history files that it has, and the
    position from which it keeps its WAL for the member; None where it does not."""

    system: str
    timeline: int
    kept_from: int | None
    histories: Mapping[str, str] = field(default_factory=dict)

    @property
    def left(self) -> dict[int, int]:
        """Return the positions at which the former timelines were left."""
        return left_in(self.histories.get(history_of(self.timeline), ""))


@dataclass(frozen=True)
class Question:
    """Asks the leader by a connection string to it or to a replica of it, as a user, with the
    variables of the password file, for the member's slot, by the Python that has the library."""

    dsn: str
    user: str
    environment: Mapping[str, str]
    slot: str
    python: Path

    def ask(self) -> Leader:
        """Return what the leader says. BarmanError."""
        line = [str(self.python), "-I", "-c", _ASK, self.dsn, self.user, self.slot]
        try:
            done = subprocess.run(
                line,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
            found = json.loads(done.stdout or "null") if done.returncode == 0 else None
        except (subprocess.TimeoutExpired, ValueError):
            found = None
        if not isinstance(found, dict):
            raise BarmanError("the leader does not answer; see that it takes connections")
        slot = found["slot"]
        return Leader(
            found["system"],
            int(found["timeline"], 16),
            None if slot is None else position_of(slot),
            found["histories"],
        )

    def ask_until_kept(self, wait_s: float, again_s: float) -> Leader:
        """Return what the leader says as soon as it keeps WAL for the member, for which Patroni
        makes the slot in its next round. BarmanError where it does not in time."""
        deadline = time.monotonic() + wait_s
        while (found := self.ask()).kept_from is None:
            if time.monotonic() >= deadline:
                raise BarmanError(
                    f"the leader keeps no WAL for this member (no replication slot {self.slot}); "
                    "see that Patroni makes slots (`use_slots`)"
                )
            time.sleep(again_s)
        return found


def history_of(timeline: int) -> str:
    """Return the name of a timeline's history file."""
    return f"{timeline:08X}.history"


def slot_of(member: str) -> str:
    """Return the name of the slot that Patroni keeps for a member."""
    dashes = re.sub(r"[-.]", "_", member.lower())
    return re.sub(r"[^a-z0-9_]", lambda found: f"u{ord(found[0]):04d}", dashes)[:63]
