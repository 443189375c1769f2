"""Histories of topology edits: members are added and removed while nodes fail and operators die.

A history is decided by its seed. It ends with every fault repaired and a last file, which the
cluster has to reach by itself; two judges watch all the way.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.fake_swarm import Faults
from tests.fakes.files import Ended, Refused
from tests.fakes.verbs import VerbFaults
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import LEISURELY, follow_advice, is_as_desired, plan_now
from tests.sim.invariants import Invariants
from tests.sim.operator_processes import Operators
from tests.sim.replacement_judge import ReplacementJudge
from tests.sim.topology_faults import BY_NAME, NEEDED
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import (
    ASKED,
    PLACES,
    SPARES,
    WORKERS,
    first_of,
    members_in,
    subject_of,
    text_of,
    topology_world,
    write_members,
)
from tests.sim.until_judged import until_judged
from tests.support.builders import FILE, MANIFEST

Tamper = Callable[[World], None]


def moved(name: str, node: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of three members, with one of them on another node."""
    return tuple((n, node if n == name else PLACES[n]) for n in NEEDED)


def renamed(name: str, other: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of three members, with one of them under another name."""
    return tuple((other if n == name else n, PLACES[n]) for n in NEEDED)


SETTLES_S = 3000.0
"""The time in which the last file has to be reached: five changes, each a minute and a copy."""
CAUGHT_S = 400.0
"""The same for a broken operator, without faults: one that is right needs less than half of it."""
File = int | tuple[tuple[str, str], ...] | str
"""The file's members: the first so many, or each one's node by its name; or the whole text."""
REPLACING = text_of(*NEEDED, more=ASKED)
RENUMBERED = "node5, address: 10.77.0.99"
"""A node that has another address from this line on."""
WALKS: dict[str, tuple[File, ...]] = {
    "3 to 5": (3, 5),
    "5 to 3": (5, 3),
    "3 to 4 to 3": (3, 4, 3),
    "3 to 5 to 3": (3, 5, 3),
    "1 to 3": (1, 3),
    "3 to 1": (3, 1),
    "a move": (3, moved("member-2", "node5")),
    "a move and back": (3, moved("member-3", "node6"), 3),
    "the leader moves": (3, moved("member-1", "node5")),
    "another name": (3, renamed("member-3", "db-3"), 3),
    "moves beside 5 to 3": (5, moved("member-2", "node5")),
    "replaceAfter": (REPLACING, REPLACING),
    "the primary moves": (
        3,
        text_of(*NEEDED, at={"member-2": "node5"}, more="  primary: member-2\n"),
    ),
    "another address": (3, moved("member-2", "node5"), moved("member-2", RENUMBERED)),
}
"""The members of the files of a history, in their order."""
DELAYS_S = (0.3, 2.0, 9.0, 20.0, 45.0, 90.0)


@dataclass(frozen=True)
class Step:
    number: int
    delay_s: float
    event: str


@dataclass
class Told:
    """``violations`` is empty when all went well; ``story`` is for the one who reads a failure."""

    seed: int
    walk: str
    violations: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    lasted_s: float = 0.0
    judges: tuple[TopologyJudge | ReplacementJudge | Invariants, ...] = ()

    def found(self) -> list[str]:
        """Return what went wrong so far."""
        return [*self.violations, *(text for judge in self.judges for text in judge.violations)]

    def __str__(self) -> str:
        head = f"seed {self.seed}, {self.walk}"
        return "\n".join([head, *self.found(), "", *self.story])


KILLS = ("kill", "kill at a call", "kill at a call", "stop")


def steps_of(seed: int, count: int) -> list[Step]:
    """Faults and operators' ends; of every four seeds of a walk one has no faults."""
    rng = random.Random(f"topology {seed}")
    kinds = [*KILLS] if seed // len(WALKS) % 4 == 0 else [*BY_NAME, *KILLS, *KILLS]
    return [Step(n, rng.choice(DELAYS_S), rng.choice(kinds)) for n in range(count)]


def run(
    seed: int,
    walk: str,
    faults: int = 8,
    ruleset: Ruleset = RULESET,
    tamper: Tamper | None = None,
) -> Told:
    told = Told(seed, walk)
    run_virtual(lambda: live_through(told, steps_of(seed, faults), ruleset, tamper=tamper))
    return told


def run_until(words: str, walk: str, ruleset: Ruleset, tamper: Tamper | None) -> Told:
    """A walk without faults by an operator that is not right, until a judge says these words."""
    told = Told(0, walk)
    run_virtual(
        lambda: until_judged(
            words,
            told.found,
            lambda: live_through(told, [], ruleset, tamper=tamper, settles_s=CAUGHT_S),
        )
    )
    return told


def text_for(file: File, base: str = MANIFEST) -> str:
    if isinstance(file, str):
        return file
    if isinstance(file, int):
        return first_of(file, base)
    return text_of(*dict(file), at=dict(file), base=base)


async def live_through(
    told: Told,
    steps: list[Step],
    ruleset: Ruleset = RULESET,
    *,
    tamper: Tamper | None = None,
    settles_s: float = SETTLES_S,
    world: World | None = None,
) -> None:
    """Take a cluster through the files of its walk; a ``world`` that is given runs already."""
    files = WALKS[told.walk]
    world = world or topology_world(told.seed, text_for(files[0]))
    base = world.first_text
    judge, replacements = TopologyJudge(world), ReplacementJudge(world)
    invariants = Invariants(world, judged=subject_of(world), removal_is_wanted=True)
    told.judges = (judge, replacements, invariants)
    operators = Operators(world, RULESET, LEISURELY)
    operators.start()
    await world.until_whole(900)
    if ruleset is not RULESET:
        await operators.kill()
        operators.ruleset = ruleset
        operators.start()
    if tamper is not None:
        tamper(world)
    for number, file in enumerate(files[1:]):
        write_members(world, text_for(file, base))
        told.story.append(f"{world.now_s:7.1f} edit: {file}")
        share = steps[number :: len(files) - 1]
        if not share:
            with contextlib.suppress(TimeoutError):  # the end shows it
                await world.until_whole(min(900.0, settles_s))
        for step in share:
            await anyio.sleep(step.delay_s)
            said = await take(step, told.seed, world, operators)
            told.story.append(f"{world.now_s:7.1f} {step.number}: {said}")
    await operators.calm()
    calm(world)
    last = text_for(files[-1], base)
    present = world.manifests.files[FILE]
    # A member that somebody has put on a node whose address then changes needs another line.
    is_unreachable = "address:" in last and present != last
    if is_unreachable or not {*members_in(present)} >= {*members_in(last)} & {*NEEDED}:
        write_members(world, last)
    began_s = world.now_s
    await settle(world, told, ruleset, settles_s)
    told.lasted_s = world.now_s - began_s
    await operators.kill()
    judge.at_rest()
    told.violations += [
        f"a guard had to refuse a rule's plan: {record.refusal}"
        for record in world.audit.records
        if isinstance(record, Refused)
    ]
    told.story += actions_of(world)
    told.story.sort(key=lambda line: float(line.split()[0]))


async def take(step: Step, seed: int, world: World, operators: Operators) -> str:
    rng = random.Random(f"{seed}/{step.number}")
    if step.event in BY_NAME:
        return BY_NAME[step.event](world, rng)
    return await operators.end(step.event, rng)


def calm(world: World) -> None:
    """Every fault ends."""
    world.swarm.faults, world.patroni.faults = Faults(), VerbFaults()
    world.patroni.deaf = 0.0
    for node in (*WORKERS, *SPARES):
        world.heal(node)
        world.power_on(node)


async def settle(world: World, told: Told, ruleset: Ruleset, settles_s: float) -> None:
    """Wait until the file is reached, by itself, and nothing is done any more."""
    began_s = world.now_s
    while world.now_s < began_s + settles_s:
        await anyio.sleep(20)
        if not world.is_whole():
            continue
        plan = await plan_now(world, ruleset)
        if not plan.actions:
            follow_advice(world, told.story, plan)
        if is_as_desired(plan):
            changes = world.changes
            await anyio.sleep(40)
            if world.changes != changes:
                told.violations.append(f"not quiet: {world.swarm.writes[-3:]}")
            return
    plan = await plan_now(world, ruleset)
    told.violations.append(
        f"not settled: actions {[a.key for a in plan.actions]}, "
        f"holds {[(hold.key, hold.reason) for hold in plan.holds]}, whole {world.is_whole()}"
    )


def actions_of(world: World) -> list[str]:
    found = [f"{w.at_s:7.1f}     operator: {w.kind}/{w.name}" for w in world.swarm.writes]
    found += [f"{at_s:7.1f}     operator: {what}" for at_s, what in world.patroni.verbs]
    found += [f"{at_s:7.1f}   {what}" for at_s, what in world.patroni_model.story]
    found += [
        f"{world.now_s:7.1f}       {record.action.key}: {record.outcome}"
        for record in world.audit.records[-40:]
        if isinstance(record, Ended) and type(record.outcome).__name__ != "Done"
    ]
    return found
