"""Raft nodes that end where their disk is full: with the process, or beside a Patroni that goes on.

As real members have it (`tests/e2e/cluster/test_full_disk.py`): pysyncobj's thread ends where it
can't store a term. Images from before 0.2.0 go on without it.
"""

from __future__ import annotations

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, NODE_OF, manifest


async def ended(*, leads: bool, mends: bool = False) -> tuple[World, Invariants, str]:
    """A cluster in which the Raft node of a replica or of the leader has ended three minutes ago;
    with an older image, or one that ``mends`` that."""
    world = World()
    world.patroni_model.ends_with_raft = mends
    invariants = Invariants(world)
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(20)
    leader = world.leader()
    assert leader is not None
    name = next(name for name in NODE_OF if (name == leader.name) is leads)
    assert world.end_raft(f"main_{name}")
    await anyio.sleep(180)
    return world, invariants, name


def able(world: World) -> frozenset[str]:
    return world.patroni_model.consensus("main").raft.able


def named(world: World) -> tuple[list[str], list[str]]:
    """The holds about silent Raft nodes that have begun, and that have ended."""
    records = world.audit.holds
    began = [hold.key for held in records for hold in held.began]
    begun = [key for key in began if key.startswith("silent-raft/")]
    return begun, [key for held in records for key in held.ended if key in begun]


@pytest.mark.parametrize("leads", [False, True])
def test_a_member_that_goes_on_without_it_is_named_until_it_starts_again(leads: bool) -> None:
    async def main() -> None:
        world, invariants, name = await ended(leads=leads)
        leader = world.leader()
        assert leader is not None
        assert leader.name != name, "it can't renew the lock"
        assert able(world) == {*NODE_OF} - {name}
        assert named(world) == ([f"silent-raft/main_{name}"], [])
        changed = world.changes
        await anyio.sleep(300)
        assert world.changes == changed, "nobody is restarted"
        world.kill_container(f"main_{name}")
        await world.until_whole()
        await anyio.sleep(120)
        assert able(world) == {*NODE_OF}
        assert named(world) == ([f"silent-raft/main_{name}"],) * 2
        assert (invariants.violations, world.patroni_model.lost) == ([], [])

    run_virtual(main)


def test_an_edit_that_restarts_the_members_begins_with_that_one() -> None:
    async def main() -> None:
        world, invariants, name = await ended(leads=False)
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(300)
        updated = [w.name for w in world.swarm.writes if w.kind == "update-service"]
        assert updated[0] == f"main_{name}"
        assert {*updated} == {f"main_{one}" for one in NODE_OF}
        assert world.is_whole()
        assert able(world) == {*NODE_OF}
        assert invariants.violations == []

    run_virtual(main)


@pytest.mark.parametrize("leads", [False, True])
def test_a_process_that_ends_with_it_comes_back_by_itself(leads: bool) -> None:
    async def main() -> None:
        world, invariants, _ = await ended(leads=leads, mends=True)
        assert world.is_whole()
        assert able(world) == {*NODE_OF}
        assert (invariants.violations, world.patroni_model.lost) == ([], [])

    run_virtual(main)
