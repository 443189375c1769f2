"""Two operators' keepers of one lease on the virtual loop, with the ways to their managers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio

from queenright.core.planning.lease import LEASE_CONFIG, Lease, lease_of
from queenright.engine.lease import LeaseKeeper
from queenright.engine.tenure import Tenure
from tests.fakes.fake_lease import FakeLease
from tests.fakes.files import FakeAudit
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.virtual_loop import run_virtual
from tests.support.log_lines import Line, logged


def now_s() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Side:
    """One operator's keeper, with the ways in which the world treats it."""

    store: SwarmStore
    name: str
    ended: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.way = FakeLease(self.store)
        self.audit = FakeAudit(name=self.name)
        own = Lease(process=self.name, host=f"node-{self.name}")
        self.keeper = LeaseKeeper(
            self.way, own, self.audit, Tenure(now_s), lambda lease: lease.process in self.ended
        )

    @property
    def acts(self) -> bool:
        return self.keeper.tenure.holds()


def both(story: Callable[[Side, Side], Awaitable[None]]) -> list[Line]:
    """Run two operators, the first of which was there first; return what they log."""

    async def main() -> None:
        store = SwarmStore()
        first, second = Side(store, "a"), Side(store, "b")
        async with anyio.create_task_group() as group:
            group.start_soon(first.keeper.run)
            await anyio.sleep(0.5)
            group.start_soon(second.keeper.run)
            await anyio.sleep(0.5)
            assert first.acts
            assert not second.acts
            await story(first, second)
            group.cancel_scope.cancel()

    return logged(lambda: run_virtual(main))


async def seconds_until(condition: Callable[[], bool]) -> float:
    began = now_s()
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110 (time decides)
            await anyio.sleep(0.01)
    return now_s() - began


def stored(side: Side) -> Lease:
    return lease_of(side.store.configs[LEASE_CONFIG].value.labels)
