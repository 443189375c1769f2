"""The judge of what is remembered bites: a memory that forgets one of its inputs is caught."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
import pytest

from queenright.core.observed import Known, RaftStatus, Unknown
from queenright.core.observed.recorded.record import Record
from tests.fakes.running_operator import Operator
from tests.fakes.stage import StandingStill
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.remembered_judge import Judged

QUIET_S = 120.0
"""The time after which nothing waits any more, and all is remembered."""
Forget = Callable[[Record], None]
Change = Callable[[World], object]
Scene = tuple[World, Operator]


def without_source(source: str) -> Forget:
    """A key that lacks what was read of one source."""

    def forget(record: Record) -> None:
        reads: dict[tuple[Any, ...], object] = record._reads
        for key in [key for key in reads if key[1] == source]:
            del reads[key]

    return forget


def without_moments(record: Record) -> None:
    """A key that lacks the comparisons of the time."""
    record._before = record._after = None


def without_ages(record: Record) -> None:
    """A key that lacks the comparisons of ages."""
    record._until_s = {}


def add_stray_member(world: World) -> None:
    live = world.service("main_member-2")
    world.store.create_service(dataclasses.replace(live.value, name="stray", ports=()))


def lose_quorum(world: World) -> None:
    """The Raft node that is asked next says from now on that it has no quorum."""
    ask, alone = world.patroni.raft, list[str]()

    async def raft(address: str, port: int) -> Known[RaftStatus] | Unknown:
        found = await ask(address, port)
        alone.append(address)
        if isinstance(found, Known) and address == alone[0]:
            return Known(dataclasses.replace(found.value, has_quorum=False))
        return found

    world.patroni.raft = raft  # type: ignore[method-assign]  # as a port made worse


def set_clock_back(world: World) -> None:
    world.clock.skew_s = -21_600.0


CHANGES: dict[str, tuple[Forget, Change]] = {
    "swarm": (
        without_source("swarm"),
        lambda world: world.change_service("main_member-2", environment={}),
    ),
    "index": (without_source("index"), add_stray_member),
    "members": (
        without_source("members"),
        lambda world: world.patroni_model.switch_over("main", "member-2"),
    ),
    "raft": (without_source("raft"), lose_quorum),
    "settings": (
        without_source("settings"),
        lambda world: world.patroni_model.consensus("main").change({"ttl": 99}, by_operator=False),
    ),
    "ages": (without_ages, lose_quorum),
    "moments": (without_moments, set_clock_back),
}


async def quiet() -> Scene:
    """Return a cluster of which all is remembered, and its operator."""
    world = World()
    operator = world.start_operator()
    await world.until_whole()
    await anyio.sleep(QUIET_S)
    return world, operator


@cache
def quiet_cluster() -> StandingStill[Scene]:
    """Return the cluster from which each change goes on by itself."""
    return StandingStill(quiet)


async def then(scene: Scene, change: Change) -> None:
    """One change, and a while."""
    world, operator = scene
    change(world)
    await anyio.sleep(QUIET_S)
    await operator.kill()


async def quiet_then(change: Change) -> None:
    await then(await quiet(), change)


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_seen_though_all_is_remembered(name: str, nothing_is_stale: Judged) -> None:
    async def act(scene: Scene) -> tuple[Judged, list[str]]:
        before = nothing_is_stale.given_again
        with broken_passes() as broken:
            await then(scene, CHANGES[name][1])
        nothing_is_stale.given_again -= before
        return nothing_is_stale, list(map(str, broken))

    judged, broken = quiet_cluster().go_on(act)
    assert broken == []
    assert judged.given_again
    assert [*judged.wrong, *judged.failed_on_view] == []


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "swarm" else pytest.mark.slow) for n in CHANGES]
)
def test_a_key_that_lacks_an_input_is_caught(
    name: str, nothing_is_stale: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, (forget, change) = Record.closed, CHANGES[name]

    def forgetful(record: Record) -> Record:
        forget(record)
        return closed(record)

    monkeypatch.setattr(Record, "closed", forgetful)
    run_virtual(lambda: quiet_then(change))
    assert nothing_is_stale.wrong
    nothing_is_stale.wrong.clear()
