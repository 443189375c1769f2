"""A client that writes through a proxy without rest: every row that was acknowledged, and when.

It stands in the same network as any client, keeps one connection, and opens a new one at once when
that breaks. Afterwards the database is asked for every row that it acknowledged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import psycopg

from tests.e2e.swarm_facts import connect, eventually, read_secret
from tests.lab.lab import Lab

STALL_S = 1.5
"""A shared machine lets a writer pause for up to this. Where the leader moves or restarts, the
pause is longer: 1.8 s and more, since the proxies ask every 3 s (spec: database-cluster §4.2)."""
TABLE = "CREATE TABLE IF NOT EXISTS acknowledged (writer text, id bigint, PRIMARY KEY (writer, id))"


class Writer:
    """Inserts numbers, one each ``period_s``, through a node's port 5000, or that of the first of
    ``entries`` that answers; or, where ``members`` are nodes, at whichever of their members takes
    writes. ``name`` need not be unique: another writer's numbers are not mistaken for its own."""

    def __init__(
        self,
        lab: Lab,
        node: str,
        name: str,
        period_s: float = 0.02,
        members: Sequence[str] = (),
        *,
        entries: Sequence[str] = (),
    ):
        self.name = f"{name} {time.time_ns()}"
        self.period_s = period_s
        self.rows: list[tuple[int, float]] = []
        self._where: dict[str, Any] = {
            "host": ",".join(lab.node(place).address for place in members or entries or [node]),
            "port": 5432 if members else 5000,
            "target_session_attrs": "read-write" if members else "any",
            "user": "postgres",
            "password": read_secret(lab, "pg_superuser_pw"),
            "dbname": "postgres",
            "connect_timeout": 2,
            "options": "-c statement_timeout=4000",
            "tcp_user_timeout": 4000,
            # A server that dies after it has received a statement is found out only by these.
            "keepalives_idle": 3,
            "keepalives_interval": 1,
            "keepalives_count": 3,
        }
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        eventually(lambda: self._makes_table(lab, node), f"{node}:5000 to lead to the leader")

    def __enter__(self) -> Writer:
        self._thread.start()
        self.wait_for_a_write()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

    @staticmethod
    def _makes_table(lab: Lab, node: str) -> bool:
        """False while the proxy has not found the leader of an earlier test's last move: it leads
        nowhere, or to the former one until its checks have failed."""
        try:
            with connect(lab, node) as connection:
                connection.execute(TABLE)
        except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction):
            return False
        return True

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            try:
                with psycopg.connect(**self._where, autocommit=True) as connection:
                    while not self._stop.is_set():
                        number += 1
                        began = time.monotonic()
                        connection.execute(
                            "INSERT INTO acknowledged VALUES (%s, %s)", [self.name, number]
                        )
                        self.rows.append((number, time.monotonic()))
                        self._stop.wait(max(0.0, began + self.period_s - time.monotonic()))
            except psycopg.Error:
                self._stop.wait(0.01)

    def wait_for_a_write(self, timeout_s: float = 60) -> float:
        """Seconds until the next row is acknowledged."""
        began, known = time.monotonic(), len(self.rows)
        while len(self.rows) == known:
            assert time.monotonic() - began < timeout_s, f"no write within {timeout_s} s"
            time.sleep(0.005)
        return time.monotonic() - began

    def gaps_s(self, since: float = 0.0, longer_than_s: float = 0.5) -> list[float]:
        """Each pause between two acknowledged rows that ended after ``since`` (monotonic)."""
        moments = [at for _, at in list(self.rows)]
        pauses = (later - earlier for earlier, later in pairwise(moments) if later > since)
        return [pause for pause in pauses if pause > longer_than_s]

    def longest_gap_s(self, since: float = 0.0) -> float:
        return max(self.gaps_s(since, 0.0), default=0.0)

    def before_longest_gap(self, since: float = 0.0) -> float:
        """Return the acknowledgement time (monotonic) of the row before the longest pause."""
        moments = [at for _, at in list(self.rows)]
        gaps = [(later - at, at) for at, later in pairwise(moments) if later > since]
        return max(gaps, default=(0.0, 0.0))[1]

    def lost(self, lab: Lab, node: str) -> list[int]:
        """Return the rows acknowledged before this call that the present leader does not have."""
        # The writer may still write: a row acknowledged after the query is not a lost one.
        acknowledged = [number for number, _ in list(self.rows)]
        what = f"{node}:5000 to lead to the leader"
        (found,) = eventually(lambda: self._found(lab, node), what, timeout_s=60)
        return [number for number in acknowledged if number not in found]

    def _found(self, lab: Lab, node: str) -> tuple[set[int]] | None:
        """The numbers that the leader has, as the only item; None while this node's proxy has not
        found it, though the proxy through which the writer goes on has."""
        try:
            with connect(lab, node) as connection:
                asked = "SELECT id FROM acknowledged WHERE writer = %s"
                return ({row[0] for row in connection.execute(asked, [self.name])},)
        except psycopg.OperationalError:
            return None


@contextmanager
def writing(lab: Lab, node: str, name: str, entries: Sequence[str] = ()) -> Iterator[Writer]:
    """A writer for the time of a block, of 20 rows a second; at its end every acknowledged row is
    there."""
    with Writer(lab, node, name, 0.05, entries=entries) as writer:
        yield writer
        writer.wait_for_a_write()
    assert not writer.lost(lab, node), f"acknowledged rows are gone: {writer.lost(lab, node)[:20]}"


def drop_table(connection: psycopg.Connection[tuple[Any, ...]]) -> tuple[str, int]:
    """Drop the table of all writers; return a moment a second before, and the leader's timeline."""
    moment, timeline = connection.execute(
        "SELECT clock_timestamp()::text, timeline_id FROM pg_control_checkpoint()"
    ).fetchall()[0]
    time.sleep(1.0)
    connection.execute("DROP TABLE acknowledged")
    return moment, timeline
