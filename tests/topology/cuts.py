"""Losses of power on the lab while an edit of the members is carried out: one after each step.

After each action of the operator a random member's node loses power for a while. What the operator
does meanwhile passes without a loss of its own: one node is off at a time.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg

from tests.e2e.membership import leading
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import eventually, patroni
from tests.lab.lab import Lab
from tests.lab.settings import LabError
from tests.soak.database import Database
from tests.topology.bound import Cut, Row
from tests.topology.script import MANAGER

AWAY_S = 25.0
"""Longer than the lock lives, as in the simulation (`tests/sim/test_topology_boundaries.py`)."""
BACK_S = 120.0
SERVING = ("running", "streaming")
"""States of a member that has rows of its own to read."""
APPLIED = "SELECT NOT pg_is_in_recovery() OR pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn()"


@dataclass
class Cutting:
    """``members`` are the nodes of all members that may be there in the edit, by their names;
    ``failed`` is the reason why it ended early."""

    lab: Lab
    operator: RunningOperator
    database: Database
    members: Mapping[str, str]
    rng: random.Random
    cuts: list[Cut] = field(default_factory=list)
    failed: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        seen = len(self.operator.audit("outcome"))
        try:
            while not self.ended.wait(0.2):
                if found := self.operator.done(seen):
                    self.cut_one(found[-1])
                    seen = len(self.operator.audit("outcome"))
        except (AssertionError, LabError, psycopg.Error) as error:
            self.failed = f"the losses of power ended early: {str(error).splitlines()[0]}"

    def cut_one(self, after: str) -> None:
        """Cut the power of one member's node, and switch it on again."""
        there = {name: patroni(self.lab, node).get("state") for name, node in self.members.items()}
        may_go = [name for name in there if there[name] and self.members[name] != MANAGER]
        if not may_go:
            return
        name = self.rng.choice(sorted(may_go))
        node = self.lab.node(self.members[name])
        others = {
            other: self.members[other]
            for other in there
            if other != name and there[other] in SERVING
        }
        node.power_cut()
        cut_at = time.monotonic()
        led = not leading(self.lab, others)  # in the middle of a switchover nobody may lead
        received = self.received({*others.values()}) if led else frozenset[Row]()
        self.cuts.append(Cut(cut_at, node.name, after, led, received))
        time.sleep(max(0.0, AWAY_S - (time.monotonic() - cut_at)))
        node.start()
        eventually(self.is_led, "a leader after the loss of power", BACK_S)

    def is_led(self) -> str:
        return leading(self.lab, self.members)

    def received(self, nodes: set[str]) -> frozenset[Row]:
        """Return the rows that the members on these nodes have, each with all that it received."""
        return frozenset[Row]().union(*(self.rows_on(node) for node in sorted(nodes)))

    def rows_on(self, node: str) -> frozenset[Row]:
        login = {"user": "postgres", "dbname": "postgres", "password": self.database.password}
        where = {"host": self.lab.node(node).address, "port": 5432, "connect_timeout": 5}
        with psycopg.connect(**where, **login, autocommit=True) as connection:
            eventually(lambda: is_applied(connection), f"all WAL to be applied on {node}", 30)
            return frozenset(connection.execute("SELECT client, id FROM soak").fetchall())


def is_applied(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    found = connection.execute(APPLIED).fetchone()
    return found is not None and found[0] is not False


@contextmanager
def power_is_lost(make: Callable[[], Cutting] | None) -> Iterator[Cutting | None]:
    """Cut the power after each step, where that is wanted; the last node is on again at the end."""
    if make is None:
        yield None
        return
    cutting = make()
    thread = threading.Thread(target=cutting.run, daemon=True)
    thread.start()
    try:
        yield cutting
    finally:
        cutting.ended.set()
        thread.join(AWAY_S + 2 * BACK_S)
