"""Random histories of two clusters under one operator: neither's troubles reach the other."""

from __future__ import annotations

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import run
from tests.sim.neighbour import SIDE, SIDE_FILE, Neighbour, neighbour_script, with_neighbour
from tests.sim.seeds import faults, first_seed, histories_of
from tests.support.builders import FILE

FIRST, HISTORIES, FAULTS = first_seed(), histories_of(2, 20), faults()
SHARDS = 20


@pytest.mark.parametrize("shard", range(SHARDS))
def test_two_clusters_live_through_random_histories(shard: int) -> None:
    for seed in range(FIRST + shard, FIRST + HISTORIES, SHARDS):
        found: list[Neighbour] = []
        outcome = run(neighbour_script(seed, FAULTS), tamper=with_neighbour(seed, found))
        (neighbour,) = found
        assert not [*outcome.violations, *neighbour.violations], (
            f"seed {seed}: {neighbour.violations}\n{outcome}"
        )


def test_a_broken_file_of_one_cluster_leaves_the_other_in_hand() -> None:
    async def main() -> None:
        world = World()
        found: list[Neighbour] = []
        with_neighbour(0, found)(world)
        for owner in world.owners:
            owner.cancel()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)
        world.manifests.write(FILE, "spec: [")
        world.manifests.write(SIDE_FILE, SIDE + "  stopGracePeriod: 90s\n")
        await anyio.sleep(120)
        for name in found[0].subject.services:
            assert world.service(name).value.stop_grace_s == 90

    run_virtual(main)
