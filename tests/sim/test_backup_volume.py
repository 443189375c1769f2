"""A repository on a volume: put in, lost and back, its node named otherwise, taken out."""

from __future__ import annotations

import anyio

from queenright.core.swarm.objects import CLUSTER_LABEL
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.one_edit import holds_now
from tests.sim.test_backup import SECRET, Scene, holds_of
from tests.support.builders import BACKUP_ON_VOLUME, MEMBERS, manifest

WITH = manifest(backup=BACKUP_ON_VOLUME)
NAME = "main_repository"


def constraints(world: World) -> tuple[str, ...]:
    return world.service(NAME).value.constraints


def names(world: World) -> set[str]:
    labelled = (live.value for live in world.store.services.values())
    return {one.name for one in labelled if one.labels.get(CLUSTER_LABEL) == "main"}


async def on_a_volume() -> Scene:
    scene = await Scene().begin(SECRET)
    await scene.edit(WITH)
    assert await holds_of(scene.world) == []
    return scene


async def lost_and_back() -> list[list[tuple[str, bool]]]:
    scene = await on_a_volume()
    world, told = scene.world, []
    live = world.service(NAME)
    world.store.remove_service(live.id)
    await anyio.sleep(60)
    told.append(await holds_of(world))
    world.orchestrator.doomed[NAME] = 1.0
    for task in [one for one in world.store.tasks.values() if one.has_container]:
        if "REPOSITORY_PORT" in task.template.environment:
            world.orchestrator.fail(task, 1)
    await anyio.sleep(480)
    told.append(await holds_of(world))
    del world.orchestrator.doomed[NAME]
    await anyio.sleep(120)
    told.append(await holds_of(world))
    assert scene.invariants.violations == []
    return told


def test_a_service_that_was_removed_comes_back_and_one_that_is_away_is_told() -> None:
    assert run_virtual(lost_and_back) == [[], [("backup/main", True)], []]


async def named_elsewhere() -> tuple[list[tuple[str, bool]], tuple[str, ...], set[str]]:
    scene = await on_a_volume()
    environment = [one.environment for one in scene.services()]
    await scene.edit(manifest(backup=BACKUP_ON_VOLUME.replace("node1", "node4")))
    told, there = await holds_of(scene.world), constraints(scene.world)
    assert [one.environment for one in scene.services()] == environment
    (held,) = [h for h in (await holds_now(scene.world))[0] if h.key == "backup/main/node"]
    assert "node4 takes no effect, and main_repository stays on node1" in held.reason
    await scene.edit(manifest())
    assert scene.invariants.violations == []
    return told, there, names(scene.world)


def test_another_node_in_the_file_is_held_and_without_the_field_the_service_goes() -> None:
    told, there, left = run_virtual(named_elsewhere)
    assert told == [("backup/main/node", True)]
    assert there == ("node.hostname==node1",)
    assert left == {"main_proxy", *(f"main_{name}" for name in MEMBERS)}
