"""The operator's clock is set, by hours and either way; a note outlives what it was written for."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.swarm.objects import RETIRING_LABEL
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.sim.test_edits import EMPTY
from tests.support.builders import FILE, manifest

HOURS_S = 6 * 3600.0
LONG_S = 1.2 * 3600.0


@pytest.mark.parametrize("jump_s", [-HOURS_S, HOURS_S])
def test_a_service_that_was_removed_is_back_whatever_the_clock_was_set_to(jump_s: float) -> None:
    """The second time it is held back after the first attempt, for a second."""

    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        for _ in range(2):
            world.store.remove_service(world.service("main_proxy").id)
            await anyio.sleep(3)
            assert world.store.service_named("main_proxy") is not None
        world.store.remove_service(world.service("main_proxy").id)
        world.clock.skew_s = jump_s
        await anyio.sleep(20)
        assert world.store.service_named("main_proxy") is not None

    run_virtual(main)


@pytest.mark.parametrize("jump_s", [-HOURS_S, pytest.param(HOURS_S, marks=pytest.mark.slow)])
def test_a_rollout_goes_on_whatever_the_clock_was_set_to(jump_s: float) -> None:
    """One member after the other, and the lead moved once, as without the jump."""

    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(8)
        world.clock.skew_s = jump_s
        await anyio.sleep(300)
        grace = {world.service(f"main_member-{n}").value.stop_grace_s for n in (1, 2, 3)}
        assert grace == {90.0}
        assert world.is_whole()
        assert invariants.violations == []

    run_virtual(main)


@pytest.mark.slow
@pytest.mark.parametrize("jump_s", [0.0, -HOURS_S, HOURS_S])
def test_a_note_of_an_earlier_absence_takes_nothing_from_the_minute(jump_s: float) -> None:
    """The document was back, paused, so that its note stayed; much later it is gone for a look."""

    async def main() -> None:
        world = World()
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.manifests.write(FILE, EMPTY)
        await anyio.sleep(30)
        paused = manifest(deletionPolicy="remove", reconcile="paused")
        world.manifests.write(FILE, paused)
        await anyio.sleep(20)
        assert RETIRING_LABEL in world.store.configs["main_cluster"].value.labels
        await operator.kill()
        await anyio.sleep(LONG_S)
        world.start_operator()
        await anyio.sleep(20)
        world.clock.skew_s = jump_s
        world.manifests.write(FILE, EMPTY)
        await anyio.sleep(50)
        assert world.is_whole()
        await anyio.sleep(40)
        assert world.store.service_named("main_proxy") is None

    run_virtual(main)
