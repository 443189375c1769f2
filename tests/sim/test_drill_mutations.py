"""Operators that forget drills, make them beside base backups, or leave them: each is caught."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import anyio
import pytest

from queenright.core.actions import RemoveService
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.drill.note import DrillNote
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.virtual_loop import run_virtual
from tests.sim.drill_scene import DRILL, RARE, DrillScene, drilled
from tests.sim.mutated_states import plain
from tests.sim.mutations import Step, ruleset_with, seeing


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
