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

from tests.e2e.swarm_facts import connect, read_secret
from tests.lab.lab import Lab

TABLE = "CREATE TABLE IF NOT EXISTS acknowledged (writer text, id bigint, PRIMARY KEY (writer, id))"


class Writer:
    """Inserts numbers, one each ``period_s``, through a node's port 5000 or, where ``members`` are
    nodes, at whichever of their members takes writes. A database knows each ``name`` once."""

    def __init__(
        self,
        lab: Lab,
        node: str,
        name: str,
        period_s: float = 0.02,
        members: Sequence[str] = (),
    ):
        self.name = name
        self.period_s = period_s
        self.rows: list[tuple[int, float]] = []
        self._where: dict[str, Any] = {
            "host": ",".join(lab.node(place).address for place in members or [node]),
            "port": 5432 if members else 5000,
            "target_session_attrs": "read-write" if members else "any",
            "user": "postgres",
            "password": read_secret(lab, "pg_superuser_pw"),
            "dbname": "postgres",
            "connect_timeout": 2,
            "options": "-c statement_timeout=4000",
            "tcp_user_timeout": 4000,
        }
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        with connect(lab, node) as connection:
            connection.execute(TABLE)

    def __enter__(self) -> Writer:
        self._thread.start()
        self.wait_for_a_write()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

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
        """When the row before the longest of those pauses was acknowledged (monotonic)."""
        moments = [at for _, at in list(self.rows)]
        gaps = [(later - at, at) for at, later in pairwise(moments) if later > since]
        return max(gaps, default=(0.0, 0.0))[1]

    def lost(self, lab: Lab, node: str) -> list[int]:
        """Rows that were acknowledged and that the present leader does not have."""
        with connect(lab, node) as connection:
            found = {
                row[0]
                for row in connection.execute(
                    "SELECT id FROM acknowledged WHERE writer = %s", [self.name]
                )
            }
        return [number for number, _ in self.rows if number not in found]


@contextmanager
def writing(lab: Lab, node: str, name: str) -> Iterator[Writer]:
    """A writer for the time of a block; at its end every acknowledged row is there."""
    with Writer(lab, node, name) as writer:
        yield writer
        writer.wait_for_a_write()
    assert not writer.lost(lab, node), f"acknowledged rows are gone: {writer.lost(lab, node)[:20]}"
