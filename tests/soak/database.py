"""The database that the clients write to, as the proxies on some nodes lead to its leader."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import psycopg

from tests.lab.lab import Lab
from tests.soak.clients import TABLE


class Database:
    """``nodes`` are those with a proxy; the user is the superuser, with its ``password``."""

    def __init__(self, lab: Lab, nodes: Iterable[str], password: str) -> None:
        self.nodes = tuple(nodes)
        self.password = password
        self._lab = lab

    def present(self) -> set[tuple[str, int]]:
        """Return the rows at the leader; AssertionError if no proxy leads there for a minute."""
        last: psycopg.Error | None = None
        for _ in range(60):
            for node in self.nodes:
                try:
                    with self.connect(node) as connection:
                        return set(connection.execute("SELECT client, id FROM soak").fetchall())
                except psycopg.Error as error:
                    last = error
            time.sleep(1)
        raise AssertionError(f"no proxy leads to the leader ({last})")

    def makes_table(self) -> bool:
        """Return True once the first node's proxy has led to the leader, where the table is."""
        try:
            with self.connect(self.nodes[0]) as connection:
                connection.execute(TABLE)
        except psycopg.Error:
            return False
        return True

    def connect(self, node: str) -> psycopg.Connection[tuple[Any, ...]]:
        """Return a connection through a node's proxy."""
        return psycopg.connect(
            host=self._lab.node(node).address,
            port=5000,
            user="postgres",
            dbname="postgres",
            password=self.password,
            connect_timeout=3,
        )
