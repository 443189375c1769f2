"""The first member of a cluster that had one member is no danger when it loses its Raft files.

It was deployed without partners. As long as its list stays empty it would vote alone at such a
start, beside the quorum of the others: two databases that take writes.
"""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.patroni import restart_need
from queenright.core.kinds.postgres_cluster.topology import partners
from queenright.core.swarm.objects import PARTNERS_VARIABLE
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import first_of, topology_world, write_members

FIRST = "main_member-1"


async def grown(world: World) -> None:
    """One member becomes three, and its list of partners is as it is going to stay."""
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(70)
    write_members(world, first_of(3))
    await world.until_whole(900)
    await anyio.sleep(300)


def lose_raft_files(world: World) -> None:
    for instance in world.patroni_model.of_cluster("main"):
        if instance.service == FIRST:
            instance.volume.votes.clear()
    world.kill_container(FIRST)


def test_it_hands_over_and_gets_its_partners() -> None:
    async def main() -> None:
        world = topology_world(1, first_of(1))
        judge = TopologyJudge(world)
        await grown(world)
        live = world.store.service_named(FIRST)
        assert live is not None
        assert "10.77.0.13:5010" in live.value.environment[PARTNERS_VARIABLE]
        lose_raft_files(world)
        await world.until_whole(300)
        await anyio.sleep(60)
        assert judge.violations == []
        assert len(world.patroni_model.primaries("main")) == 1

    run_virtual(main)


def test_with_an_empty_list_it_would_vote_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (partners, restart_need):
        monkeypatch.setattr(module, "has_empty_list", lambda state, member: False)

    async def main() -> None:
        world = topology_world(1, first_of(1))
        judge = TopologyJudge(world)
        await grown(world)
        lose_raft_files(world)
        await anyio.sleep(120)
        assert any("two Raft configurations" in text for text in judge.violations)

    run_virtual(main)
