"""An edit ends a full pass that has not begun to act, while the last whole one is not long ago."""

from __future__ import annotations

from itertools import pairwise

import anyio

from queenright.engine.interruption import LONGEST_WITHOUT_S, Interruption
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import FILE, manifest

LOOK_S = 6.0
"""The time that a reading of the swarm takes."""


def test_events_end_every_second_pass_at_most() -> None:
    async def main() -> None:
        interruption, ended = Interruption(), list[bool]()
        for _ in range(5):
            with interruption.may_end() as scope:
                interruption.end()
                await anyio.sleep(1)
            ended.append(scope.cancelled_caught)
        assert ended == [True, False, True, False, True]

    run_virtual(main)


def test_edits_end_passes_until_one_has_to_be_whole() -> None:
    async def main() -> None:
        interruption, whole_s = Interruption(), list[float]()
        while anyio.current_time() < 3 * LONGEST_WITHOUT_S:
            with interruption.may_end() as scope:
                await anyio.sleep(0.4)
                interruption.end_for_edit()
                await anyio.sleep(0.6)
            if not scope.cancelled_caught:
                whole_s.append(anyio.current_time())
        apart_s = [late - early for early, late in pairwise([0.0, *whole_s])]
        assert len(apart_s) == 2
        assert all(LONGEST_WITHOUT_S <= apart < LONGEST_WITHOUT_S + 2 for apart in apart_s)

    run_virtual(main)


def test_nothing_ends_what_does_not_run() -> None:
    async def main() -> None:
        interruption = Interruption()
        interruption.end()
        with interruption.may_end() as scope:
            await anyio.sleep(1)
        assert not scope.cancelled_caught

    run_virtual(main)


async def seconds_to_the_first_line(world: World) -> float:
    """Return the time from an edit in the middle of a pass to the trail's first line about it."""
    looks: list[float] = []

    async def slowly(what: str) -> None:
        if what == "observe":
            looks.append(world.now_s)
            await anyio.sleep(LOOK_S if len(looks) == 1 else 0.0)

    world.start_operator()
    await world.until_whole()
    await anyio.sleep(120)
    world.swarm.boundary = slowly
    while not looks:  # noqa: ASYNC110  # a fake tells nobody
        await anyio.sleep(0.05)
    known, began = len(world.audit.intents), world.now_s
    world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
    while len(world.audit.intents) == known:  # noqa: ASYNC110  # as above
        await anyio.sleep(0.01)
    return world.now_s - began


def test_an_edit_does_not_wait_for_the_pass_that_runs() -> None:
    async def main() -> None:
        assert await seconds_to_the_first_line(World()) < LOOK_S / 2

    run_virtual(main)


def test_the_full_pass_leaves_the_processor_to_the_reading_of_an_edit() -> None:
    """It ends at the first look that finds the edit, one look before the files are read."""

    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)
        ended_s, read_s = list[float](), list[float]()

        async def slowly(what: str) -> None:
            if what == "observe" and not ended_s:
                try:
                    await anyio.sleep(LOOK_S)
                except anyio.get_cancelled_exc_class():
                    ended_s.append(world.now_s)
                    raise

        world.swarm.boundary = slowly
        world.store.remove_service(world.service("main_proxy").id)
        await anyio.sleep(0.5)
        read = world.manifests.read
        world.manifests.read = lambda: read_s.append(world.now_s) or read()  # type: ignore[method-assign,func-returns-value]
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(LOOK_S)
        assert ended_s
        assert read_s
        assert ended_s[0] < read_s[0]

    run_virtual(main)


def test_edits_without_a_pause_keep_no_full_pass_away() -> None:
    """A proxy that goes away is made again by a full pass, while files change all the time."""

    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)

        async def slowly(what: str) -> None:
            if what == "observe":
                await anyio.sleep(LOOK_S / 8)

        world.swarm.boundary = slowly
        world.store.remove_service(world.service("main_proxy").id)
        for number in range(60):
            world.manifests.write(FILE, manifest(deletionPolicy="remove" if number % 2 else "keep"))
            await anyio.sleep(1.0)
        assert world.store.service_named("main_proxy") is not None

    run_virtual(main)
