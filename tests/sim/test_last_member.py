"""The only member that is left of three, and was deployed with them, comes back by itself.

Its list of partners is that of its last start: members that are no more.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import anyio
import pytest

from queenright.core.actions import AnyAction, UpdateService
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.raft_log import plan_raft_log
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import PARTNERS_VARIABLE, RAFT_RESET_VARIABLE
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.mutations import ruleset_with
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import PLACES, first_of, topology_world, write_members

LAST = "main_member-1"


async def edited(world: World, count: int, ruleset: Ruleset = RULESET) -> None:
    """Three members become so many."""
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(70)
    write_members(world, first_of(count))
    await world.until_whole(900)
    await anyio.sleep(120)


def lose_raft_files(world: World) -> None:
    """End the last member, without its Raft files."""
    for (_, source), volume in world.patroni_model.volumes.items():
        if source.startswith(LAST):
            volume.raft = "torn"
    world.kill_container(LAST)


@pytest.mark.parametrize("lost", [False, True])
def test_it_leads_again_after_a_power_cut(lost: bool) -> None:
    """With its Raft files, and without them."""

    async def main() -> None:
        world = topology_world(1, first_of(3))
        judge = TopologyJudge(world)
        await edited(world, 1)
        if lost:
            lose_raft_files(world)
        world.power_cut("node2")
        await anyio.sleep(30)
        world.power_on("node2")
        await world.until_whole(600)
        await anyio.sleep(60)
        judge.at_rest()
        assert judge.violations == []
        assert [one.name for one in world.patroni_model.primaries("main")] == ["member-1"]

    run_virtual(main)


@pytest.mark.parametrize("spared", [False, True])
def test_raft_logs_may_be_lost_after_an_edit_of_the_members(spared: bool) -> None:
    """The leader's service has the partners of before: it has not started again since. All logs are
    lost, or the leader's alone is ``spared``, which has the present voters."""

    async def main() -> None:
        world = topology_world(1, first_of(3))
        judge = TopologyJudge(world)
        await edited(world, 5)
        former = world.leader()
        assert former is not None
        live = world.store.service_named(f"main_{former.name}")
        assert live is not None
        assert len(json.loads(live.value.environment[PARTNERS_VARIABLE])) == 2
        for node in PLACES.values():
            world.power_cut(node)
        for (_, source), volume in world.patroni_model.volumes.items():
            if not (spared and source.startswith(f"main_{former.name}")):
                volume.raft = "torn"
        await anyio.sleep(30)
        for node in PLACES.values():
            world.power_on(node)
        await world.until_whole(600)
        leader = world.leader()
        assert leader is not None
        assert leader.name == former.name
        assert judge.violations == world.patroni_model.lost == []

    run_virtual(main)


def keeps_the_list(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Has a member begin a Raft log anew with the partners of its last start."""
    for found in plan_raft_log(state):
        if not isinstance(found, UpdateService):
            yield found
            continue
        live = state.swarm.service(found.service.name)
        assert live is not None
        former = live.value.environment[PARTNERS_VARIABLE]
        environment = {**found.service.environment, PARTNERS_VARIABLE: former}
        service = dataclasses.replace(found.service, environment=environment)
        yield dataclasses.replace(found, service=service)


def test_a_log_that_would_begin_with_former_partners_is_refused() -> None:
    async def main() -> None:
        world = topology_world(1, first_of(3))
        rules = (
            keeps_the_list if rule is plan_raft_log else rule for rule in POSTGRES_CLUSTER.rules
        )
        await edited(world, 1, ruleset_with(tuple(rules), RULESET.guards))
        lose_raft_files(world)
        await anyio.sleep(300)
        assert world.leader() is None
        live = world.store.service_named(LAST)
        assert live is not None
        assert RAFT_RESET_VARIABLE not in live.value.environment

    run_virtual(main)
