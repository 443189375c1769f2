"""Members of hundreds of clusters are watched: less often each, and their leaders each second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from queenright.core.audit.record import Trigger
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import (
    AT_ONCE,
    MemberWatch,
)
from queenright.settings import PollIntervals
from tests.fakes.virtual_loop import run_virtual
from tests.support.watching import Stumbling, heard

TEMPO = PollIntervals(file_poll_s=1.0, member_poll_s=1.0)


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
    heard(MemberWatch(ports.patroni_watch, wakeup, lambda: members).run(TEMPO), wakeup, 61)
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
        watcher = MemberWatch(ports.patroni_watch, wakeup, there.members).run(TEMPO)
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
        watcher = MemberWatch(ports.patroni_watch, wakeup, there.members).run(TEMPO)
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
    heard(
        MemberWatch(ports.patroni_watch, wakeup, lambda: there.members()[:30]).run(TEMPO),
        wakeup,
        10,
    )
    assert there.probed == 0
