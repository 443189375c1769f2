"""Two edits of the proxies, one soon after the other: never two of them are stopped at once.

Swarm's update of the second edit ends that of the first and begins with any node.
"""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from queenright.core.planning import service_rollout, task_watch
from tests.fakes.fake_swarm import Faults
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, manifest

PROXY = "main_proxy"
CHECKED_S = 4.0
"""A proxy routes nowhere before it has checked each member twice."""


def away(world: World) -> int:
    """Return how many of the three proxies route nowhere."""
    routing = [
        task
        for task in world.containers(PROXY)
        if task.state == "running" and world.now_s - (task.healthy_s or 0.0) >= CHECKED_S
    ]
    return 3 - len(routing)


async def edit_twice(pause_s: float, second: str = "") -> tuple[World, Invariants, int]:
    """Edit the proxies twice, and count those that are away at once. ``second`` is the second edit
    where it is no other configuration."""
    world = World()
    invariants = Invariants(world)
    world.orchestrator.starts_s = lambda task: 3.0 if task.template.name == PROXY else 0.0
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(20)
    most = 0
    for text in (manifest_with(400), second or manifest_with(300)):
        world.manifests.write(FILE, text)
        for _ in range(int(pause_s * 10)):
            await anyio.sleep(0.1)
            most = max(most, away(world))
    for _ in range(900):
        await anyio.sleep(0.1)
        most = max(most, away(world))
    assert away(world) == 0
    return world, invariants, most


def manifest_with(connections: int) -> str:
    return manifest().replace("  proxies:\n", f"  proxies:\n    maxConnections: {connections}\n")


OTHER_POLICY = manifest_with(400).replace("  proxies:\n", "  proxies:\n    update: {delay: 11s}\n")
"""The edit that replaces no proxy."""
PAUSES_S = (1.0, 2.0, 4.0, 7.0)


@pytest.mark.parametrize(
    "pause_s", [pytest.param(s, marks=pytest.mark.slow if 1 < s < 7 else []) for s in PAUSES_S]
)
def test_the_second_edit_waits_for_the_proxy_that_is_on_its_way(pause_s: float) -> None:
    world, invariants, most = run_virtual(lambda: edit_twice(pause_s))
    assert invariants.violations == []
    assert most == 1, "a rollout takes one proxy at a time"
    texts = [
        world.store.configs[file.name].value.data
        for task in world.containers(PROXY)
        for file in task.template.configs
        if "haproxy" in file.name
    ]
    assert [b"maxconn 300" in text for text in texts] == [True] * 3


@pytest.mark.parametrize(
    "pause_s", [pytest.param(s, marks=pytest.mark.slow if s != 2 else []) for s in PAUSES_S]
)
def test_a_second_edit_that_replaces_no_proxy_waits_too(pause_s: float) -> None:
    """Any write of the service ends swarm's update, which then begins with any proxy again."""
    world, invariants, most = run_virtual(lambda: edit_twice(pause_s, OTHER_POLICY))
    assert invariants.violations == []
    assert most == 1
    live = world.store.service_named(PROXY)
    assert live is not None
    assert live.value.update.delay_s == 11


@pytest.mark.slow
@pytest.mark.parametrize("skew_s", [0.0, 7200.0, -7200.0])
def test_an_operator_that_has_just_started_waits_whatever_its_clock_says(skew_s: float) -> None:
    """By a clock two hours ahead, a proxy that swarm has just stopped is long on its way, and no
    more is expected of it."""

    async def main() -> tuple[Invariants, int]:
        world = World()
        invariants = Invariants(world)
        world.orchestrator.starts_s = lambda task: 8.0 if task.template.name == PROXY else 0.0
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.manifests.write(FILE, manifest_with(400))
        await anyio.sleep(3)
        await operator.stop()
        world.clock.skew_s = skew_s
        world.manifests.write(FILE, manifest_with(300))
        world.start_operator()
        most = 0
        for _ in range(1200):
            await anyio.sleep(0.1)
            most = max(most, away(world))
        assert away(world) == 0
        return invariants, most

    invariants, most = run_virtual(main)
    assert invariants.violations == []
    assert most == 1


@pytest.mark.slow
@pytest.mark.parametrize("second", ["", OTHER_POLICY], ids=["another task", "another policy"])
def test_a_second_edit_that_does_not_wait_is_caught(
    second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_rollout, "rollout_in_the_way", lambda *_: None)
    found = [run_virtual(partial(edit_twice, pause_s, second)) for pause_s in (2.0, 4.0, 7.0)]
    assert any("is coming" in text for _, judge, _ in found for text in judge.violations)
    assert max(most for _, _, most in found) > 1


async def label_lost_while_nobody_looks(away_s: float) -> tuple[Invariants, int]:
    """Take a proxy's node its label while the operator can't see it, and count the most of the
    three proxies that are away at once."""
    world = World()
    invariants = Invariants(world)
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(20)
    world.label("node3", pg_ha_node=None)
    world.swarm.faults = Faults(unavailable=1.0, event_lost=1.0, stream_ends=1.0)
    await anyio.sleep(away_s)
    world.swarm.faults = Faults()
    most = 0
    for _ in range(600):
        await anyio.sleep(0.1)
        most = max(most, away(world))
    assert away(world) == 0
    return invariants, most


@pytest.mark.parametrize("is_new", [None, False], ids=["as it is", "without the wait"])
def test_a_node_that_gets_its_label_again_costs_no_other_proxy(
    is_new: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its former task has long ended, and swarm has not made the next one yet."""
    if is_new is not None:
        monkeypatch.setattr(task_watch, "is_new", lambda *_: is_new)
    found = [run_virtual(partial(label_lost_while_nobody_looks, 14 + k / 5)) for k in range(5)]
    assert [judge.violations for judge, _ in found] == [[]] * 5
    assert (max(most for _, most in found) == 1) == (is_new is None)
