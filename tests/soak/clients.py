"""Clients that write without rest, and keep each row that the server acknowledged."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg

from tests.soak.judge import Acknowledged

TABLE = "CREATE TABLE IF NOT EXISTS soak (client text, id bigint, PRIMARY KEY (client, id))"
INSERT = """INSERT INTO soak VALUES (%s, %s)
RETURNING ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int,
pg_postmaster_start_time()::text"""
"""The row, and the timeline and the start of the server that takes it."""
PERIOD_S = 0.05
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_LIBC = ctypes.CDLL(None, use_errno=True)


class Client(threading.Thread):
    """Inserts numbers at one address; a new connection follows at once when one breaks.

    With ``netns`` it stands on that node itself, where it reaches the node's member even while the
    node is cut off. A member that is a replica is asked until it is one no more.
    """

    def __init__(self, name: str, where: Mapping[str, Any], netns: Path | None = None) -> None:
        super().__init__(name=name, daemon=True)
        self.told: list[Acknowledged] = []
        self._netns = netns
        self._where = {
            "user": "postgres",
            "dbname": "postgres",
            "connect_timeout": 2,
            "tcp_user_timeout": 6000,
            "keepalives_idle": 3,
            "keepalives_interval": 1,
            "keepalives_count": 3,
            **where,
        }
        self._ended = threading.Event()
        self._number = 0

    def end(self) -> None:
        self._ended.set()

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._enter()
                with psycopg.connect(**self._where, autocommit=True) as connection:
                    self._write(connection)
            except (psycopg.Error, OSError):
                self._ended.wait(0.1)

    def _enter(self) -> None:
        """Move this thread into the node's network; a node that is off has none."""
        if self._netns is None:
            return
        descriptor = os.open(self._netns, os.O_RDONLY)
        try:
            if _LIBC.setns(descriptor, _NEW_NETWORK) != 0:
                raise OSError(ctypes.get_errno(), f"{self._netns}: could not be entered")
        finally:
            os.close(descriptor)

    def _write(self, connection: psycopg.Connection[Any]) -> None:
        warnings: list[str] = []
        connection.add_notice_handler(lambda notice: warnings.append(notice.message_primary or ""))
        while not self._ended.is_set():
            if self._netns is not None and self._is_replica(connection):
                self._ended.wait(4 * PERIOD_S)
                continue
            self._number += 1
            found = connection.execute(INSERT, [self.name, self._number]).fetchone()
            if found is not None and not warnings:
                self.told.append(Acknowledged(self.name, self._number, monotonic(), *found))
            warnings.clear()
            self._ended.wait(PERIOD_S)

    @staticmethod
    def _is_replica(connection: psycopg.Connection[Any]) -> bool:
        found = connection.execute("SELECT pg_is_in_recovery()").fetchone()
        return found is None or bool(found[0])
