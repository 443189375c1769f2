"""Drills by a schedule or a request: made when due, alone, and gone afterwards, whatever ends."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import pytest

from queenright.core.actions import RemoveService
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.backup.request import with_backup_request
from queenright.core.kinds.postgres_cluster.drill.note import (
    REQUEST_LABEL,
    DrillNote,
    read_drill_note,
)
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import LEISURELY
from tests.sim.mutated_states import plain
from tests.sim.mutations import Step, ruleset_with, seeing
from tests.sim.test_base_backups import REPOSITORY, Scene
from tests.support.builders import FILE, NODE_OF, manifest

DRILL = "main_backup_drill"
SPARE = "node5"


def drilled(schedule: str = "*/7 * * * *", base: str = "*/5 * * * *", **more: str) -> str:
    drill = f"drill: {{node: {SPARE}, schedule: '{schedule}'}}"
    return manifest(backup=f"{{{REPOSITORY}, schedule: '{base}', {drill}}}", **more)


RARE = drilled("0 0 1 1 *", "0 0 1 1 *")


@dataclass
class DrillScene(Scene):
    """A whole cluster with drills on a node of their own."""

    world: World = field(default_factory=lambda: World(nodes=5))

    async def start(self, text: str, ruleset: Ruleset = RULESET) -> DrillScene:
        await self.begin(text, ruleset)
        return self

    @property
    def note(self) -> DrillNote:
        labels = self.world.store.configs["main_cluster"].value.labels
        return read_drill_note(labels, datetime(2030, 1, 1, tzinfo=UTC))

    def ask(self) -> datetime:
        """Write the label as the command does; return its moment."""
        store = self.world.store
        live, at = store.configs["main_cluster"], self.world.clock.now().replace(microsecond=0)
        labels = with_backup_request(live.value.labels, at, REQUEST_LABEL)
        store.label_config(live.id, live.version, dataclasses.replace(live.value, labels=labels))
        return at

    async def until(self, count: int, limit_s: float = 1200) -> None:
        """Wait until so many drills have ended, in either way, and a minute longer."""
        drills = self.world.drills
        with anyio.fail_after(limit_s):
            while drills.proved + drills.failed < count:  # noqa: ASYNC110  # virtual time
                await anyio.sleep(1)
        await anyio.sleep(60)

    async def drilling(self) -> None:
        with anyio.fail_after(1500):
            while not self.world.containers(DRILL):  # noqa: ASYNC110  # virtual time
                await anyio.sleep(0.5)

    def is_gone(self) -> bool:
        return self.world.store.service_named(DRILL) is None

    def judge(self) -> None:
        drills = self.world.drills
        assert self.invariants.violations == []
        assert (drills.beside, drills.touched) == (0, [])
        assert self.world.base_backups.at_once <= 1


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


FEW = 1
"""Histories in `make check`; `make test` has all."""
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


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.slow] if n >= FEW else []) for n in range(12)]
)
def test_every_request_is_answered_and_nothing_is_left(seed: int) -> None:
    scene = run_virtual(lambda: history(seed))
    scene.judge()
    assert scene.note.failures == 0
    assert REQUEST_LABEL not in scene.world.store.configs["main_cluster"].value.labels
    assert scene.is_gone()


class Forgetful(ClusterState):
    """Forgets each drill that was made."""

    @property
    def drill_note(self) -> DrillNote:
        return dataclasses.replace(super().drill_note, done=None, at=None)


async def drills_begun(ruleset: Ruleset) -> int:
    scene = await DrillScene().start(RARE, ruleset)
    await anyio.sleep(500)
    writes = scene.world.swarm.writes
    return sum(write.kind == "create-service" and write.name == DRILL for write in writes)


@pytest.mark.slow
def test_an_operator_that_forgets_its_drills_is_caught() -> None:
    assert run_virtual(lambda: drills_begun(RULESET)) == 1
    assert run_virtual(lambda: drills_begun(seeing(Forgetful))) > 2


def without_sight_of(job: str, rule: Rule) -> Rule:
    """The rule on a swarm in which it does not find this job."""

    def mutated(state: ClusterState) -> Iterator[Step]:
        found = tuple(live for live in state.swarm.services if live.value.name != job)
        swarm = dataclasses.replace(state.swarm, services=found).in_order()
        yield from rule(plain(state, swarm=swarm))

    return mutated


def inconsiderate(*, guarded: bool) -> Ruleset:
    """Base backups do not see drills; without the guard nothing else keeps them apart."""
    rules = tuple(
        without_sight_of(DRILL, rule) if rule.__name__ == "plan_base_backups" else rule
        for rule in POSTGRES_CLUSTER.rules
    )
    kept = tuple(g for g in RULESET.guards if guarded or g.__name__ != "drills_touch_nothing")
    return ruleset_with(rules, kept)


async def beside(ruleset: Ruleset) -> int:
    scene = await DrillScene().start(drilled("* * * * *", "*/3 * * * *"), ruleset)
    scene.world.drills.takes_s = 150.0
    await anyio.sleep(1800)
    return scene.world.drills.beside


@pytest.mark.slow
def test_an_operator_that_backs_up_beside_a_drill_is_caught_and_stopped_by_the_guard() -> None:
    assert run_virtual(lambda: beside(RULESET)) == 0
    assert run_virtual(lambda: beside(inconsiderate(guarded=False))) > 0
    assert run_virtual(lambda: beside(inconsiderate(guarded=True))) == 0


def untidy() -> Ruleset:
    """Drills are never removed."""

    def leaving(rule: Rule) -> Rule:
        def mutated(state: ClusterState) -> Iterator[Step]:
            for step in rule(state):
                if not isinstance(step, RemoveService):
                    yield step

        return mutated

    rules = POSTGRES_CLUSTER.rules
    return ruleset_with(tuple(leaving(r) if r.__name__ == "plan_drills" else r for r in rules))


async def is_left(ruleset: Ruleset) -> bool:
    scene = await DrillScene().start(RARE, ruleset)
    await scene.until(1)
    return not scene.is_gone()


@pytest.mark.slow
def test_an_operator_that_leaves_a_drill_behind_is_caught() -> None:
    assert not run_virtual(lambda: is_left(RULESET))
    assert run_virtual(lambda: is_left(untidy()))
