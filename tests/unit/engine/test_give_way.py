"""Giving way: what is due runs before the next step, and not after two more."""

from __future__ import annotations

import time

import anyio
from anyio.lowlevel import checkpoint

from queenright.engine.give_way import LONGEST_READ_S, between_documents, give_way, reading
from tests.fakes.virtual_loop import run_virtual

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


async def moments_of_documents(count: int) -> list[float]:
    """Return the loop's time after each of so many documents."""
    found = []
    for _ in range(count):
        await between_documents()
        found.append(anyio.current_time())
    return found


def test_a_pass_waits_for_a_reading_and_once_only_for_one_that_does_not_end() -> None:
    async def main() -> None:
        async def reads(seconds: float) -> None:
            with reading():
                await anyio.sleep(seconds)

        assert await moments_of_documents(2) == [0.0, 0.0]
        async with anyio.create_task_group() as group:
            group.start_soon(reads, LONGEST_READ_S / 2)
            await checkpoint()
            assert await moments_of_documents(2) == [LONGEST_READ_S / 2] * 2
            group.start_soon(reads, 3600.0)
            await checkpoint()
            began = anyio.current_time()
            assert await moments_of_documents(3) == [began + LONGEST_READ_S] * 3
            group.cancel_scope.cancel()

    run_virtual(main)
