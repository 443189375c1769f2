"""Write five rows a second where clients write, and report the gap of each change of leader.

One task a cluster, beside the loop: no fault of a canary stops the loop, and a canary that can't
write logs that once. Each process sets a new password for it, which exists only in its memory.

"""

from __future__ import annotations

import secrets as randomness
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import anyio
import anyio.abc
import structlog

from queenright.core.kinds.postgres_cluster.canary import canary as place_of
from queenright.core.kinds.postgres_cluster.canary.canary import CanaryPlace, LeaderChange
from queenright.core.kinds.postgres_cluster.canary.write_gap import (
    WINDOW_S,
    Acknowledged,
    shown_rows,
)
from queenright.ports import Ports
from queenright.ports.database import Connection, Endpoint
from queenright.ports.errors import PortError, RejectedError
from queenright.ports.secrets import Password

log = structlog.get_logger()

SUPERUSER = "postgres"
AGAIN_S = 5.0
RECONNECT_S = 0.05
PRUNE_EVERY = 3000
KEEP_ROWS = 3000
SETTLED_S = 2.0
"""The least time between a change and the report of its gap."""
REJECTED_MOST = 2
"""After this many refusals in a row the role, the database or the table are created again: a
failover may have lost them, or the last password."""


@dataclass
class Canary:
    """One cluster's canary."""

    ports: Ports
    place: CanaryPlace
    acknowledged: Acknowledged = field(default_factory=Acknowledged)
    changes: list[tuple[LeaderChange, float]] = field(default_factory=list)
    number: int = 0
    pruned_below: int = 0
    told_at_s: float = float("-inf")
    told_lost: set[int] = field(default_factory=set)
    measured: Mapping[str, int | str | None] = field(default_factory=dict)
    """The last measurement: `write_gap_ms`, `lost_rows`, `lost`."""
    complaint: str = ""
    has_table: bool = False
    """True if the table was seen since role and database were provided."""

    def changed(self, change: LeaderChange) -> None:
        """Take a change of leader from the loop."""
        self.changes.append((change, anyio.current_time()))

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            try:
                password = Password(randomness.token_urlsafe(32))
                await self._provide(password)
                await self._write(password)
            except PortError as error:
                self._complain(str(error))
            await anyio.sleep(AGAIN_S)

    def _complain(self, text: str) -> None:
        if text != self.complaint:
            log.warning("canary", cluster=self.place.cluster, problem=text)
        self.complaint = text

    async def _provide(self, password: Password) -> None:
        """Create role and database on the leader; the role itself creates the table."""
        self.has_table = False
        superuser = await self.ports.secrets.read(self.place.superuser_secret)
        last = ""
        for host, port in self.place.servers:
            target = Endpoint(host, port, "postgres", SUPERUSER)
            try:
                async with self.ports.database.connect(target, superuser) as connection:
                    if (await connection.run(place_of.IN_RECOVERY_SQL))[0][0]:
                        continue
                    await provide_database(connection, password)
            except PortError as error:
                last = str(error)
                continue
            return
        raise PortError(f"no member accepts the canary's role and database: {last or 'no leader'}")

    async def _write(self, password: Password) -> None:
        """Write through the proxies, one entry after the other, as clients do."""
        entry, failures_s, rejected = 0, 0.0, 0
        while True:
            host, port = self.place.entries[entry % len(self.place.entries)]
            target = Endpoint(host, port, place_of.DATABASE, place_of.ROLE, timeout_s=2.0)
            began = anyio.current_time()
            try:
                async with self.ports.database.connect(target, password) as connection:
                    await self._beat(connection)
            except PortError as error:
                if (self.acknowledged.last_at_s or float("-inf")) >= began:
                    failures_s, rejected = 0.0, 0
                failures_s += max(anyio.current_time() - began, RECONNECT_S)
                rejected += isinstance(error, RejectedError)
                if failures_s > WINDOW_S or rejected >= REJECTED_MOST:
                    raise
                entry += 1
                await anyio.sleep(RECONNECT_S)

    async def _beat(self, connection: Connection) -> None:
        if not self.has_table:
            await connection.run(place_of.TABLE_SQL)
            self.has_table = True
        last = int(str((await connection.run(place_of.LAST_SQL))[0][0]))
        self.number = max(self.number, last)  # never reuse a number that a failover has lost
        while True:
            due = anyio.current_time() + place_of.PERIOD_S
            self.number += 1
            await connection.run(place_of.INSERT_SQL, [self.number])
            self.acknowledged.add(self.number, anyio.current_time())
            self.complaint = ""
            await self._tell(connection)
            if self.number % PRUNE_EVERY == 0:
                self.pruned_below = self.number - KEEP_ROWS
                await connection.run(place_of.PRUNE_SQL, [self.pruned_below])
            await anyio.sleep(max(0.0, due - anyio.current_time()))

    async def _tell(self, connection: Connection) -> None:
        """Report each change that is over: the member that accepts writes is the new leader."""
        now = anyio.current_time()
        due = [(change, seen_s) for change, seen_s in self.changes if now - seen_s >= SETTLED_S]
        if not due:
            return
        timeline = int(str((await connection.run(place_of.TIMELINE_SQL))[0][0]))
        after_s = self.told_at_s
        for change, seen_s in due:
            if timeline < change.timeline:
                continue  # the former leader, which has not demoted itself yet
            measured = await self._measured(connection, seen_s, after_s)
            self.changes.remove((change, seen_s))
            self.told_at_s, self.measured = now, measured
            self.ports.audit.measured(
                change.cluster,
                {
                    "leader_before": change.before,
                    "leader": change.after,
                    "timeline": change.timeline,
                    "cause": change.cause,
                    **measured,
                },
            )

    async def _measured(
        self, connection: Connection, seen_s: float, after_s: float
    ) -> dict[str, int | str | None]:
        """Return the gap and the lost rows of a change, each once; None for both if the canary did
        not write yet at the time of the change."""
        if not self.acknowledged.reaches(seen_s):
            return {"write_gap_ms": None, "lost_rows": None, "lost": ""}
        rows = await connection.run(place_of.FIND_SQL, [[*self.acknowledged.numbers]])
        gone = self.acknowledged.lost([int(str(row[0])) for row in rows])
        lost = [n for n in gone if n >= self.pruned_below and n not in self.told_lost]
        self.told_lost.update(lost)
        gap = self.acknowledged.gap(max(seen_s - WINDOW_S / 2, after_s))
        return {
            "write_gap_ms": gap.gap_ms if gap else None,
            "lost_rows": len(lost),
            "lost": shown_rows(lost),
        }


async def provide_database(connection: Connection, password: Password) -> None:
    """Create the canary's role and database if missing; always set the password."""
    role, database = place_of.ROLE, place_of.DATABASE
    if not await connection.run(place_of.ROLE_SQL, [role]):
        await connection.run(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT {place_of.CONNECTIONS}")
    await connection.set_password(role, password)
    if not await connection.run(place_of.DATABASE_SQL, [database]):
        await connection.run(f"CREATE DATABASE {database} OWNER {role}")
    await connection.run(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")


class Canaries:
    """The canaries of all clusters: started, informed of changes, and ended as the files say."""

    def __init__(self, ports: Ports, group: anyio.abc.TaskGroup) -> None:
        self._ports = ports
        self._group = group
        self._running: dict[str, tuple[Canary, anyio.CancelScope]] = {}

    def keep(self, places: Mapping[str, CanaryPlace], undecided: Collection[str] = ()) -> None:
        """Run exactly these; those of ``undecided`` clusters stay as they are."""
        for name, (canary, scope) in [*self._running.items()]:
            if name not in undecided and places.get(name) != canary.place:
                scope.cancel()
                del self._running[name]
        for name, place in places.items():
            if name not in self._running:
                canary, scope = Canary(self._ports, place), anyio.CancelScope()
                self._running[name] = (canary, scope)
                self._group.start_soon(run_within, canary, scope)

    def measured(self) -> dict[str, Mapping[str, int | str | None]]:
        """Return the last measurement of each cluster that has one."""
        return {
            name: canary.measured for name, (canary, _) in self._running.items() if canary.measured
        }

    def changed(self, change: LeaderChange) -> None:
        if change.cluster in self._running:
            self._running[change.cluster][0].changed(change)


async def run_within(canary: Canary, scope: anyio.CancelScope) -> None:
    with scope:
        while True:
            try:
                await canary.run()
            except Exception:  # no fault of a canary may stop the loop or the canary
                log.exception("canary", cluster=canary.place.cluster, broken=True)
            await anyio.sleep(AGAIN_S)
