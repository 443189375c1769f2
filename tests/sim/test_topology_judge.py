"""The judge of topology changes sees each naive way, and nothing where none is gone."""

from __future__ import annotations

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.naive_ways import WAYS, Way
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import topology_world


async def deployed(world: World) -> None:
    """Deploy three members, and end the operator."""
    operator = world.start_operator()
    await world.until_whole()
    await anyio.sleep(5)
    await operator.kill()


async def go(way: Way | None) -> list[str]:
    world = topology_world(1)
    judge = TopologyJudge(world)
    await deployed(world)
    if way is not None:
        await way(world)
    await anyio.sleep(5)
    judge.at_rest()
    return judge.violations


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
def test_each_naive_way_is_seen(way: Way) -> None:
    found = run_virtual(lambda: go(way))
    assert any(WAYS[way] in text for text in found), found


def test_a_first_deployment_breaks_nothing() -> None:
    assert run_virtual(lambda: go(None)) == []
