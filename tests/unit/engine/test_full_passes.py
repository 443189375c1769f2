"""A full pass that only events or answers have asked for waits a while, and always comes."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.audit.record import Trigger
from queenright.engine.full_passes import REST_S, FullPasses
from tests.fakes.virtual_loop import run_virtual

DOCUMENTS = 1000
TOLD = frozenset({"main_member-1"})
DOCKER, MEMBER, TIMER = Trigger("docker", "an event"), Trigger("member"), Trigger("timer")
RESYNC_S = 15.0


def ended() -> FullPasses:
    passes = FullPasses()
    passes.ended(RESYNC_S)
    return passes


@pytest.mark.parametrize("trigger", [DOCKER, MEMBER])
def test_what_tells_names_waits_for_the_rest(trigger: Trigger) -> None:
    async def main() -> None:
        passes = ended()
        assert passes.may_wait(trigger, TOLD, DOCUMENTS)
        passes.owe(trigger, DOCUMENTS, RESYNC_S)
        assert passes.due_in_s() == pytest.approx(REST_S * DOCUMENTS)
        await anyio.sleep(REST_S * DOCUMENTS + 0.001)
        assert not passes.may_wait(trigger, TOLD, DOCUMENTS)

    run_virtual(main)


@pytest.mark.parametrize("kind", ["start", "file", "timer", "command"])
def test_no_other_trigger_waits(kind: str) -> None:
    async def main() -> None:
        trigger = Trigger(kind)  # type: ignore[arg-type]  # one of the literals
        assert not ended().may_wait(trigger, TOLD, DOCUMENTS)

    run_virtual(main)


def test_what_may_concern_everything_does_not_wait() -> None:
    async def main() -> None:
        assert not ended().may_wait(DOCKER, None, DOCUMENTS)
        assert not FullPasses().may_wait(DOCKER, TOLD, DOCUMENTS), "there was none yet"

    run_virtual(main)


def test_it_comes_no_later_than_time_may_change_a_plan() -> None:
    async def main() -> None:
        passes = ended()
        passes.owe(DOCKER, DOCUMENTS, 1.0)
        assert passes.due_in_s() == pytest.approx(1.0)

    run_virtual(main)


def test_more_triggers_do_not_put_it_off() -> None:
    async def main() -> None:
        passes = ended()
        for _ in range(8):
            passes.owe(DOCKER, DOCUMENTS, RESYNC_S)
            await anyio.sleep(REST_S * DOCUMENTS / 10)
        assert passes.due_in_s() == pytest.approx(REST_S * DOCUMENTS / 5)

    run_virtual(main)


def test_it_names_what_it_was_owed_to_once() -> None:
    async def main() -> None:
        passes = ended()
        passes.owe(DOCKER, DOCUMENTS, RESYNC_S)
        passes.owe(MEMBER, DOCUMENTS, RESYNC_S)
        assert passes.cause(TIMER) == DOCKER
        assert passes.cause(MEMBER) == MEMBER
        passes.ended(RESYNC_S)
        assert passes.cause(TIMER) == TIMER
        assert passes.due_in_s() == pytest.approx(RESYNC_S)

    run_virtual(main)


def test_after_one_that_was_ended_none_waits() -> None:
    async def main() -> None:
        passes = ended()
        passes.hasten()
        assert not passes.may_wait(DOCKER, TOLD, DOCUMENTS)

    run_virtual(main)
