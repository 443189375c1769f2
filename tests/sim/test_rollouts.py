"""The modelled swarm's own updates, as swarmkit carries them out: what the histories rest on."""

from __future__ import annotations

import dataclasses

import anyio

from queenright.core.kinds.postgres_cluster.desired.services import NO_CHECK
from queenright.core.swarm.objects import (
    APP_LABEL,
    FileReference,
    RestartPolicy,
    Secret,
    Service,
)
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.app_documents import CRASHING_IMAGE, DEAF_IMAGE, IMAGES
from tests.sim.app_world import AppWorld, with_app
from tests.support.app_builders import APP_IMAGE, NEXT_IMAGE, WEB

MONITOR_S = 30.0
UNHEALTHY_S = 60.0 + 3 * 5.0
"""The start period, and as many checks as the file's health check has retries."""


async def deployed() -> World:
    """The application with two replicas, its swarm at rest, and no operator any more."""
    world, worlds = World(), list[AppWorld]()
    with_app(0, worlds)(world)
    for owner in world.owners:
        owner.cancel()
    world.swarm.images |= IMAGES
    operator = world.start_operator()
    await world.until_whole()
    await anyio.sleep(60)
    await operator.kill()
    assert states(world) == ["running", "running"]
    return world


def one_job() -> Service:
    """Return a job that the image's entry point accepts."""
    return Service(
        name="job",
        image=APP_IMAGE,
        mode="replicated-job",
        container_labels={APP_LABEL: "notes"},
        secrets=(FileReference("pw", "pw"),),
        health_check=NO_CHECK,
        restart=RestartPolicy("none"),
    )


def states(world: World) -> list[str]:
    return [task.state for task in world.containers(WEB)]


def change(world: World, image: str) -> None:
    world.change_service(WEB, image=f"{image}@{IMAGES[image]}")


def image(world: World) -> str:
    return world.service(WEB).value.image.partition("@")[0]


async def update(bad: str) -> tuple[World, list[str]]:
    world = await deployed()
    change(world, bad)
    await anyio.sleep(3)
    meanwhile = sorted(states(world))
    await anyio.sleep(UNHEALTHY_S + MONITOR_S + 20)
    return world, meanwhile


def test_an_update_is_over_when_its_last_task_has_been_watched() -> None:
    async def told() -> list[str]:
        world = await deployed()
        change(world, NEXT_IMAGE)
        found = []
        for _ in range(30):
            await anyio.sleep(2)
            found.append(world.service(WEB).update_state)
        return found

    found = run_virtual(told)
    assert (found[0], found[-1]) == ("updating", "completed")
    assert found.count("updating") * 2 > MONITOR_S


def test_what_is_never_healthy_is_taken_back_and_no_old_replica_has_stopped() -> None:
    world, meanwhile = run_virtual(lambda: update(DEAF_IMAGE))
    assert meanwhile == ["running", "running", "starting"]
    assert (image(world), states(world)) == (APP_IMAGE, ["running", "running"])
    assert world.service(WEB).update_state == "rollback_completed"


def test_what_ends_by_itself_is_taken_back() -> None:
    world, _ = run_virtual(lambda: update(CRASHING_IMAGE))
    assert (image(world), states(world)) == (APP_IMAGE, ["running", "running"])
    assert world.service(WEB).update_started_at > world.service(WEB).created_at


def test_a_write_in_the_middle_is_what_swarm_goes_back_to() -> None:
    """The version that fails is then the former one too, and the replica whose successor was not
    healthy is gone."""

    async def written_over() -> World:
        world = await deployed()
        change(world, DEAF_IMAGE)
        await anyio.sleep(5)
        labels = {**world.service(WEB).value.labels, "backup": "daily"}
        world.change_service(WEB, labels=labels)
        await anyio.sleep(5)
        assert sorted(states(world)) == ["running", "starting"]
        await anyio.sleep(UNHEALTHY_S + MONITOR_S)
        return world

    world = run_virtual(written_over)
    assert image(world) == DEAF_IMAGE


def test_a_jobs_task_is_to_be_complete_and_is_made_once() -> None:
    async def job(exit_code: int) -> list[tuple[str, str]]:
        world = World()
        world.startable |= IMAGES.keys()
        world.store.create_secret(Secret("pw"))
        world.orchestrator.job_exit_code = exit_code
        service = dataclasses.replace(one_job(), name=f"job-{exit_code}")
        world.store.create_service(service)
        found: list[tuple[str, str]] = []
        for _ in range(2):
            await anyio.sleep(1.5 if not found else 30)
            (task,) = world.store.tasks.values()
            found.append((task.state, task.desired))
        return found

    assert run_virtual(lambda: job(0)) == [("running", "complete"), ("complete", "complete")]
    assert run_virtual(lambda: job(1)) == [("running", "complete"), ("failed", "shutdown")]
