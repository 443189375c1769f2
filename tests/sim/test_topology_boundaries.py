"""Something ends at every step of an edit of the members, each one in turn: the operator at each
boundary of its calls, or the power of a node after each change. The file is always reached.

All boundaries are taken where QUEENRIGHT_SIM_HISTORIES is 10,000 or more (``make sim``), else so
many of them by the commit's seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial

import anyio
import pytest

from queenright.core.kinds.ruleset import RULESET
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import LEISURELY
from tests.sim.invariants import Invariants
from tests.sim.seeds import first_seed, histories, is_complete
from tests.sim.topology_history import SETTLES_S, WALKS, File, settle, text_for
from tests.sim.topology_history import Told as Found
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import WORKERS, subject_of, topology_world, write_members

pytestmark = pytest.mark.slow

KILLED = ("3 to 5 to 3", "a move", "the leader moves", "another name")
REACHED_S = 1500.0
AWAY_S = 25.0
"""The time of a node without power: longer than the lock lives."""


@dataclass
class Ends:
    """Ends something at one step of an edit (0: never), and counts the steps."""

    world: World
    at: int = 0
    count: int = 0
    place: str = ""
    reached: anyio.Event = field(default_factory=anyio.Event)

    async def at_a_call(self, what: str) -> None:
        """Count a boundary of the operator's calls; at the right one the call never returns."""
        self.count += 1
        if self.count == self.at:
            self.place = what
            self.reached.set()
            await anyio.sleep_forever()

    async def at_a_change(self, what: str) -> None:
        """Count a change that was made; at the right one a node's power goes."""
        if not what.endswith("was done"):
            return
        self.count += 1
        if self.count == self.at:
            node = WORKERS[(first_seed() + self.at) % len(WORKERS)]
            self.place = f"{what}, {node} is without power"
            self.world.power_cut(node)
            self.world.power_on(node, AWAY_S)


async def walk(files: tuple[File, ...], at: int, *, is_power: bool) -> tuple[int, Found]:
    """Take the cluster through the files; the number of steps, and what the judges found."""
    world = topology_world(1, text_for(files[0]))
    judge = TopologyJudge(world)
    invariants = Invariants(world, judged=subject_of(world), removal_is_wanted=True)
    operators = [world.start_operator(RULESET, LEISURELY)]
    await world.until_whole(900)
    ends = Ends(world, at)
    passed = ends.at_a_change if is_power else ends.at_a_call
    world.swarm.boundary = world.patroni.boundary = passed
    told = Found(at, "")

    async def replace_the_killed() -> None:
        await ends.reached.wait()
        await operators[-1].kill()
        operators.append(world.start_operator(RULESET, LEISURELY))

    async with anyio.create_task_group() as group:
        group.start_soon(replace_the_killed)
        for file in files[1:]:
            write_members(world, text_for(file))
            try:
                await world.until_whole(REACHED_S)
            except TimeoutError:
                told.violations.append(f"{file} is not reached within {REACHED_S:.0f} s")
        steps = ends.count
        await settle(world, told, RULESET, SETTLES_S)
        group.cancel_scope.cancel()
    await operators[-1].stop()
    judge.at_rest()
    told.violations += [*judge.violations, *invariants.violations]
    told.walk = ends.place
    return steps, told


def chosen(steps: int, name: str) -> list[int]:
    """Return the steps to try."""
    every = range(1, steps + 1)
    few = max(3, histories() // 80)
    if is_complete() or few >= steps:
        return [*every]
    return sorted(random.Random(f"{first_seed()} {name}").sample(every, few))


def steps_of(files: tuple[File, ...], *, is_power: bool) -> int:
    steps, told = run_virtual(lambda: walk(files, 0, is_power=is_power))
    assert told.violations == [], told
    return steps


@pytest.mark.parametrize("name", KILLED)
def test_a_kill_at_any_boundary_of_an_edit_is_survived(name: str) -> None:
    files = WALKS[name]
    for at in chosen(steps_of(files, is_power=False), name):
        _, told = run_virtual(partial(walk, files, at, is_power=False))
        assert told.walk, f"{name}: boundary {at} was not reached"
        assert told.violations == [], str(told)


@pytest.mark.parametrize("name", ["3 to 5 to 3", "a move"])
def test_a_power_cut_after_any_change_of_an_edit_is_survived(name: str) -> None:
    files = WALKS[name]
    for at in chosen(steps_of(files, is_power=True), f"{name}, power"):
        _, told = run_virtual(partial(walk, files, at, is_power=True))
        assert told.walk, f"{name}: change {at} was not reached"
        assert told.violations == [], str(told)
