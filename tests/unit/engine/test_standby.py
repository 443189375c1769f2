"""Two whole operators on one world: one acts, the other stands by; then it is its turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial

import anyio
import pytest

from queenright.core.actions import AnyAction, CreateNetwork, CreateUrlSecret, RestartService
from queenright.core.audit.record import Failed, Trigger
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Plan
from queenright.core.postgres.connection_uri import UrlTemplate
from queenright.core.swarm.objects import Network, Secret, Service
from queenright.engine.execute import execute
from queenright.engine.lease import LeaseKeeper
from queenright.engine.tenure import Permission, Tenure
from queenright.ports.secrets import Password
from tests.fakes.fake_lease import FakeLease
from tests.fakes.files import FakeAudit
from tests.fakes.running_operator import Operator
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.log_lines import logged


def now_s() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Task:
    """One of the service's tasks, with a trail and a lease of its own."""

    world: World
    name: str

    def __post_init__(self) -> None:
        self.audit = FakeAudit(name=self.name)
        own = Lease(process=self.name, host=f"node-{self.name}")
        store = FakeLease(self.world.store)
        self.keeper = LeaseKeeper(store, own, self.audit, Tenure(now_s), lambda _: False)

    def start(self) -> Operator:
        ports = replace(self.world.ports, audit=self.audit)
        return self.world.start_operator(ports=ports, lease=self.keeper)


def test_one_deploys_the_other_stands_by_until_the_first_is_gone() -> None:
    async def main() -> None:
        world = World()
        first, second = Task(world, "a"), Task(world, "b")
        running = first.start()
        await anyio.sleep(1)
        other = second.start()
        await world.until_whole()
        assert first.audit.intents
        assert second.audit.records == second.audit.holds == second.audit.leases == []
        assert other.loop.passes > 0  # it is warm
        await anyio.sleep(30)

        acted = len(first.audit.records)
        await running.kill()
        world.store.remove_service(world.service("main_proxy").id)
        began = now_s()
        while not second.audit.intents:
            await anyio.sleep(0.1)
            assert now_s() - began < 10
        assert len(first.audit.records) == acted
        await world.until_whole()
        await other.stop()

    run_virtual(main)


async def node_of_the_acting_one_is_cut(after_s: float) -> float:
    """Cut the node of the operator that acts, a member's node as well, so many seconds after both
    are at rest, on a swarm in which something happens all the time; return the seconds from the
    other one's lease to its first action."""
    world = World()
    first, second = Task(world, "a"), Task(world, "b")
    running = first.start()
    await anyio.sleep(1)
    other = second.start()
    await world.until_whole()
    await anyio.sleep(30 + after_s)
    await running.kill()
    world.power_cut("node4")
    world.store.remove_service(world.service("main_proxy").id)
    taken_s, step = 0.0, 0
    while not second.audit.intents:
        await anyio.sleep(0.05)
        step += 1
        if step % 10 == 0:
            world.label("node1", rack=str(step))
        if not taken_s and second.keeper.tenure.holds():
            taken_s = now_s()
    took_s = now_s() - taken_s
    await other.stop()
    return took_s


def test_a_silent_member_delays_no_first_action() -> None:
    """The pass that began before the lease was taken is ended, and the next one does not ask the
    member again, which the watch has asked."""
    took = [run_virtual(partial(node_of_the_acting_one_is_cut, k / 3)) for k in range(6)]
    assert max(took) < 0.5, took


def test_a_stop_hands_over_at_once() -> None:
    async def main() -> None:
        world = World()
        first, second = Task(world, "a"), Task(world, "b")
        running, other = first.start(), second.start()
        await world.until_whole()
        await anyio.sleep(30)
        await running.stop()
        world.store.remove_service(world.service("main_proxy").id)
        began = now_s()
        while not second.audit.intents:
            await anyio.sleep(0.1)
            assert now_s() - began < 2
        await other.stop()

    run_virtual(main)


def test_one_that_begins_to_act_counts_absent_documents_from_then_on() -> None:
    """Its files may be others than those of the operator before."""

    async def main() -> None:
        world = World()
        first, second = Task(world, "a"), Task(world, "b")
        running = first.start()
        await world.until_whole()
        absences = second.keeper
        other = second.start()
        await anyio.sleep(90)
        await running.kill()
        await anyio.sleep(12)
        assert absences.tenure.holds()
        noted = other.loop._state.absences.began_s
        assert noted is not None
        assert noted > now_s() - 6
        await other.kill()

    run_virtual(main)


def test_a_standby_logs_its_own_line_and_none_of_the_clusters() -> None:
    async def main() -> None:
        world = World()
        first, second = Task(world, "a"), Task(world, "b")
        running = first.start()
        await world.until_whole()
        other = second.start()
        await anyio.sleep(130)
        await running.kill()
        await other.kill()

    lines = logged(lambda: run_virtual(main))
    operators = [line for line in lines if line["event"] == "operator"]
    acting = [line["acting"] for line in operators]
    assert acting.count(True) >= 2
    assert acting.count(False) >= 2
    assert {line["lease_holder"] for line in operators} == {"node-a"}
    states = [line for line in lines if line["event"] == "state"]
    assert len(states) == acting.count(True)


# -- one action ------------------------------------------------------------------------------


class Until(Permission):
    """A permission that ends at a time."""

    def __init__(self, end_s: float, *, confirms: bool = True) -> None:
        self.end_s, self.confirms, self.asked = end_s, confirms, 0

    def holds(self) -> bool:
        return now_s() < self.end_s

    async def confirmed(self) -> bool:
        self.asked += 1
        return self.confirms and self.holds()


class SlowSecrets:
    async def read(self, name: str, secret_id: str = "") -> Password:
        return await self.read_once(name)

    async def read_once(self, name: str) -> Password:
        await anyio.sleep(5)
        return Password("it")

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        raise AssertionError

    async def aclose(self) -> None:
        pass


NETWORKS: tuple[AnyAction, ...] = tuple(
    CreateNetwork(Network(name), reason="a test") for name in ("one", "two", "three")
)


def plan_of(*actions: AnyAction) -> Plan:
    return Plan("main", "d", actions)


def test_a_plan_ends_where_the_permission_does() -> None:
    async def main() -> None:
        world = World()
        world.swarm.faults.slow, world.swarm.faults.slow_s = 1.0, 2.0
        result = await execute(
            world.ports, plan_of(*NETWORKS), Trigger("timer"), lambda: False, permission=Until(3)
        )
        assert len(result.tried) == 2
        assert len(world.audit.intents) == 2

    run_virtual(main)


def test_a_secret_that_took_too_long_to_read_is_not_acted_on() -> None:
    async def main() -> None:
        world = World()
        ports = replace(world.ports, secrets=SlowSecrets())
        action = CreateUrlSecret(
            secret=Secret("url"),
            url=UrlTemplate(("b",), 5000, "d", "r", ()),
            password_secret="pw",
            reason="a test",
        )
        result = await execute(
            ports, plan_of(action), Trigger("timer"), lambda: False, permission=Until(3)
        )
        ((_, outcome),) = result.tried
        assert isinstance(outcome, Failed)
        assert "lease" in outcome.error
        assert "url" not in world.store.secrets

    run_virtual(main)


@pytest.mark.parametrize("confirms", [True, False])
def test_only_a_disruption_is_confirmed_by_the_managers(*, confirms: bool) -> None:
    async def main() -> None:
        world = World()
        world.store.create_service(Service("s", "image", replicas=0))
        await world.swarm.observe()
        live = world.service("s")
        restart = RestartService(
            live.id, live.version, live.value, 1, reason="a test", disrupts="s"
        )
        permission = Until(99, confirms=confirms)
        plan = plan_of(NETWORKS[0], restart)
        await execute(world.ports, plan, Trigger("timer"), lambda: False, permission=permission)
        assert permission.asked == 1
        assert len(world.audit.intents) == 1 + confirms

    run_virtual(main)
