"""The checker itself: it reports what an observation had to show, and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

import anyio
import structlog

from queenright.core.kinds.postgres_cluster.annotations import PRIMARY_LABEL
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY, Route
from queenright.core.planning.service_context import UPDATE_LIMIT
from tests.fakes.verbs import Verb
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, NODE_OF, manifest

SAFE = "is safe to power off"


async def deployed() -> tuple[World, Invariants]:
    """A whole cluster whose operator is gone, and its judge."""
    world = World()
    operator = world.start_operator()
    await world.until_whole()
    await anyio.sleep(10)
    await operator.kill()
    return world, Invariants(world)


async def look(world: World) -> None:
    """A pass begins."""
    await world.swarm.observe()


def tell_safe(world: World, invariants: Invariants) -> list[str]:
    """Return the reasons against a pass that reports both replicas' nodes as safe to stop."""
    leader = world.leader()
    assert leader is not None
    others = sorted(node for name, node in NODE_OF.items() if name != leader.name)
    invariants.heard({"maintenance/main": f"safe to power off: {', '.join(others)}"})
    return [text for text in invariants.violations if SAFE in text]


async def pause(world: World) -> None:
    """Pause as the operator does for a maintenance, and wait until every member knows."""
    leader = world.leader()
    assert leader is not None
    pin = Route("pin", leader.name, world.clock.now())
    patch = {"pause": True, PAUSE_KEY: "maintenance", ROUTE_KEY: str(pin)}
    world.patroni_model.consensus("main").change(patch, by_operator=True)
    await anyio.sleep(20)


def test_a_pause_lifted_during_the_pass_is_not_held_against_it() -> None:
    async def main() -> None:
        world, invariants = await deployed()
        await pause(world)
        await look(world)
        world.patroni_model.consensus("main").paused = False
        await anyio.sleep(2.5)
        assert tell_safe(world, invariants) == []

    run_virtual(main)


def test_a_pause_lifted_before_the_pass_is_held_against_it() -> None:
    async def main() -> None:
        world, invariants = await deployed()
        await pause(world)
        world.patroni_model.consensus("main").paused = False
        await anyio.sleep(2.5)
        await look(world)
        (text,) = tell_safe(world, invariants)
        assert "Patroni is not paused" in text

    run_virtual(main)


async def switchover_after(primary: str) -> list[str]:
    """Record member-1 as leading by the file's `primary`; ``primary`` is in force when the state
    config is written again; then it is desired, it fails, and the operator asks for its return."""
    world, invariants = await deployed()
    first, _, third = sorted(NODE_OF)
    world.manifests.write(FILE, manifest(primary=first))
    world.last_good.save({FILE: manifest(primary=primary)} if primary else {FILE: manifest()})
    state_config = world.store.configs["main_cluster"]
    noted = replace(state_config.value, labels={**state_config.value.labels, PRIMARY_LABEL: first})
    await anyio.sleep(1)
    world.store.label_config(state_config.id, state_config.version, noted)
    await anyio.sleep(1)
    world.last_good.save({FILE: manifest(primary=first)})
    world.patroni_model.switch_over("main", third)
    await anyio.sleep(10)
    await look(world)
    asked = next(i for i in world.patroni_model.of_cluster("main") if i.name == third)
    invariants.check_verb(Verb("switchover", asked, leader=third, candidate=first))
    return [text for text in invariants.violations if "fought" in text]


def test_a_wish_that_was_honoured_is_not_desired_again_after_a_failover() -> None:
    assert len(run_virtual(lambda: switchover_after("member-1"))) == 1


def test_a_note_of_a_wish_that_is_withdrawn_honours_nothing() -> None:
    assert run_virtual(lambda: switchover_after("")) == []


async def move_into_maintenance(*, edited_during_the_pass: bool) -> list[str]:
    """A move to a replica whose node is in maintenance by a text that was taken up before the pass
    began to look, or after."""
    world, invariants = await deployed()
    leader = world.leader()
    assert leader is not None
    candidate, _ = sorted(name for name in NODE_OF if name != leader.name)
    if edited_during_the_pass:
        await look(world)
        await anyio.sleep(0.4)
    world.last_good.save({FILE: manifest(maintenance=f"{{nodes: [{NODE_OF[candidate]}]}}")})
    await anyio.sleep(0.4)
    if not edited_during_the_pass:
        await look(world)
    verb = Verb("switchover", leader, leader=leader.name, candidate=candidate)
    invariants.check_verb(verb)
    return [text for text in invariants.violations if "in maintenance" in text]


def test_a_maintenance_that_is_in_force_when_a_pass_begins_is_to_be_minded() -> None:
    assert len(run_virtual(lambda: move_into_maintenance(edited_during_the_pass=False))) == 1


def test_a_maintenance_that_is_written_during_a_pass_is_minded_by_the_next() -> None:
    assert run_virtual(lambda: move_into_maintenance(edited_during_the_pass=True)) == []


async def stuck_update(world: World) -> str:
    """A replica that was given a second task by hand, which no node can take, and two changes after
    that: swarm's first update waits for that task for ever, and the second does not get to the
    member. The other replica's name."""
    leader = world.leader()
    assert leader is not None
    changed, other = sorted(f"main_{name}" for name in NODE_OF if name != leader.name)
    world.change_service(changed, replicas=2)
    await anyio.sleep(5)
    for grace_s in (77, 78):
        world.change_service(changed, stop_grace_s=grace_s)
        await anyio.sleep(30)
    return other


async def disrupt_after(wait_s: float) -> list[str]:
    world, invariants = await deployed()
    other = await stuck_update(world)
    await anyio.sleep(wait_s)
    assert world.is_whole()
    await look(world)
    live = world.service(other)
    invariants.check("update-service", (live.id, live.value, live.force_update + 1))()
    return invariants.violations


def test_a_member_whose_update_is_on_its_way_is_being_replaced() -> None:
    violations = run_virtual(lambda: disrupt_after(UPDATE_LIMIT.total_seconds() / 2))
    assert "is being replaced" in violations[0]


def test_an_update_stuck_at_a_task_without_a_node_replaces_nobody() -> None:
    assert run_virtual(lambda: disrupt_after(UPDATE_LIMIT.total_seconds() + 5)) == []


def test_the_holds_are_heard_whatever_level_another_test_has_set() -> None:
    before = structlog.get_config()["wrapper_class"]
    heard: list[Mapping[str, str]] = []
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        with broken_passes(heard.append):
            structlog.get_logger().info("pass", holds={"maintenance/main": "safe"})
    finally:
        structlog.configure(wrapper_class=before)
    assert heard == [{"maintenance/main": "safe"}]
