"""Tests that several acts go on from one simulated moment, and that none changes another's."""

from __future__ import annotations

import asyncio
import os
from typing import NoReturn

import pytest

from tests.fakes.stage import StandingStill
from tests.support.forked import in_a_fork


class Clockwork:
    """Counts each second in a task of its own."""

    def __init__(self) -> None:
        self.seconds = 0
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.seconds += 1


async def began() -> Clockwork:
    clockwork = Clockwork()
    await asyncio.sleep(3.5)
    return clockwork


async def four_more(clockwork: Clockwork) -> tuple[int, float]:
    await asyncio.sleep(4)
    return clockwork.seconds, asyncio.get_running_loop().time()


def test_each_act_goes_on_from_the_same_moment_with_all_tasks() -> None:
    scene = StandingStill(began)
    assert scene.go_on(four_more) == (7, 7.5)
    assert scene.go_on(four_more) == (7, 7.5)


def test_a_failure_is_told_with_its_traceback() -> None:
    async def fail(clockwork: Clockwork) -> None:
        assert clockwork.seconds == 4, "not yet"

    scene = StandingStill(began)
    with pytest.raises(AssertionError, match=r"(?s)in fail\n.*not yet"):
        scene.go_on(fail)


def test_a_fork_that_ends_by_itself_has_failed() -> None:
    def end() -> NoReturn:
        os._exit(3)

    with pytest.raises(AssertionError, match="without an answer"):
        in_a_fork(end)


def test_an_answer_that_is_no_value_fails() -> None:
    with pytest.raises(AssertionError, match="pickle"):
        in_a_fork(lambda: lambda: 0)
