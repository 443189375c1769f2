"""Giving way: what is due runs before the next step, and not after two more."""

from __future__ import annotations

import time

import anyio
from anyio.lowlevel import checkpoint

from queenright.engine.give_way import give_way

STEP_S = 0.01


async def steps_before_a_due_timer(pause: object) -> int:
    """Return the number of steps that run until a task, whose timer ends in the first one, does."""
    steps, woken_at = 0, 0

    async def waits() -> None:
        nonlocal woken_at
        await anyio.sleep(STEP_S / 2)
        woken_at = steps

    async with anyio.create_task_group() as group:
        group.start_soon(waits)
        await checkpoint()
        while not woken_at:
            steps += 1
            time.sleep(STEP_S)  # noqa: ASYNC251  # a step that holds the loop
            await pause()  # type: ignore[operator]
    return woken_at


async def test_what_falls_due_in_a_step_runs_before_the_next_one() -> None:
    assert await steps_before_a_due_timer(give_way) == 1


async def test_a_checkpoint_alone_lets_it_wait_for_others() -> None:
    assert await steps_before_a_due_timer(checkpoint) > 1
