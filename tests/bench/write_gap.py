"""A writer that never gives up, and the longest time in which it did not succeed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import pairwise

import psycopg

from tests.e2e.swarm_facts import read_secret
from tests.lab.lab import Lab

PERIOD_S = 0.02
TABLE = "create table if not exists write_gap (at timestamptz default now())"


class Writer:
    """One insert each 20 ms, connected anew whenever a write fails.

    Several addresses stand for the members themselves: whichever of them takes writes is used.
    """

    def __init__(self, lab: Lab, addresses: Sequence[str], port: int) -> None:
        self._where = {
            "host": ",".join(addresses),
            "port": port,
            "user": "postgres",
            "password": read_secret(lab, "pg_superuser_pw"),
            "dbname": "postgres",
            "connect_timeout": 2,
            "target_session_attrs": "any" if len(addresses) == 1 else "read-write",
            "options": "-c synchronous_commit=on -c statement_timeout=5s",
        }
        self.successes: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        deadline = time.monotonic() + 30
        while len(self.successes) < 5:
            assert time.monotonic() < deadline, "the writer has never written"
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def gap_s(self, since: float) -> float:
        """The longest time between two successes, of which the later came after ``since``."""
        times = list(self.successes)
        return max(after - before for before, after in pairwise(times) if after >= since)

    def _write(self) -> None:
        connection: psycopg.Connection[tuple[object, ...]] | None = None
        due = time.monotonic()
        while not self._ended.is_set():
            try:
                if connection is None:
                    connection = psycopg.connect(**self._where, autocommit=True)  # type: ignore[arg-type]
                    connection.execute(TABLE)
                connection.execute("insert into write_gap default values")
                self.successes.append(time.monotonic())
            except psycopg.Error:
                if connection is not None:
                    connection.close()
                connection = None
            due = max(due + PERIOD_S, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()) if connection else PERIOD_S)
        if connection is not None:
            connection.close()
