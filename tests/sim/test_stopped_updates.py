"""Updates of the proxies that swarm stops, because a task that it made for them fails.

Swarm never goes on with one by itself, and two of three proxies may be as they were before.
"""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.ruleset import RULESET
from queenright.core.planning import service_rollout
from queenright.core.planning.plan import Hold
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import plan_now
from tests.sim.invariants import Invariants
from tests.sim.test_proxy_rollouts import PROXY, away, manifest_with
from tests.support.builders import FILE

GOES_ON_S = 120.0
"""Longer than a task has to run before the update goes on, and a restart takes."""


def updated(world: World) -> int:
    """Return how many proxies run with the new configuration."""
    return sum(
        b"maxconn 400" in world.store.configs[file.name].value.data
        for task in world.containers(PROXY)
        for file in task.template.configs
        if "haproxy" in file.name
    )


async def begun(fails_for_s: float) -> tuple[World, Invariants]:
    """Edit the proxies, whose new containers end after a second for a while."""
    world = World()
    invariants = Invariants(world)
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(20)
    world.orchestrator.doomed[PROXY] = 1.0
    world.manifests.write(FILE, manifest_with(400))
    await anyio.sleep(fails_for_s)
    live = world.store.service_named(PROXY)
    assert live is not None
    assert live.update_state == "paused"
    assert updated(world) <= 1
    return world, invariants


async def held(world: World) -> list[Hold]:
    plan = await plan_now(world, RULESET)
    return [hold for hold in plan.holds if hold.key == f"rollout/{PROXY}"]


async def failed_once() -> tuple[int, int, list[str]]:
    """Return the new proxies in the end, the most that were away at once, and the violations."""
    world, invariants = await begun(fails_for_s=6.0)
    del world.orchestrator.doomed[PROXY]
    await anyio.sleep(20)
    (hold,) = await held(world)
    assert not hold.wants_attention
    assert hold.recheck_at is not None
    most = 0
    for _ in range(int(GOES_ON_S * 10)):
        await anyio.sleep(0.1)
        most = max(most, away(world))
    return updated(world), most, invariants.violations


def test_it_goes_on_once_what_failed_runs() -> None:
    assert run_virtual(failed_once) == (3, 1, [])


def test_without_the_rule_two_proxies_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_rollout, "is_stopped", lambda _: False)
    monkeypatch.setattr("queenright.core.planning.task_watch.is_stopped", lambda _: False)
    with pytest.raises(AssertionError, match="wants_attention"):
        run_virtual(failed_once)


def test_a_configuration_with_which_none_runs_reaches_one_proxy_only() -> None:
    async def main() -> None:
        world, invariants = await begun(fails_for_s=6.0)
        await anyio.sleep(900)
        (hold,) = await held(world)
        assert hold.wants_attention
        others = [task for task in world.containers(PROXY) if task.state == "running"]
        assert len(others) >= 2
        assert updated(world) <= 1
        assert invariants.violations == []
        del world.orchestrator.doomed[PROXY]
        world.manifests.write(FILE, manifest_with(300))
        await anyio.sleep(GOES_ON_S)
        assert world.is_whole()
        assert away(world) == 0

    run_virtual(main)
