"""A total power loss while promotion is paused: a paused Patroni starts no PostgreSQL."""

from __future__ import annotations

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.faults import WORKERS
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, NODE_OF, manifest


@pytest.mark.parametrize("torn", ["", *NODE_OF])
def test_the_end_of_the_pause_brings_them_back_whoever_has_lost_its_log(torn: str) -> None:
    """The one that has lost its Raft log waits until the others have been a quorum for long, and
    their containers end without PostgreSQL: so the pause is lifted before all have a quorum."""

    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.manifests.write(FILE, manifest(promotion="paused"))
        await anyio.sleep(20)
        assert world.patroni_model.consensus("main").paused
        for node in WORKERS:
            world.power_cut(node)
        await anyio.sleep(10)
        for (_, source), volume in world.patroni_model.volumes.items():
            if torn and source.startswith(f"main_{torn}"):
                volume.raft = "torn"
        for node in WORKERS:
            world.power_on(node)
            await anyio.sleep(35)  # so that no two containers end at the same time
        await anyio.sleep(120)
        world.manifests.write(FILE, manifest())
        await world.until_whole()
        assert invariants.violations == []

    run_virtual(main)
