"""A member that was removed comes back to its place after all others have moved elsewhere.

Its Raft directory is still there, with the voters of that time, which pysyncobj takes rather than
what its partners say: it reaches none of today's, and counts for the quorum.
"""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.swarm.objects import RAFT_RESET_VARIABLE
from tests.fakes.images import FIRST
from tests.fakes.raft_lists import DUMP_S
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.documents import NEXT_IMAGE
from tests.sim.test_raft_files import without_the_rule
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import PLACES, SPARES, text_of, topology_world, write_members
from tests.support.builders import DIGESTS, MEMBER_IMAGE

FORMER = "main_member-4"
STAYING = ("member-1", "member-2", "member-3")
BOTH = (*STAYING, "member-4")
ELSEWHERE = dict(zip(STAYING, ("node6", *SPARES), strict=True))


async def come_back(is_set_aside: bool, ruleset: Ruleset = RULESET) -> list[str]:
    """Have a former member come back; return the services that the operator has asked to set their
    Raft log aside.

    ``is_set_aside``: the image is one whose entry point looks for that.
    """
    world = topology_world(1, text_of(*STAYING))
    world.patroni_model.sets_former_logs_aside = is_set_aside
    judge = TopologyJudge(world)
    await add_remove_and_add(world, ruleset)
    judge.at_rest()
    assert judge.violations == []
    services = world.store.services.values()
    return [s.value.name for s in services if RAFT_RESET_VARIABLE in s.value.environment]


async def add_remove_and_add(world: World, ruleset: Ruleset = RULESET) -> None:
    """Add a member, remove it, move all others, and add it again where its volumes are."""
    world.start_operator(ruleset)
    await world.until_whole()
    for text in (text_of(*BOTH), text_of(*STAYING)):
        write_members(world, text)
        await world.until_whole(900)
        await anyio.sleep(DUMP_S + 10)
    for count in (1, 2, 3):
        at = {name: ELSEWHERE[name] for name in STAYING[:count]}
        write_members(world, text_of(*STAYING, at=at))
        await world.until_whole(900)
    assert {PLACES[name] for name in STAYING}.isdisjoint(ELSEWHERE.values())
    write_members(world, text_of(*BOTH, at=ELSEWHERE))
    await world.until_whole(900)


async def with_the_first_image() -> None:
    """Its entry point ignores the request: the operator makes it three times, and leaves the member
    as it is until the file has a newer image."""
    world = topology_world(1, text_of(*STAYING))
    world.patroni_model.older_images[DIGESTS[MEMBER_IMAGE]] = FIRST
    world.startable |= {NEXT_IMAGE}
    world.swarm.images[NEXT_IMAGE] = f"sha256:{'c' * 64}"
    judge = TopologyJudge(world)
    with pytest.raises(TimeoutError):
        await add_remove_and_add(world)
    starts = [w for w in world.swarm.writes if (w.kind, w.name) == ("update-service", FORMER)]
    assert len(starts) == 3
    text = text_of(*BOTH, at=ELSEWHERE)
    write_members(world, text.replace(MEMBER_IMAGE, NEXT_IMAGE))
    await world.until_whole(1800)
    judge.at_rest()
    assert judge.violations == []


@pytest.mark.slow
def test_one_of_the_first_image_is_not_started_for_ever() -> None:
    run_virtual(with_the_first_image)


def test_its_entry_point_sets_its_raft_log_aside() -> None:
    assert run_virtual(partial(come_back, is_set_aside=True)) == []


def test_the_operator_asks_a_member_of_an_image_before_that() -> None:
    assert run_virtual(partial(come_back, is_set_aside=False)) == ["main_member-4"]


@pytest.mark.slow
def test_without_either_it_is_never_whole() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await come_back(is_set_aside=False, ruleset=without_the_rule())

    run_virtual(main)
