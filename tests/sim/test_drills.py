"""Drills by a schedule or a request: made when due, alone, and gone afterwards, whatever ends."""

from __future__ import annotations

import random

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.drill.note import REQUEST_LABEL
from queenright.core.kinds.ruleset import RULESET
from tests.fakes.virtual_loop import run_virtual
from tests.sim.drill_scene import DRILL, RARE, SPARE, DrillScene, drilled
from tests.sim.history import LEISURELY
from tests.sim.seeds import turns
from tests.support.builders import FILE, NODE_OF, manifest


async def by_the_clock() -> DrillScene:
    scene = await DrillScene().start(drilled())
    await scene.until(2)
    return scene


def test_drills_are_made_when_due_and_never_beside_a_base_backup() -> None:
    scene = run_virtual(by_the_clock)
    scene.judge()
    assert scene.note.failures == 0
    assert scene.note.backup
    assert scene.note.point is not None
    removals = [r.action.reason for r in scene.world.audit.intents if DRILL in r.action.key]
    assert any("14 GB in 6 min" in reason for reason in removals)


async def operator_dies() -> DrillScene:
    scene = await DrillScene().start(RARE)
    await scene.drilling()
    await scene.operator.kill()
    await anyio.sleep(200)
    scene.world.start_operator(RULESET, LEISURELY)
    await anyio.sleep(60)
    return scene


def test_a_drill_survives_the_operators_death_and_is_not_made_again() -> None:
    scene = run_virtual(operator_dies)
    scene.judge()
    assert (scene.world.drills.proved, scene.note.failures, scene.is_gone()) == (1, 0, True)


async def object_gone() -> tuple[DrillScene, dict[str, str], dict[str, str]]:
    scene = await DrillScene().start(RARE)
    scene.world.drills.missing = "base/x/data.tar.gz"
    await scene.until(1)
    assert scene.is_gone()
    told = await scene.holds()
    scene.world.drills.missing = ""
    scene.ask()
    await scene.until(2)
    return scene, told, await scene.holds()


def test_a_failure_is_told_until_a_restore_is_proven_and_its_data_are_gone() -> None:
    scene, told, later = run_virtual(object_gone)
    scene.judge()
    assert "Missing file base/x/data.tar.gz" in told["backup/main/drill/failed"]
    assert "backup/main/drill/failed" not in later
    assert (scene.world.drills.proved, scene.note.failures, scene.is_gone()) == (1, 0, True)


async def node_lost() -> tuple[DrillScene, dict[str, str]]:
    scene = await DrillScene().start(RARE)
    await scene.drilling()
    scene.world.power_cut(SPARE)
    await anyio.sleep(60)
    told = await scene.holds()
    scene.world.power_on(SPARE)
    await anyio.sleep(120)
    scene.ask()
    await anyio.sleep(400)
    return scene, told


def test_a_node_that_is_lost_in_the_middle_is_told_and_the_drill_begun_again() -> None:
    scene, told = run_virtual(node_lost)
    scene.judge()
    assert f"node {SPARE} is down" in told["backup/main/drill"]
    assert scene.world.drills.proved >= 1
    assert (scene.note.failures, scene.is_gone()) == (0, True)


STEPS = ("ask", "ask", "kill", "away", "missing", "well", "move", "edit", "power", "spare")


async def history(seed: int) -> DrillScene:
    """Requests between deaths of the operator, faults of the repository, of nodes and of the
    leader; then all is well, and somebody asks once more."""
    rng, scene = random.Random(seed), await DrillScene().start(drilled())
    world = scene.world
    for _ in range(12):
        await anyio.sleep(rng.uniform(0.5, 120))
        match rng.choice(STEPS):
            case "ask":
                scene.ask()
            case "kill":
                await scene.operator.kill()
                await anyio.sleep(rng.uniform(0, 60))
                scene.operator = world.start_operator(RULESET, LEISURELY)
            case "away":
                world.base_backups.fails = True
            case "missing":
                world.drills.missing = "base/x/data.tar.gz"
            case "well":
                world.base_backups.fails, world.drills.missing = False, ""
            case "move":
                streaming = [i for i in world.patroni_model.of_cluster("main") if i.is_streaming]
                if streaming and world.leader() is not None:
                    world.patroni_model.switch_over("main", rng.choice(streaming).name)
            case "edit":
                text = rng.choice((drilled(), RARE, manifest()))
                world.manifests.write(FILE, text)
            case step:
                nodes = [SPARE] if step == "spare" else sorted(NODE_OF.values())
                node = rng.choice(nodes)
                world.power_cut(node)
                await anyio.sleep(rng.uniform(5, 60))
                world.power_on(node)
    world.base_backups.fails, world.drills.missing = False, ""
    world.manifests.write(FILE, RARE)
    await world.until_whole()
    await anyio.sleep(700)
    at = scene.ask()
    await anyio.sleep(1500)
    newest = scene.note.newest
    assert newest is not None
    assert newest >= at
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("seed", turns(range(12), 3, "drills"))
def test_every_request_is_answered_and_nothing_is_left(seed: int) -> None:
    """In `make check` the tests above have its steps, each by itself."""
    scene = run_virtual(lambda: history(seed))
    scene.judge()
    assert scene.note.failures == 0
    assert REQUEST_LABEL not in scene.world.store.configs["main_cluster"].value.labels
    assert scene.is_gone()
