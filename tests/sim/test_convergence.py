"""A first deployment to the converged cluster, and no writes after it (spec: Deployment order)."""

from __future__ import annotations

import anyio
import pytest

from tests.fakes.member_status import status_of
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.faults import MEMBERS
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, MANIFEST, desired, manifest

FIRST_DEPLOYMENT = [
    "label-node/node2",
    "label-node/node3",
    "label-node/node4",
    "create-network/main_patroni",
    "create-secret/pg_replication_pw",
    "create-secret/pg_superuser_pw",
    "create-secret/pg_rest_pw",
    *(f"create-config/{config.name}" for config in desired().configs),
    "create-service/main_member-1",
    "create-service/main_member-2",
    "create-service/main_member-3",
]
AFTERWARDS = ["create-service/main_proxy", "label-config/main_cluster", "label-config/main_cluster"]
"""The state config is written twice: for the leader, and for the cluster being whole."""


def test_a_bare_swarm_becomes_a_cluster_in_the_contracts_order() -> None:
    async def main() -> None:
        world = World()
        operator = world.start_operator()
        assert await world.until_whole() < 30
        await anyio.sleep(5)
        tried = [record.action.key for record in world.audit.intents]
        assert tried[: len(FIRST_DEPLOYMENT)] == FIRST_DEPLOYMENT
        assert sorted(tried[len(FIRST_DEPLOYMENT) :]) == AFTERWARDS
        assert all(count == 1 for count in world.swarm.created.values())
        leader = world.leader()
        assert leader is not None
        assert status_of(world.patroni_model, leader).timeline == 1
        await operator.stop()

    run_virtual(main)


def test_ten_idle_minutes_without_a_write() -> None:
    """No phantom diff, and at most 8 API calls a pass whatever there is."""

    async def main() -> None:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(30)
        writes, calls, passes = len(world.swarm.writes), world.swarm.api_calls, operator.loop.passes
        await anyio.sleep(600)
        assert len(world.swarm.writes) == writes
        looked = operator.loop.passes - passes
        assert looked >= 600 / 15 - 1
        assert (world.swarm.api_calls - calls) / looked <= 8
        await operator.stop()

    run_virtual(main)


def test_a_file_edit_is_acted_on_at_once_and_told_with_file_and_line() -> None:
    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(10)
        edited_at, known = world.now_s, len(world.audit.outcomes)
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        await anyio.sleep(4)
        first, *_ = world.audit.outcomes[known:]
        assert first.action.key == "label-config/main_cluster"
        assert (first.trigger.kind, first.trigger.file) == ("file", FILE)
        assert first.trigger.line == MANIFEST.count("\n") + 1
        assert world.swarm.writes[-1].at_s - edited_at < 3.5

    run_virtual(main)


@pytest.mark.parametrize("name", ["main_proxy", "main_member-2", "main_member-1"])
def test_a_service_removed_by_hand_is_there_again_within_two_seconds(name: str) -> None:
    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        removed_at = world.now_s
        world.store.remove_service(world.service(name).id)
        await anyio.sleep(2)
        assert world.store.service_named(name) is not None
        made = [r for r in world.audit.outcomes if r.action.key == f"create-service/{name}"][-1]
        assert made.trigger.kind == "docker"
        writes = [write for write in world.swarm.writes if write.name == name]
        assert 0 < writes[-1].at_s - removed_at < 2
        assert await world.until_whole() < 60
        assert world.patroni_model.wrong_password == []

    run_virtual(main)


def test_sigterm_finishes_the_step_in_hand() -> None:
    """Each intent in the trail has its outcome, whenever the stop comes."""

    async def main(stop_at_s: float) -> None:
        world = World()
        operator = world.start_operator()
        await anyio.sleep(stop_at_s)
        await operator.stop()
        assert len(world.audit.intents) == len(world.audit.outcomes)
        assert world.now_s - stop_at_s < 3

    for moment in (0.0, 0.005, 0.013, 0.05, 0.08, 3.0):
        run_virtual(lambda at=moment: main(at))  # type: ignore[misc]


def test_a_rolling_change_goes_member_by_member_and_moves_the_leader_once() -> None:
    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(10)
        first = world.leader()
        assert first is not None
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(120)
        assert [kind for _, kind in world.patroni.verbs].count("switchover") == 1
        assert len(world.patroni_model.story) == 2
        disrupted = [name for _, name in invariants.disrupted]
        assert sorted(disrupted[:2]) == sorted({*MEMBERS} - {first.service})
        assert disrupted[2:] == [first.service, first.service], "demoted, then restarted"
        assert all(world.service(name).value.stop_grace_s == 90 for name in MEMBERS)
        assert world.is_whole()
        assert invariants.violations == []

    run_virtual(main)
