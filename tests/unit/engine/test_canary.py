"""The canary beside a database that fails over: what it tells, what it keeps to itself, and what
it leaves behind."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from structlog.testing import capture_logs

from queenright.core.kinds.postgres_cluster.canary import canary as place_of
from queenright.core.kinds.postgres_cluster.canary.canary import (
    CanaryPlace,
    LeaderChange,
    canary_place,
)
from queenright.engine.canary import Canaries, Canary
from queenright.ports.database import Connection, Endpoint, Row
from queenright.ports.errors import RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import desired, manifest

PLACE = CanaryPlace("main", (("10.77.0.12", 5432),), (("10.77.0.12", 5000),), "pg_superuser_pw")


@dataclass
class Server:
    """The database as it is behind the proxies at this moment."""

    rows: set[int] = field(default_factory=set)
    timeline: int = 1
    takes_writes: bool = True
    password: str = ""
    passwords_set: int = 0
    open_connections: int = 0

    async def insert(self, number: int) -> None:
        await anyio.sleep(0.002)
        if not self.takes_writes:
            raise UnavailableError("cannot execute INSERT in a read-only transaction")
        if number in self.rows:
            raise RejectedError("duplicate key")
        self.rows.add(number)

    @asynccontextmanager
    async def connect(
        self, endpoint: Endpoint, password: Password
    ) -> AsyncGenerator[Connection, None]:
        await anyio.sleep(0.002)
        if endpoint.user == place_of.ROLE and password.value != self.password:
            raise RejectedError("password authentication failed")
        self.open_connections += 1
        try:
            yield Session(self)
        finally:
            self.open_connections -= 1


@dataclass
class Session:
    server: Server

    async def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        match statement, values:
            case place_of.INSERT_SQL, [int(number)]:
                await self.server.insert(number)
            case place_of.LAST_SQL, _:
                return [(max(self.server.rows, default=0),)]
            case place_of.FIND_SQL, [list(numbers)]:
                return [(number,) for number in numbers if number in self.server.rows]
            case place_of.PRUNE_SQL, [int(before)]:
                self.server.rows = {number for number in self.server.rows if number >= before}
            case place_of.TIMELINE_SQL, _:
                return [(self.server.timeline,)]
            case "SELECT pg_catalog.pg_is_in_recovery()", _:
                return [(False,)]
            case _:
                pass
        return []

    async def set_password(self, role: str, password: Password) -> None:
        assert role == place_of.ROLE
        self.server.password = password.value
        self.server.passwords_set += 1


@dataclass
class Stage:
    """A running canary, and its reports."""

    world: World
    server: Server
    canary: Canary

    def told(self) -> list[tuple[object, object]]:
        return [
            (record["write_gap_ms"], record["lost_rows"])
            for _, record in self.world.audit.measurements
        ]

    async def fail_over(self, outage_s: float, lost: int = 0) -> None:
        """Writes stop, the newest rows are lost, another leads on the next timeline."""
        self.server.takes_writes = False
        await anyio.sleep(outage_s)
        self.server.rows -= set(sorted(self.server.rows)[len(self.server.rows) - lost :])
        self.server.timeline += 1
        self.server.takes_writes = True
        self.canary.changed(change(self.server.timeline))


def change(timeline: int) -> LeaderChange:
    return LeaderChange("main", "member-1", "member-2", timeline, "a test")


class AnySecret:
    """Typed by ``ports.secrets.Secrets``."""

    async def read(self, name: str) -> Password:
        return Password(f"the value of {name}")

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def at_work(server: Server) -> AsyncGenerator[Stage, None]:
    """A canary that has written for ten seconds; ended, it leaves no connection."""
    world = World()
    ports = dataclasses.replace(world.ports, database=server, secrets=AnySecret())
    canary = Canary(ports, PLACE)
    async with anyio.create_task_group() as group:
        group.start_soon(canary.run)
        await anyio.sleep(10)
        yield Stage(world, server, canary)
        group.cancel_scope.cancel()
    assert server.open_connections == 0


def test_a_gap_is_told_once_and_ends_with_the_first_write() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            await stage.fail_over(outage_s=3)
            await anyio.sleep(20)
            ((gap_ms, lost),) = stage.told()
            assert isinstance(gap_ms, int)
            assert 3000 <= gap_ms < 3400
            assert lost == 0

    run_virtual(main)


def test_a_later_change_inherits_neither_gap_nor_lost_rows() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            await stage.fail_over(outage_s=30, lost=3)
            await anyio.sleep(20)
            await stage.fail_over(outage_s=1)
            await anyio.sleep(20)
            (_, first), (gap_ms, second) = stage.told()
            assert (first, second) == (3, 0)
            assert isinstance(gap_ms, int)
            assert gap_ms < 1500

    run_virtual(main)


def test_rows_are_missed_however_long_the_outage_was() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            await stage.fail_over(outage_s=400, lost=3)
            await anyio.sleep(20)
            assert [lost for _, lost in stage.told()] == [3]

    run_virtual(main)


def test_a_row_that_was_pruned_is_not_lost() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            stage.canary.number = 5990
            await anyio.sleep(10)
            assert min(stage.server.rows) > 2990, "the first rows are pruned"
            stage.canary.changed(change(1))
            await anyio.sleep(10)
            assert [lost for _, lost in stage.told()] == [0]

    run_virtual(main)


def test_what_came_before_it_wrote_is_not_measured() -> None:
    """The like happens after a restart of the operator, or a pause of reconciliation."""

    async def main() -> None:
        world, server = World(), Server()
        ports = dataclasses.replace(world.ports, database=server, secrets=AnySecret())
        canary = Canary(ports, PLACE)
        async with anyio.create_task_group() as group:
            group.start_soon(canary.run)
            canary.changed(change(1))
            await anyio.sleep(10)
            group.cancel_scope.cancel()
        assert Stage(world, server, canary).told() == [(None, None)]

    run_virtual(main)


def test_nothing_is_told_while_the_former_leader_takes_the_writes() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            stage.canary.changed(change(2))
            await anyio.sleep(10)
            assert stage.told() == []
            forked = len(stage.server.rows)
            await stage.fail_over(outage_s=1, lost=40)
            await anyio.sleep(10)
            assert forked > 40
            assert [lost for _, lost in stage.told()] == [40, 0]

    run_virtual(main)


def test_no_number_is_written_again_that_was_lost() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            await stage.fail_over(outage_s=1, lost=10)
            await anyio.sleep(10)
            gone = {*range(1, max(stage.server.rows))} - stage.server.rows
            assert len(gone) >= 10

    run_virtual(main)


def test_two_operators_get_out_of_each_others_way() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            stage.server.rows |= {stage.canary.number + k for k in range(1, 200)}
            before = len(stage.server.rows)
            await anyio.sleep(5)
            assert len(stage.server.rows) > before + 15
            assert stage.server.passwords_set == 1

    run_virtual(main)


def test_a_password_that_a_failover_took_away_is_set_again() -> None:
    async def main() -> None:
        async with at_work(Server()) as stage:
            stage.server.password = "older"
            await stage.fail_over(outage_s=1)
            await anyio.sleep(10)
            assert stage.server.passwords_set == 2
            assert len(stage.told()) == 1

    run_virtual(main)


def test_one_that_can_not_write_says_so_once() -> None:
    async def main() -> None:
        with capture_logs() as lines:
            async with at_work(Server()) as stage:
                stage.server.takes_writes = False
                await anyio.sleep(200)
        assert [line["problem"] for line in lines if line["event"] == "canary"] == [
            "cannot execute INSERT in a read-only transaction"
        ]

    run_virtual(main)


def test_canaries_run_as_the_files_say() -> None:
    async def main() -> None:
        world, server = World(), Server()
        ports = dataclasses.replace(world.ports, database=server, secrets=AnySecret())
        async with anyio.create_task_group() as group:
            canaries = Canaries(ports, group)
            canaries.keep({"main": PLACE})
            await anyio.sleep(5)
            canaries.keep({}, undecided={"main"})
            canaries.keep({"main": PLACE})
            await anyio.sleep(5)
            assert server.passwords_set == 1, "not seeing the swarm ends none"
            canaries.keep({})
            await anyio.sleep(5)
            assert server.open_connections == 0
            group.cancel_scope.cancel()

    run_virtual(main)


def test_without_a_proxy_there_is_no_place_to_write() -> None:
    wanted = desired(manifest(canary="{enabled: true}"))
    assert canary_place(wanted, {}) is None
    assert canary_place(wanted, {"node2": "10.77.0.12"}) is not None
