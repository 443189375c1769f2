"""Base backups that a person asks for: made once, whatever ends in between; jobs left behind."""

from __future__ import annotations

import dataclasses
import random
from datetime import datetime, timedelta

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.backup.request import REQUEST_LABEL, with_backup_request
from queenright.core.kinds.postgres_cluster.desired.base_backup import BackupPlan, list_job
from queenright.core.kinds.postgres_cluster.desired.data_end import data_end_job
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.virtual_loop import run_virtual
from tests.sim.history import LEISURELY
from tests.sim.mutations import seeing
from tests.sim.seeds import turns
from tests.sim.test_base_backups import JOB, REPOSITORY, Scene, scheduled
from tests.support.builders import FILE, NODE_OF, manifest

UNSCHEDULED = manifest(backup=f"{{{REPOSITORY}, retention: {{count: 3}}}}")
LIST_JOB, DATA_END_JOB = "main_backup_list", "main_data-end_member-2"
LEFT = (LIST_JOB, DATA_END_JOB)


def ask(scene: Scene) -> datetime:
    """Write the label as the command does; return its moment."""
    store = scene.world.store
    live, at = store.configs["main_cluster"], scene.world.clock.now().replace(microsecond=0)
    labels = with_backup_request(live.value.labels, at)
    store.label_config(live.id, live.version, dataclasses.replace(live.value, labels=labels))
    return at


def is_open(scene: Scene) -> bool:
    return REQUEST_LABEL in scene.world.store.configs["main_cluster"].value.labels


STEPS = ("ask", "ask", "kill", "away", "back", "move", "list", "edit", "power")


async def history(seed: int) -> Scene:
    """Requests between deaths of the operator, faults of the repository and changes of leader;
    then all is well, and somebody asks once more."""
    rng, scene = random.Random(seed), await Scene().begin(UNSCHEDULED)
    world = scene.world
    for _ in range(12):
        await anyio.sleep(rng.uniform(0.5, 90))
        match rng.choice(STEPS):
            case "ask":
                ask(scene)
            case "kill":
                await scene.operator.kill()
                await anyio.sleep(rng.uniform(0, 60))
                scene.operator = world.start_operator(RULESET, LEISURELY)
            case "away" | "back" as step:
                world.base_backups.fails = step == "away"
            case "move":
                streaming = [i for i in world.patroni_model.of_cluster("main") if i.is_streaming]
                if streaming and world.leader() is not None:
                    world.patroni_model.switch_over("main", rng.choice(streaming).name)
            case "list":
                left_beside(scene)
            case "edit":
                text = rng.choice((UNSCHEDULED, scheduled("0 0 * * *"), manifest()))
                world.manifests.write(FILE, text)
            case _:
                node = rng.choice(sorted(NODE_OF.values()))
                world.power_cut(node)
                await anyio.sleep(rng.uniform(5, 60))
                world.power_on(node)
    world.base_backups.fails = False
    world.manifests.write(FILE, UNSCHEDULED)
    await world.until_whole()
    await anyio.sleep(700)
    at = ask(scene)
    await anyio.sleep(1500)
    assert scene.made[-1] >= at
    return scene


def left_beside(scene: Scene) -> None:
    """Create the jobs of commands that are killed at once."""
    store, live = scene.world.store, scene.world.service("main_member-2")
    node = store.node_named(NODE_OF["member-2"])
    jobs = (
        list_job(BackupPlan(None, "replica"), "main", live.value),
        data_end_job("main", "member-2", live.value, node.id),
    )
    for job in jobs:
        if store.service_named(job.name) is None:
            store.create_service(job)


@pytest.mark.slow
@pytest.mark.parametrize("seed", turns(range(12), 3, "backup requests"))
def test_every_request_is_answered_or_gone_and_nothing_is_left(seed: int) -> None:
    """In `make check` the other tests here have its steps, each by itself."""
    scene = run_virtual(lambda: history(seed))
    assert scene.invariants.violations == []
    assert scene.world.base_backups.at_once <= 1
    assert not is_open(scene)
    assert scene.world.store.service_named(JOB) is None
    assert not any(map(scene.world.store.service_named, LEFT))


async def killed_in_between() -> Scene:
    scene = await Scene().begin(UNSCHEDULED)
    ask(scene)
    await scene.working()
    await scene.operator.kill()
    await anyio.sleep(120)
    scene.world.start_operator(RULESET, LEISURELY)
    await anyio.sleep(60)
    return scene


def test_a_request_survives_the_operators_death_and_is_answered_once() -> None:
    scene = run_virtual(killed_in_between)
    scene.judged()
    assert (len(scene.made), is_open(scene)) == (1, False)


async def beside_a_running_one() -> Scene:
    scene = await Scene().begin(scheduled("0 0 * * *"))
    await scene.working()
    await anyio.sleep(3)
    at = ask(scene)
    await anyio.sleep(300)
    assert scene.made[-1] >= at
    return scene


def test_a_request_beside_a_running_backup_waits_for_its_end() -> None:
    scene = run_virtual(beside_a_running_one)
    scene.judged()
    assert (len(scene.made), is_open(scene)) == (2, False)


async def left_jobs() -> list[list[bool]]:
    scene = await Scene().begin(UNSCHEDULED)
    left_beside(scene)
    found = []
    for wait_s in (300, 400):
        await anyio.sleep(wait_s)
        found.append([scene.world.store.service_named(name) is not None for name in LEFT])
    assert scene.invariants.violations == []
    return found


def test_a_job_that_a_killed_command_left_is_removed_and_no_other() -> None:
    assert run_virtual(left_jobs) == [[True, True], [False, False]]


class Deaf(ClusterState):
    """Sees no request."""

    @property
    def backup_request(self) -> datetime | None:
        return None


class Tireless(ClusterState):
    """Takes a request of any age for one of now."""

    @property
    def backup_request(self) -> datetime | None:
        return self.now - timedelta(seconds=1)


async def jobs_for_one(ruleset: Ruleset) -> int:
    scene = await Scene().begin(UNSCHEDULED, ruleset=ruleset)
    ask(scene)
    await anyio.sleep(400)
    writes = scene.world.swarm.writes
    return sum(write.kind == "create-service" and write.name == JOB for write in writes)


@pytest.mark.slow
def test_an_operator_that_answers_a_request_again_and_again_or_never_is_caught() -> None:
    assert run_virtual(lambda: jobs_for_one(RULESET)) == 1
    assert run_virtual(lambda: jobs_for_one(seeing(Tireless))) > 2
    assert run_virtual(lambda: jobs_for_one(seeing(Deaf))) == 0
