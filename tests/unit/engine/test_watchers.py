"""Watchers go on whatever happens in a round, and log it once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from queenright.core.audit.record import Trigger
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import (
    AT_ONCE,
    LISTEN_AGAIN_S,
    names_in,
    watch_files,
    watch_members,
    watch_swarm,
)
from queenright.engine.world import Tempo
from tests.fakes.virtual_loop import run_virtual

TEMPO = Tempo(file_poll_s=1.0, member_poll_s=1.0)


class Stumbling:
    """Stands for a port whose first few calls fail in a way that nobody foresaw."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.read_fingerprint = "old"
        self.member = MemberStatus("running", "primary")

    def stumble(self) -> None:
        if self.left:
            self.left -= 1
            raise AttributeError("'list' object has no attribute 'get'")

    async def fingerprint(self) -> str:
        self.stumble()
        return "new"

    async def refresh(self) -> Trigger:
        return Trigger("file", "edited")

    async def events(self) -> AsyncGenerator[str, None]:
        self.stumble()
        yield "service x update"

    async def status(self, address: str, port: int) -> Known[MemberStatus]:
        if address == "10.0.0.1":
            self.stumble()
        return Known(self.member)

    def members(self) -> list[tuple[str, str, int]]:
        return [("a", "10.0.0.1", 8008), ("b", "10.0.0.2", 8008)]


def heard(watcher: Any, wakeup: Wakeup, within_s: float) -> tuple[list[Trigger], list[Any]]:
    """Return a watcher's triggers in that time, and the warnings; it must still run at the end."""

    async def main() -> tuple[list[Trigger], list[Any]]:
        found: list[Trigger] = []
        coroutine: Coroutine[Any, Any, None] = watcher
        with capture_logs() as told:
            task = asyncio.get_running_loop().create_task(coroutine)
            with anyio.move_on_after(within_s):
                while True:
                    cause = await wakeup.wait(within_s)
                    if cause.kind != "timer":
                        found.append(cause)
            assert not task.done()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
        return found, told

    return run_virtual(main)


def test_files_are_watched_on() -> None:
    state: Any = Stumbling(3)
    wakeup = Wakeup()
    found, told = heard(watch_files(state, wakeup, TEMPO), wakeup, 6)
    assert found[0] == Trigger("file", "edited")
    assert len(told) == 1
    assert "AttributeError" in told[0]["error"]


def test_docker_is_listened_to_on() -> None:
    ports: Any = SimpleNamespace(swarm=Stumbling(3))
    wakeup = Wakeup()
    found, told = heard(watch_swarm(ports, wakeup), wakeup, 3 * LISTEN_AGAIN_S + 1)
    assert found == [Trigger("docker", "service x update")]
    assert len(told) == 1


def test_one_member_that_cannot_be_asked_hides_no_other() -> None:
    stumbling = Stumbling(3)
    ports: Any = SimpleNamespace(patroni_watch=stumbling)
    wakeup = Wakeup()
    found, told = heard(watch_members(ports, wakeup, TEMPO, stumbling.members), wakeup, 6)
    assert found == [Trigger("member", "a, b"), Trigger("member", "a")]
    assert len(told) == 1


def test_members_are_watched_on_when_the_list_itself_fails() -> None:
    stumbling = Stumbling(0)
    ports: Any = SimpleNamespace(patroni_watch=stumbling)
    fails = [2]

    def members() -> list[tuple[str, str, int]]:
        fails[0] -= 1
        if fails[0] >= 0:
            raise KeyError("main")
        return stumbling.members()

    wakeup = Wakeup()
    found, told = heard(watch_members(ports, wakeup, TEMPO, members), wakeup, 6)
    assert found == [Trigger("member", "a, b")]
    assert len(told) == 1


def test_a_replica_that_begins_to_confirm_commits_begins_a_pass() -> None:
    stumbling = Stumbling(0)
    ports: Any = SimpleNamespace(patroni_watch=stumbling)
    wakeup = Wakeup()
    watcher = watch_members(ports, wakeup, TEMPO, stumbling.members)

    async def later() -> None:
        await anyio.sleep(3.5)
        stumbling.member = replace(stumbling.member, synchronous="sync")

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(later)
            await watcher

    found, _ = heard(both(), wakeup, 6)
    assert found == [Trigger("member", "a, b"), Trigger("member", "a, b")]


def test_a_trouble_that_came_back_is_told_again() -> None:
    stumbling = Stumbling(2)
    ports: Any = SimpleNamespace(patroni_watch=stumbling)
    wakeup = Wakeup()
    watcher = watch_members(ports, wakeup, TEMPO, stumbling.members)

    async def later() -> None:
        await anyio.sleep(3.5)
        stumbling.left = 2
        stumbling.member = replace(stumbling.member, timeline=2)

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(later)
            await watcher

    _, told = heard(both(), wakeup, 8)
    assert len(told) == 2


class OneSilent(Stumbling):
    """The first member never answers in time, the second always at once."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked_at_s: dict[str, list[float]] = {}

    async def status(self, address: str, port: int) -> Known[MemberStatus]:
        self.asked_at_s.setdefault(address, []).append(anyio.current_time())
        if address == "10.0.0.1":
            await anyio.sleep(2)
        return Known(self.member)


def test_a_silent_member_delays_the_next_question_to_no_other() -> None:
    silent = OneSilent()
    ports: Any = SimpleNamespace(patroni_watch=silent)
    wakeup = Wakeup()
    found, _ = heard(watch_members(ports, wakeup, TEMPO, silent.members), wakeup, 10)
    assert found == [Trigger("member", "b"), Trigger("member", "a")]
    assert len(silent.asked_at_s["10.0.0.2"]) >= 7
    assert len(silent.asked_at_s["10.0.0.1"]) in (3, 4)


def test_others_run_while_many_members_begin_to_be_asked() -> None:
    begun: list[int] = []
    asked = 0
    members = [(f"m{number}", f"10.0.1.{number}", 8008) for number in range(20 * AT_ONCE)]

    async def status(address: str, port: int) -> Known[MemberStatus]:
        nonlocal asked
        asked += 1
        return Known(MemberStatus("running", "primary"))

    async def look() -> None:
        while True:
            begun.append(asked)
            await checkpoint()

    async def both() -> None:
        ports: Any = SimpleNamespace(patroni_watch=SimpleNamespace(status=status))
        async with anyio.create_task_group() as group:
            group.start_soon(watch_members, ports, Wakeup(), TEMPO, lambda: members)
            await anyio.sleep(TEMPO.member_poll_s - 0.001)
            group.start_soon(look)
            while asked < len(members):
                await checkpoint()
            group.cancel_scope.cancel()

    anyio.run(both)
    assert max(later - before for before, later in pairwise(begun)) <= 2 * AT_ONCE


def test_many_members_are_asked_less_often_than_few() -> None:
    silent = Stumbling(0)
    asked: list[float] = []

    async def status(address: str, port: int) -> Known[MemberStatus]:
        asked.append(anyio.current_time())
        return Known(silent.member)

    async def leading(places: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        await checkpoint()
        return frozenset(places)

    silent.member = replace(silent.member, holds_lock=True)
    ports: Any = SimpleNamespace(patroni_watch=SimpleNamespace(status=status, leading=leading))
    members = [(f"m{number}", f"10.0.1.{number}", 8008) for number in range(600)]
    wakeup = Wakeup()
    heard(watch_members(ports, wakeup, TEMPO, lambda: members), wakeup, 61)
    assert 9 * 600 <= len(asked) <= 12 * 600


@dataclass
class Hundreds:
    """Members of two hundred clusters, the first of each leading; those of ``gone`` are silent."""

    gone: set[str] = field(default_factory=set)
    asked: list[tuple[float, str]] = field(default_factory=list)
    probed: int = 0

    def members(self) -> list[tuple[str, str, int]]:
        names = [(c, m) for c in range(200) for m in (1, 2, 3)]
        return [(f"c{c}_member-{m}", f"10.{m}.{c // 100}.{c % 100}", 8008) for c, m in names]

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        self.asked.append((anyio.current_time(), address))
        if address in self.gone:
            await anyio.sleep(0.1)
            return Unknown("nobody answers")
        leads = address.startswith("10.1.")
        return Known(MemberStatus("running", "primary" if leads else "replica", holds_lock=leads))

    async def leading(self, places: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        self.probed += len(places)
        await anyio.sleep(0.05)
        return frozenset(place for place in places if place[0] not in self.gone)


def test_a_leader_of_many_clusters_is_missed_soon() -> None:
    """Its round comes after 6 s; that of the leaders each second."""
    there, wakeup = Hundreds(), Wakeup()
    ports: Any = SimpleNamespace(patroni_watch=there)

    async def main() -> tuple[Trigger, float, list[tuple[float, str]]]:
        watcher = watch_members(ports, wakeup, TEMPO, there.members)
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: watcher)
            await wakeup.wait(60)
            await anyio.sleep(2.5)
            there.gone.add("10.1.0.7")
            lost_s, before = anyio.current_time(), len(there.asked)
            trigger = await wakeup.wait(60)
            took_s = anyio.current_time() - lost_s
            await anyio.sleep(1.5)
            group.cancel_scope.cancel()
        return trigger, took_s, there.asked[before:]

    trigger, took_s, asked = run_virtual(main)
    assert trigger == Trigger("member", "c7_member-1")
    assert took_s <= 1.5
    assert wakeup.take_names() is not None
    assert {address for _, address in asked} == {"10.1.0.7", "10.2.0.7", "10.3.0.7"}
    assert len(asked) >= 6, "a cluster without a leader is asked each second"
    assert there.probed <= 5 * 200


def test_where_nobody_answers_not_all_members_are_asked_each_second() -> None:
    there, wakeup = Hundreds(), Wakeup()
    ports: Any = SimpleNamespace(patroni_watch=there)

    async def main() -> int:
        watcher = watch_members(ports, wakeup, TEMPO, there.members)
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: watcher)
            await wakeup.wait(60)
            there.gone |= {address for _, address, _ in there.members()}
            before = len(there.asked)
            await anyio.sleep(3)
            group.cancel_scope.cancel()
        return len(there.asked) - before

    assert run_virtual(main) <= 4 * AT_ONCE


def test_the_leaders_of_few_clusters_are_asked_in_their_round_alone() -> None:
    there, wakeup = Hundreds(), Wakeup()
    ports: Any = SimpleNamespace(patroni_watch=there)
    heard(watch_members(ports, wakeup, TEMPO, lambda: there.members()[:30]), wakeup, 10)
    assert there.probed == 0


@pytest.mark.parametrize(
    ("event", "names"),
    [
        ("service main_proxy update", {"main_proxy"}),
        ("config main_cluster update", {"main_cluster"}),
        ("secret main_pw create", {"main_pw"}),
        ("node n1 update", None),
        ("service", None),
        ("service  update", None),
        ("", None),
    ],
)
def test_an_event_names_its_object(event: str, names: set[str] | None) -> None:
    assert names_in(event) == names
