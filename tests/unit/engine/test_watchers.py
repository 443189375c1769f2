"""Watchers go on whatever happens in a round, and log it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from queenright.core.audit.record import Trigger
from queenright.core.observed import Known, MemberStatus
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import (
    AT_ONCE,
    FILE_S,
    LISTEN_AGAIN_S,
    MemberWatch,
    names_in,
    watch_files,
    watch_swarm,
)
from queenright.settings import PollIntervals
from tests.support.watching import Stumbling, heard

TEMPO = PollIntervals(file_poll_s=1.0, member_poll_s=1.0)


def test_files_are_watched_on() -> None:
    state: Any = Stumbling(3)
    wakeup = Wakeup()
    found, told = heard(watch_files(state, wakeup, TEMPO), wakeup, 6)
    assert found[0] == Trigger("file", "edited")
    assert len(told) == 1
    assert "AttributeError" in told[0]["error"]


class Edited:
    """Stands for files that a person's editor writes in several steps, a look apart."""

    def __init__(self, looks: Sequence[str], documents: int = 1) -> None:
        self.looks, self.read_fingerprint = list(looks), looks[0]
        self.documents = [None] * documents
        self.said: list[str] = []

    async def fingerprint(self) -> str:
        now = self.looks[0]
        if len(self.looks) > 1:
            del self.looks[0]
        self.said.append(now)
        return now

    async def refresh(self) -> Trigger:
        self.said.append("read")
        self.read_fingerprint = self.looks[0]
        return Trigger("file", "edited")

    def changing(self) -> None:
        self.said.append("changing")


def test_an_edit_is_told_at_the_first_look_and_once() -> None:
    state: Any = Edited(["a", "a", "b", "c", "d", "d", "d", "e", "e"])
    wakeup = Wakeup()
    found, _ = heard(watch_files(state, wakeup, TEMPO), wakeup, 9.5)
    said = "a a b changing c d d read d e changing e read"
    assert state.said[: len(said.split())] == said.split()
    assert found == [Trigger("file", "edited")] * 2


def test_many_quiet_files_are_looked_at_less_often() -> None:
    """The look after one that has found an edit comes as soon as with few files."""
    looks = ["a"] * 4 + ["b"] * 20
    state: Any = Edited(looks, documents=int(3 * TEMPO.file_poll_s / FILE_S))
    heard(watch_files(state, wakeup := Wakeup(), TEMPO), wakeup, 13.5)
    assert state.said == ["a", "a", "a", "a", "b", "changing", "b", "read"]


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
    found, told = heard(
        MemberWatch(ports.patroni_watch, wakeup, stumbling.members).run(TEMPO), wakeup, 6
    )
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
    found, told = heard(MemberWatch(ports.patroni_watch, wakeup, members).run(TEMPO), wakeup, 6)
    assert found == [Trigger("member", "a, b")]
    assert len(told) == 1


def test_a_replica_that_begins_to_confirm_commits_begins_a_pass() -> None:
    stumbling = Stumbling(0)
    ports: Any = SimpleNamespace(patroni_watch=stumbling)
    wakeup = Wakeup()
    watcher = MemberWatch(ports.patroni_watch, wakeup, stumbling.members).run(TEMPO)

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
    watcher = MemberWatch(ports.patroni_watch, wakeup, stumbling.members).run(TEMPO)

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
    found, _ = heard(
        MemberWatch(ports.patroni_watch, wakeup, silent.members).run(TEMPO), wakeup, 10
    )
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
            watch = MemberWatch(ports.patroni_watch, Wakeup(), lambda: members)
            group.start_soon(watch.run, TEMPO)
            await anyio.sleep(TEMPO.member_poll_s - 0.001)
            group.start_soon(look)
            while asked < len(members):
                await checkpoint()
            group.cancel_scope.cancel()

    anyio.run(both)
    assert max(later - before for before, later in pairwise(begun)) <= 2 * AT_ONCE


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
