"""Members of many clusters at once, asked over real sockets: each that answers is known."""

from __future__ import annotations

import asyncio
import time

import anyio
import pytest

from queenright.adapters.patroni.http import PatroniHttp
from queenright.adapters.readiness_http import ReadinessHttp
from queenright.adapters.turns import Turns, attentive, open_at_most
from queenright.core.observed import Known
from queenright.core.observed.readiness import ReadinessTarget
from tests.polling.look import look
from tests.polling.stub_members import served, stub_members
from tests.unit.adapters.test_readiness_http import nobody

TIMEOUT_S = 10.0
LONG_S = 40.0


@pytest.mark.parametrize("clusters", [25, pytest.param(200, marks=pytest.mark.slow)])
async def test_every_member_that_answers_is_known_whoever_is_silent(clusters: int) -> None:
    with served(clusters) as there:
        patroni = PatroniHttp(TIMEOUT_S)
        found = await look(patroni, there)
        await patroni.aclose()
    assert found.asked > 6 * clusters
    assert found.answered == found.asked, found.reasons
    assert not found.wrongly_known


async def test_a_watcher_and_a_pass_do_not_wait_for_each_other() -> None:
    """Every question of a watcher is silent for as long as it may be; the pass has its answers."""
    with served(10) as there:
        (silent,) = [member for member in there.members if member.trouble == "silent"]
        watch, patroni = PatroniHttp(LONG_S), PatroniHttp(LONG_S)

        ended: list[object] = []

        async def ask_silent() -> None:
            ended.append(await watch.status(silent.address, there.rest_port))

        async with anyio.create_task_group() as group:
            for _ in range(open_at_most() + 50):  # more than one purpose has turns for
                group.start_soon(ask_silent)
            await anyio.sleep(2.0)  # they have taken all turns of a watcher
            found = await patroni.status(there.members[0].address, there.rest_port)
            waited_for = [*ended]
            group.cancel_scope.cancel()
    assert isinstance(found, Known)
    assert not waited_for


async def test_replicas_behind_silent_ones_are_known() -> None:
    with served(30) as there:
        silent = next(member for member in there.members if member.trouble == "silent")
        well = there.members[0]
        probe = ReadinessHttp(nobody(), timeout_s=5.0)
        targets = [
            ReadinessTarget(f"silent {n}", silent.address, there.rest_port) for n in range(150)
        ]
        targets += [ReadinessTarget(f"well {n}", well.address, there.rest_port) for n in range(150)]
        found = await probe.ask(targets)
        await probe.aclose()
    known = [task for task, reading in found.items() if isinstance(reading, Known)]
    assert sorted(known) == sorted(f"well {n}" for n in range(150))


async def test_a_silent_question_gives_its_turn_to_the_next() -> None:
    """All three have begun before the first one's time is over."""
    turns, told = Turns(busy=1), list[str]()

    async def be_silent() -> None:
        async with turns.turn(1.0):
            told.append("begins")
            await anyio.sleep_forever()

    async def wait_in_vain() -> None:
        with pytest.raises(TimeoutError):
            await be_silent()
        told.append("ends")

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(wait_in_vain)
    assert told == ["begins"] * 3 + ["ends"] * 3


async def test_an_answer_that_came_while_the_process_was_busy_counts() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, await anyio.connect_tcp("127.0.0.1", port) as stream:
        asyncio.get_running_loop().call_later(0.05, time.sleep, 0.6)
        with attentive(0.3):
            await anyio.sleep(0.1)
            assert await stream.receive() == b"here"


def test_the_stub_has_every_kind_of_trouble_and_leaders_without_any() -> None:
    members = stub_members(200)
    assert {member.trouble for member in members} == {"", "silent", "slow", "resetting", "endless"}
    assert not [member for member in members if member.leads and member.trouble]
