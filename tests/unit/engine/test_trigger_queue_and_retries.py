"""Wake-ups with many causes; and attempts, counted until their effect has lasted."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from queenright.core.actions import AnyAction, RestartService, UpdateService
from queenright.core.audit.record import Conflict, Done, Failed, Trigger
from queenright.core.observed import Attempt
from queenright.core.planning.backoff import FORGET_AFTER, attempt_key, delay_s
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.objects import Service
from queenright.engine.retries import Attempts, Tried
from queenright.engine.trigger_queue import SETTLE_S, Wakeup
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


def test_an_edit_waits_for_no_others() -> None:
    async def main() -> None:
        wakeup, edit = Wakeup(), replace(FILE, file="a.yaml", line=3)
        wakeup.notify(edit)
        assert await wakeup.wait(10) == edit
        assert anyio.current_time() == 0.0

        async def later() -> None:
            await anyio.sleep(SETTLE_S / 5)
            wakeup.notify(edit)

        wakeup.notify(DOCKER)
        async with anyio.create_task_group() as group:
            group.start_soon(later)
            assert await wakeup.wait(10) == edit
        assert anyio.current_time() == SETTLE_S / 5

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


def test_the_names_of_all_triggers_are_taken_once() -> None:
    async def main() -> None:
        wakeup, heard = Wakeup(), list[object]()
        wakeup.heard = heard.append
        wakeup.notify(DOCKER, ["main_proxy"])
        wakeup.notify(MEMBER, ["main_member-1"])
        assert wakeup.take_names() == {"main_proxy", "main_member-1"}
        assert wakeup.take_names() == frozenset()
        assert heard == [{"main_proxy"}, {"main_member-1"}]

    run_virtual(main)


def test_a_trigger_that_tells_no_name_may_concern_everything() -> None:
    async def main() -> None:
        wakeup = Wakeup()
        wakeup.notify(DOCKER, ["main_proxy"])
        wakeup.notify(FILE)
        wakeup.notify(MEMBER, ["main_member-1"])
        assert wakeup.take_names() is None
        assert wakeup.take_names() == frozenset()

    run_virtual(main)


SERVICE = Service("main_member-2", "member:16")
UPDATE = UpdateService("id", 1, SERVICE, 0, reason="a test")
RESTART = RestartService("id", 1, SERVICE, 1, reason="a test")
EMPTY = Plan("main", "")


def counts(attempts: Attempts) -> list[int]:
    return [attempt.count for attempt in attempts.counted.values()]


@pytest.mark.parametrize("action", [UPDATE, RESTART])
def test_attempts_add_up_while_the_action_is_wanted(action: AnyAction) -> None:
    attempts = Attempts()
    wanted = Plan("main", "", holds=(Hold(action.key, "waits"),))
    for number in range(1, 4):
        now = number * FORGET_AFTER.total_seconds() / 2
        attempts.record([(action, Failed(f"error {number}"))], now)
        attempts.forget_satisfied([wanted], now)
        assert attempts.counted[attempt_key(action)] == Tried(number, now, f"error {number}")
        assert attempts.as_of(now + 3)[attempt_key(action)] == Attempt(number, 3, f"error {number}")
    attempts.record([(action, Done())], 0.0)
    assert attempts.counted[attempt_key(action)].error == "", "the last error, not an older one"


@pytest.mark.parametrize(("action", "after_s"), [(UPDATE, 10), (RESTART, 600)])
def test_attempts_are_forgotten_once_nothing_has_wanted_them_for_a_while(
    action: AnyAction, after_s: int
) -> None:
    """Ten seconds; ten minutes for a restart, which swarm itself tries several times over."""
    attempts = Attempts()
    attempts.record([(action, Done())], 0.0)
    attempts.forget_satisfied([EMPTY], after_s)
    assert counts(attempts) == [1]
    attempts.forget_satisfied([EMPTY], after_s + 1)
    assert counts(attempts) == []


def test_waiting_is_not_taken_for_success() -> None:
    attempts = Attempts()
    attempts.record([(UPDATE, Done())], 0.0)
    held = Plan("main", "", holds=(Hold(UPDATE.key, "tried once"),))
    for minute in range(1, 6):
        attempts.forget_satisfied([held], 60 * minute)
    assert counts(attempts) == [1]


def test_another_edit_of_the_same_service_counts_for_itself() -> None:
    attempts = Attempts()
    other = replace(UPDATE, service=replace(SERVICE, hostname="x"))
    for _ in range(3):
        attempts.record([(UPDATE, Failed("no"))], 0.0)
    attempts.record([(other, Failed("no"))], 0.0)
    assert counts(attempts) == [3, 1]


def test_an_edit_to_and_fro_is_not_taken_for_a_try_without_effect() -> None:
    attempts = Attempts()
    for number in range(5):
        attempts.begin_anew()
        attempts.record([(UPDATE, Done())], 2.0 * number)
        attempts.forget_satisfied([Plan("main", "", actions=(UPDATE,))], 2.0 * number)
        attempts.forget_satisfied([EMPTY], 2.0 * number + 0.1)
        assert counts(attempts) == [1]


def test_an_edit_forgets_no_try_that_has_not_lasted() -> None:
    """Whatever the owner edits: a failed write, one that is undone again, a restart."""
    attempts = Attempts()
    held = Plan("main", "", holds=(Hold(UPDATE.key, "tried once"),))
    attempts.record([(UPDATE, Done()), (RESTART, Done())], 0.0)
    attempts.begin_anew()
    assert counts(attempts) == [1, 1], "no pass has looked yet"
    attempts.forget_satisfied([held], 1.0)
    attempts.begin_anew()
    assert counts(attempts) == [1, 1], "it is wanted still"
    attempts.forget_satisfied([EMPTY], 2.0)
    attempts.record([(UPDATE, Done())], 3.0)
    attempts.begin_anew()
    assert counts(attempts) == [2, 1], "it was undone since, and tried again"
    attempts.forget_satisfied([EMPTY], 4.0)
    attempts.begin_anew()
    assert counts(attempts) == [1], "a restart has no value, and is forgotten by time alone"


def test_the_first_retry_is_known_in_advance() -> None:
    attempts = Attempts()
    done, failed, again = (UPDATE, Done()), (RESTART, Failed("no")), (UPDATE, Conflict("late"))
    attempts.record([done], 0.0)
    assert attempts.retry_s([done]) is None
    assert attempts.retry_s([]) is None
    attempts.record([failed], 0.0)
    assert attempts.retry_s([done, failed]) == delay_s(RESTART.key, 1)
    for _ in range(4):
        attempts.record([again], 0.0)
    assert attempts.retry_s([failed, again]) == delay_s(RESTART.key, 1)
    assert attempts.retry_s([again]) == delay_s(UPDATE.key, 5)
