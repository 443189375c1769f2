"""One wake-up for many causes; and attempts that are counted until what they did has lasted."""

from __future__ import annotations

from datetime import timedelta

import anyio

from queenright.core.audit import Trigger
from queenright.core.backoff import FORGET_AFTER
from queenright.core.plan import Hold, Plan
from queenright.engine.attempts import Attempts
from queenright.engine.wakeup import SETTLE_S, Wakeup
from tests.builders import NOW
from tests.fakes.virtual_loop import run_virtual

FILE, DOCKER, MEMBER = (Trigger(kind, kind) for kind in ("file", "docker", "member"))


def test_a_burst_is_one_wake_up_under_its_most_telling_cause() -> None:
    async def main() -> None:
        wakeup = Wakeup()
        for trigger in (MEMBER, DOCKER, FILE, MEMBER):
            wakeup.notify(trigger)
        assert await wakeup.wait(10) == FILE
        assert anyio.current_time() == SETTLE_S
        assert await wakeup.wait(10) == Trigger("timer")

    run_virtual(main)


def test_what_comes_while_a_pass_runs_is_one_more_pass() -> None:
    async def main() -> None:
        wakeup = Wakeup()
        wakeup.notify(DOCKER)
        assert await wakeup.wait(10) == DOCKER
        wakeup.notify(MEMBER)
        wakeup.notify(MEMBER)
        assert await wakeup.wait(10) == MEMBER
        began = anyio.current_time()
        assert await wakeup.wait(10) == Trigger("timer")
        assert anyio.current_time() - began == 10

    run_virtual(main)


def test_a_cause_in_the_last_moment_is_not_lost() -> None:
    async def main() -> None:
        wakeup = Wakeup()

        async def late() -> None:
            await anyio.sleep(9.99)
            wakeup.notify(DOCKER)

        async with anyio.create_task_group() as group:
            group.start_soon(late)
            assert await wakeup.wait(10) == DOCKER

    run_virtual(main)


def test_attempts_add_up_while_the_action_is_wanted() -> None:
    attempts = Attempts()
    wanted = Plan("main", "", holds=(Hold("key", "waits"),))
    for number in range(1, 4):
        now = NOW + number * FORGET_AFTER / 2
        attempts.record(["key"], now)
        attempts.forget_satisfied([wanted], now)
        assert attempts.counted["key"].count == number
        assert attempts.counted["key"].last_at == now


def test_attempts_are_forgotten_once_nothing_has_wanted_them_for_a_minute() -> None:
    attempts = Attempts()
    attempts.record(["key"], NOW)
    empty = Plan("main", "")
    attempts.forget_satisfied([empty], NOW + FORGET_AFTER)
    assert "key" in attempts.counted
    attempts.forget_satisfied([empty], NOW + FORGET_AFTER + timedelta(seconds=1))
    assert attempts.counted == {}


def test_waiting_is_not_taken_for_success() -> None:
    attempts = Attempts()
    attempts.record(["key"], NOW)
    held = Plan("main", "", holds=(Hold("key", "tried once"),))
    for minute in range(1, 6):
        attempts.forget_satisfied([held], NOW + timedelta(minutes=minute))
    assert attempts.counted["key"].count == 1
