"""The loop tells twice that what lasts has been made, and no more often."""

from __future__ import annotations

import anyio

from queenright.engine.loop import SETTLED_S
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World


def test_it_tells_after_the_first_pass_and_after_one_a_minute_later() -> None:
    told_s: list[float] = []

    async def main() -> None:
        world = World()

        def settled() -> None:
            told_s.append(anyio.current_time())

        world.start_operator(settled=settled)
        await world.until_whole()
        await anyio.sleep(10 * SETTLED_S)

    run_virtual(main)
    assert len(told_s) == 2
    assert SETTLED_S <= told_s[1] - told_s[0] < 2 * SETTLED_S
