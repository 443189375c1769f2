"""``switchover`` and ``failover`` on a simulated cluster: their actions and messages, and that
nothing is ever asked for twice."""

from __future__ import annotations

import asyncio
from itertools import count, takewhile

import anyio
import pytest

from queenright.cli.commands.failover import fail_over
from queenright.cli.commands.switchover import switch_over
from tests.fakes.fake_swarm import nothing
from tests.fakes.verbs import VerbFaults
from tests.support.builders import FILE, MANIFEST, document, manifest
from tests.support.simulated_commands import Act, Stage, on_stage


def to(candidate: str, *, force: bool = True) -> Act:
    return lambda live: switch_over(live, candidate, force=force)


def at_once(candidate: str, *, force: bool = True) -> Act:
    return lambda live: fail_over(live, candidate, force=force)


@pytest.mark.parametrize("with_operator", [True, False])
def test_a_planned_move(*, with_operator: bool) -> None:
    async def play(stage: Stage) -> None:
        assert stage.leader == "member-1"
        assert await stage.command(to("member-2"), "switchover --candidate member-2") == 0
        assert stage.leader == "member-2"
        assert "member-1 is the leader on timeline 1; member-2 streams, 0 bytes" in stage.out
        assert "member-2 is the leader on timeline 2, " in stage.out
        assert stage.tried()[:3] == ["route/main", "label-config/main_cluster", "switchover/main"]
        triggers = {r.trigger.detail for r in stage.world.audit.intents if r.trigger.detail}
        assert "switchover --candidate member-2, by somebody" in triggers
        assert stage.annotations.move is None
        await anyio.sleep(120)
        assert stage.leader == "member-2"
        assert stage.count("switchover") == 1
        assert not stage.has_hint

    on_stage(play, with_operator=with_operator)


def test_an_operator_beside_it_leaves_the_hint_and_the_move_alone() -> None:
    async def play(stage: Stage) -> None:
        await stage.command(to("member-3"))
        assert stage.tried().count("route/main") == 1
        assert stage.tried("member").count("switchover/main") == 0

    on_stage(play)


@pytest.mark.parametrize("with_operator", [True, False])
def test_a_lost_answer_is_settled_by_looking(*, with_operator: bool) -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.faults = VerbFaults(late=1.0)
        assert await stage.command(to("member-2")) == 0
        assert stage.leader == "member-2"
        assert stage.count("switchover") == 1
        assert "lost or ambiguous" in stage.out

    on_stage(play, with_operator=with_operator)


@pytest.mark.parametrize("with_operator", [True, False])
def test_a_request_that_comes_to_nothing(*, with_operator: bool) -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.faults = VerbFaults(vain=1.0)
        assert await stage.command(to("member-2")) == 1
        assert stage.leader == "member-1"
        assert stage.count("switchover") == 1
        assert "The leader has not changed" in stage.err
        await anyio.sleep(120)
        assert stage.count("switchover") == 1

    on_stage(play, with_operator=with_operator)


def test_a_second_command_waits_until_the_first_is_void() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni.faults = VerbFaults(late=1.0)
        async with anyio.create_task_group() as group:
            group.start_soon(stage.command, to("member-2"))
            await anyio.sleep(4)
            assert await stage.command(to("member-3")) == 1
        assert "a switchover from member-1 to member-2 was requested, and may still" in stage.err
        assert stage.count("switchover") == 1

    on_stage(play, with_operator=False)


def test_what_can_not_be_done_is_named() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(to("member-1")) == 0
        assert "member-1 is the leader already" in stage.out
        assert await stage.command(to("member-4")) == 64
        assert 'has no member member-4; did you mean "member-3"?' in stage.err
        stage.world.patroni_model.consensus("main").paused = True
        await anyio.sleep(15)
        assert await stage.command(to("member-2")) == 1
        assert "Patroni is paused; `queenright resume` lifts that" in stage.err
        stage.world.power_cut("node4")
        await anyio.sleep(20)
        assert await stage.command(to("member-2")) == 1
        assert "No switchover to member-2: " in stage.err
        assert stage.count("switchover") == 0
        assert stage.tried() == []

    on_stage(play)


def test_without_a_terminal_nothing_is_guessed() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(to("member-2", force=False)) == 64
        assert await stage.command(at_once("member-2", force=False)) == 64
        assert stage.err.count("--force to go on") == 2
        assert stage.tried() == []

    on_stage(play, with_operator=False)


@pytest.mark.parametrize(
    ("failback", "said"),
    [
        ("manual", "failback.mode is manual: the new leader stays"),
        ("automatic", "the operator switches back to it after 10m"),
    ],
)
def test_what_the_file_makes_of_it_is_told(failback: str, said: str) -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(to("member-2")) == 0
        assert "Note: spec.primary is member-1" in stage.out
        assert said in stage.out

    on_stage(play, manifest(primary="member-1", failback=failback))


def test_a_candidate_in_maintenance() -> None:
    text = manifest(maintenance="{nodes: [node3]}")

    async def play(stage: Stage) -> None:
        assert await stage.command(to("member-2")) == 1
        assert "member-2 is on node3, which is in maintenance" in stage.err

    on_stage(play, text)


def test_a_cluster_that_is_not_there() -> None:
    async def play(stage: Stage) -> None:
        stage.text = MANIFEST.replace("name: main", "name: other")
        assert await stage.command(to("member-2")) == 1
        assert "cluster other: not deployed in this swarm by queenright" in stage.err
        assert document(stage.text).origin.file == FILE

    on_stage(play, with_operator=False)


def test_an_emergency_says_what_it_can_cost() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(at_once("member-3")) == 0
        assert stage.leader == "member-3"
        assert "may lose data: at most 0 bytes of WAL that member-1 has" in stage.err
        assert "queenright switchover --candidate member-3" in stage.err
        assert stage.tried()[:2] == ["label-config/main_cluster", "failover/main"]
        assert stage.count("failover") == 1
        assert stage.annotations.move is None

    on_stage(play)


def test_an_emergency_without_a_leader() -> None:
    async def play(stage: Stage) -> None:
        stage.world.patroni_model.consensus("main").paused = True
        await anyio.sleep(15)
        stage.world.power_cut("node2")
        await anyio.sleep(60)
        assert stage.leader in {"", "member-1"}
        await stage.command(at_once("member-3"))
        assert "how much is unknown, as no leader answers" in stage.err
        assert stage.count("failover") == 1

    on_stage(play)


def test_who_can_not_lead_in_any_emergency() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(at_once("member-1")) == 1
        assert "member-1 is the leader already" in stage.err
        stage.world.power_cut("node4")
        await anyio.sleep(5)
        assert await stage.command(at_once("member-3")) == 1
        assert "member-3 does not answer" in stage.err
        assert stage.count("failover") == 0

    on_stage(play)


READS = ("status of", "settings of", "raft of", "observe", "resolve")


async def killed_at(stage: Stage, number: int) -> str:
    """Runs a switchover that is killed at its nth call that writes, or on the way back from it;
    says where, or nothing when it came to its end before."""
    place: list[str] = []
    reached = asyncio.Event()
    count = 0

    async def boundary(what: str) -> None:
        nonlocal count
        if what.startswith(READS):
            return
        count += 1
        if count == number:
            place.append(what)
            reached.set()
            await anyio.sleep_forever()

    world = stage.world
    world.swarm.boundary = world.patroni.boundary = boundary
    command = asyncio.create_task(stage.command(to("member-2")))
    waiting = asyncio.create_task(reached.wait())
    await asyncio.wait([command, waiting], return_when=asyncio.FIRST_COMPLETED)
    command.cancel()
    waiting.cancel()
    await asyncio.wait([command, waiting])
    world.swarm.boundary = world.patroni.boundary = nothing
    return "".join(place)


def put_right_after(number: int) -> str:
    """Kills a switchover at its nth write, starts an operator, and says where it was killed."""

    async def play(stage: Stage) -> str:
        place = await killed_at(stage, number)
        stage.operator = stage.world.start_operator()
        await anyio.sleep(120)
        assert stage.world.is_whole(), place
        assert stage.count("switchover") <= 1, place
        assert stage.annotations.move is None, place
        assert not stage.has_hint, place
        assert stage.leader in {"member-1", "member-2"}, place
        return place

    return on_stage(play, with_operator=False)


THE_MOVE = ["switchover to member-2", "switchover to member-2 was done"]


def test_a_command_that_is_killed_at_the_move_leaves_nothing_behind() -> None:
    assert [put_right_after(number) for number in (5, 6)] == THE_MOVE


@pytest.mark.slow
def test_a_command_that_is_killed_anywhere_leaves_nothing_behind() -> None:
    places = list(takewhile(bool, map(put_right_after, count(1))))
    assert set(THE_MOVE) < set(places)
