"""Several operators on one swarm, by seed: frozen, killed, cut off, slow; and their judge.

The real lease, permission and execution run on the virtual loop; each operator has its own clock,
which is wrong by some per cent, and its own way to the managers.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from queenright.core.actions import AnyAction, CreateNetwork, RestartService
from queenright.core.audit.record import Trigger
from queenright.core.planning.lease import (
    KEPT_S,
    LEASE_CONFIG,
    OFFER_AFTER_S,
    PLACE_LOOK_S,
    RENEW_S,
    Lease,
    lease_of,
)
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Network, Service
from queenright.engine.execute import execute
from queenright.engine.lease import LeaseKeeper
from queenright.engine.tenure import Tenure
from tests.fakes.fake_lease import FakeLease
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.files import FakeAudit
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World

DRIFT = 0.06
"""The most by which an operator's clock is too fast or too slow."""
HISTORY_S = 200.0
BEGINS_WITHIN_S = 10.0
"""The bound of docs/guide.md, in which another operator acts."""
MOVES_WITHIN_S = PLACE_LOOK_S + OFFER_AFTER_S + RENEW_S + KEPT_S + 1.0
"""The time after which the acting operator is on another node than the one that leads Raft."""
LATE_S = 1.5
"""The time for reading the truth of a start that was just in time, and for a slow clock."""
DISTURBED = "service"


def now_s() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Judge:
    """Knows whose lease the managers have, and every operator; keeps what must not be."""

    world: World
    faults: list[str] = field(default_factory=list)
    acts: int = 0
    takes: int = 0
    holder: str = ""

    def note_writes(self, kind: str, name: str, what: str) -> None:
        if name == LEASE_CONFIG and (holder := self.present.process) != self.holder:
            self.holder, self.takes = holder, self.takes + bool(holder)

    @property
    def present(self) -> Lease:
        live = self.world.store.configs.get(LEASE_CONFIG)
        return lease_of(live.value.labels) if live is not None else Lease()

    def act(self, one: Operator, what: str) -> None:
        """Judge an action as it is sent."""
        self.acts += 1
        if self.present.process not in ("", one.keeper.own.process):
            self.faults.append(f"{now_s():.2f}: {one.name} {what}; {self.present.host} has it")

    def look(self, running: list[Operator]) -> None:
        """Judge the operators' own belief."""
        acting = [one.name for one in running if one.keeper.tenure.holds()]
        if len(acting) > 1:
            self.faults.append(f"{now_s():.2f}: {acting} act")


@dataclass
class Operator:
    """One operator's process: it renews its lease, and acts in every pass."""

    name: str
    judge: Judge
    rng: random.Random
    ended: set[str]
    """Processes that this operator can prove to be none any more."""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        world, rng = self.judge.world, self.rng
        self.runs = asyncio.Event()
        self.runs.set()
        self.audit = FakeAudit(name=self.name)
        self.swarm = FakeSwarm(world.store, rng, boundary=self.boundary)
        self.lease = FakeLease(world.store, rng, boundary=self.gate)
        self.ports = replace(world.ports, swarm=self.swarm, audit=self.audit)
        rate, offset = rng.uniform(1 - DRIFT, 1 + DRIFT), rng.uniform(-1000, 1000)
        tenure = Tenure(lambda: now_s() * rate + offset)
        own = Lease(process=f"{self.name}-{rng.random()}", host=self.name)
        self.keeper = LeaseKeeper(self.lease, own, self.audit, tenure, self.has_ended)

    def has_ended(self, lease: Lease) -> bool:
        return lease.process in self.ended

    async def gate(self) -> None:
        """A frozen process goes on here when it is thawed."""
        await self.runs.wait()

    async def boundary(self, what: str) -> None:
        await self.gate()
        if "was done" not in what and what != "observe":
            self.judge.act(self, what)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.tasks = [loop.create_task(self.keeper.run()), loop.create_task(self.passes())]

    async def passes(self) -> None:
        """Look, then act as the plan says, again and again."""
        number = 0
        while True:
            if self.keeper.is_asked:
                await self.keeper.hand_over()
            permission = self.keeper.permission()
            state = await self.swarm.observe()
            await asyncio.sleep(self.rng.uniform(0.05, 1.0))
            await self.gate()
            actions: list[AnyAction] = []
            for _ in range(self.rng.randint(1, 4)):
                number += 1
                actions.append(CreateNetwork(Network(f"{self.name}-{number}"), reason="a test"))
            live = state.service(DISTURBED)
            if live is not None and self.rng.random() < 0.5:
                again = live.force_update + 1
                restart = RestartService(
                    live.id,
                    live.version,
                    live.value,
                    again,
                    reason="a test",
                    disrupts=DISTURBED,
                )
                actions.insert(self.rng.randint(0, len(actions)), restart)
            plan = Plan("main", "d", tuple(actions))
            await execute(self.ports, plan, Trigger("timer"), lambda: False, permission=permission)

    async def kill(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)

    async def stop(self) -> None:
        """SIGTERM: the action in hand is finished, and the lease is given up."""
        self.tasks[1].cancel()
        await asyncio.wait([self.tasks[1]])
        release = asyncio.get_running_loop().create_task(self.keeper.release())
        await asyncio.wait([release], timeout=60)
        self.tasks.append(release)
        await self.kill()


@dataclass
class History:
    """A seeded history of three operators, of which one is often away."""

    seed: int
    change: Callable[[Operator], None] = lambda _: None
    """A defect to be caught."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.ended: set[str] = set()
        self.starts = 0
        self.running: list[Operator] = []

    def run(self) -> Judge:
        return run_virtual(self.go)

    def start(self) -> None:
        self.starts += 1
        rng = random.Random(f"{self.seed} {self.starts}")
        made = Operator(f"o{self.starts}", self.judge, rng, self.ended)
        self.change(made)
        self.running.append(made)
        made.start()

    async def go(self) -> Judge:
        self.judge = Judge(World(seed=self.seed))
        store = self.judge.world.store
        store.listeners.append(self.judge.note_writes)
        store.create_service(Service(DISTURBED, "image", replicas=0))
        for _ in range(2 + self.seed % 2):
            self.start()
        watch = asyncio.get_running_loop().create_task(self.watch())
        while now_s() < HISTORY_S:
            await asyncio.sleep(self.rng.choice([self.rng.uniform(0.2, 9.0)] * 19 + [45.0]))
            await self.rng.choice(
                [
                    *(self.freeze, self.freeze, self.cut, self.cut_all),
                    *(self.kill, self.stop, self.slow, self.elect, self.elect),
                ]
            )()
        await self.rest()
        watch.cancel()
        for one in self.running:
            await one.kill()
        return self.judge

    async def watch(self) -> None:
        while True:
            self.judge.look(self.running)
            await asyncio.sleep(0.05)

    async def rest(self) -> None:
        """Everything is mended: one operator acts before long."""
        for one in self.running:
            one.runs.set()
            one.lease.is_cut_off, one.lease.answer_lost, one.lease.slowest_s = False, 0.0, 0.002
        await asyncio.sleep(BEGINS_WITHIN_S + LATE_S)
        acting = [one.name for one in self.running if one.keeper.tenure.holds()]
        if len(acting) != 1:
            self.judge.faults.append(f"{now_s():.2f}: {acting} act when all is mended")
        await self.move_away()

    async def move_away(self) -> None:
        """The acting operator's node leads Raft: another one acts before long."""
        leader = self.anyone()
        self.lead(leader)
        await asyncio.sleep(MOVES_WITHIN_S * (1 + DRIFT))
        acting = [one.name for one in self.running if one.keeper.tenure.holds()]
        if len(acting) != 1 or leader.name in acting:
            self.judge.faults.append(f"{now_s():.2f}: {acting} act, {leader.name} leads Raft")

    def lead(self, leader: Operator | None) -> None:
        for one in self.running:
            one.lease.leads = one is leader

    # -- what happens ------------------------------------------------------------------------

    def anyone(self) -> Operator:
        """The one that acts, mostly."""
        acting = [one for one in self.running if one.keeper.tenure.holds()]
        return acting[0] if acting and self.rng.random() < 0.7 else self.rng.choice(self.running)

    async def freeze(self) -> None:
        one = self.anyone()
        one.runs.clear()
        asyncio.get_running_loop().call_later(self.rng.uniform(0.5, 25.0), one.runs.set)

    async def elect(self) -> None:
        """Another node leads Raft, perhaps one without an operator."""
        self.lead(self.rng.choice([*self.running, self.anyone(), None]))

    async def cut(self) -> None:
        self._cut(self.anyone(), self.rng.uniform(0.5, 20.0))

    async def cut_all(self) -> None:
        """The managers lose their majority."""
        seconds = self.rng.uniform(0.5, 15.0)
        for one in self.running:
            self._cut(one, seconds)

    def _cut(self, one: Operator, seconds: float) -> None:
        def heal() -> None:
            one.lease.is_cut_off = False

        one.lease.is_cut_off = True
        asyncio.get_running_loop().call_later(seconds, heal)

    async def slow(self) -> None:
        one = self.anyone()
        one.lease.slowest_s = self.rng.choice([0.002, 0.3, 2.9])
        one.lease.answer_lost = self.rng.choice([0.0, 0.3])

    async def kill(self) -> None:
        """One is killed; sometimes the next one can prove that."""
        one = self.anyone()
        await one.kill()
        self.running.remove(one)
        if self.rng.random() < 0.5:
            self.ended.add(one.keeper.own.process)
        await asyncio.sleep(self.rng.uniform(0.0, 3.0))
        self.start()

    async def stop(self) -> None:
        one = self.anyone()
        one.runs.set()
        self.running.remove(one)
        with contextlib.suppress(asyncio.CancelledError):
            await one.stop()
        self.start()
