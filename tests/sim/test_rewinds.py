"""Rewinds of former leaders that are broken off: no PostgreSQL runs on what they leave, and the
member is copied anew by the operator.

The member image's `pg_rewind` is modelled as `tests/contract/test_rewind.py` shows it with real
servers; an image with PostgreSQL's own program is one of the mutations.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Callable

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes import rewinds
from tests.fakes.instances import Instance
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import Outcome, run
from tests.sim.invariants import Invariants
from tests.sim.mutated_states import Pushing
from tests.sim.mutations import ruleset_with, seeing
from tests.sim.script import make_script
from tests.sim.seeds import first_seed, histories_of
from tests.sim.test_losses import judged
from tests.support.builders import FILE, NODE_OF, manifest

Cut = Callable[[World, Instance], None]
RUNS_ON = "runs on data that a rewind has left half done"


def leader_is_cut_off(world: World, member: Instance) -> None:
    leader = world.leader()
    assert leader is not None
    world.partition(NODE_OF[leader.name])


def leaders_power_is_cut(world: World, member: Instance) -> None:
    leader = world.leader()
    assert leader is not None
    world.power_cut(NODE_OF[leader.name])


def own_power_is_cut(world: World, member: Instance) -> None:
    world.power_cut(NODE_OF[member.name])


def own_container_is_killed(world: World, member: Instance) -> None:
    world.kill_container(member.service)


CUTS: tuple[Cut, ...] = (
    leader_is_cut_off,
    leaders_power_is_cut,
    own_power_is_cut,
    own_container_is_killed,
)


def rewound(world: World) -> Instance | None:
    """Return the member whose files a rewind is changing now."""
    members = world.patroni_model.of_cluster("main")
    return next((one for one in members if one.volume.rewound_from is not None), None)


async def until(wanted: Callable[[], bool]) -> None:
    for _ in range(2400):
        if wanted():
            return
        await anyio.sleep(0.1)
    raise TimeoutError


async def leader_at_rest(world: World, ruleset: Ruleset) -> Instance:
    """Have a cluster made by this operator, and return its leader."""
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    leader = world.leader()
    assert leader is not None
    return leader


async def broken_off(
    cut: Cut, ruleset: Ruleset = RULESET, tamper: Callable[[World], None] | None = None
) -> tuple[World, Invariants]:
    """A former leader comes back with rows of its own, and its rewind is cut off; the nodes are
    well again a minute later, and three minutes pass."""
    world = World(seed=3)
    if tamper is not None:
        tamper(world)
    invariants = judged(world)
    former = await leader_at_rest(world, ruleset)
    node = NODE_OF[former.name]
    world.power_cut(node)
    # What it wrote in its last moments reached nobody.
    former.volume.location += 5000
    await until(lambda: world.leader() is not None)
    world.power_on(node)
    await until(lambda: rewound(world) is not None)
    member = rewound(world)
    assert member is not None
    assert member.name == former.name
    cut(world, member)
    await anyio.sleep(60)
    for name in NODE_OF.values():
        world.heal(name)
        world.power_on(name)
    await anyio.sleep(240)
    return world, invariants


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
def test_a_rewind_that_is_broken_off_is_copied_anew(cut: Cut) -> None:
    async def main() -> None:
        world, invariants = await broken_off(cut)
        assert broken_in(world)
        await world.until_whole()
        assert [what for _, what in world.patroni.verbs].count("reinitialize") == 1
        assert not any(volume.is_torn for volume in world.patroni_model.volumes.values())
        assert (invariants.violations, world.patroni_model.lost) == ([], [])

    run_virtual(main)


EDITED = manifest(stopGracePeriod="90s")
"""Restarts each member."""
GUARDS = {guard.__name__ for guard in RULESET.guards} - {"rewinds_are_not_broken_off"}


async def edited_meanwhile(ruleset: Ruleset = RULESET) -> World:
    """An edit that restarts each member is written while a former leader is rewound."""
    world = World(seed=3)
    former = await leader_at_rest(world, ruleset)
    node = NODE_OF[former.name]
    world.partition(node)
    former.volume.location += 5000
    await until(lambda: world.leader() not in (None, former))
    await anyio.sleep(60)  # the other two are at rest when it returns
    world.heal(node)
    await until(lambda: rewound(world) is not None)
    world.manifests.write(FILE, EDITED)
    await anyio.sleep(300)
    return world


@pytest.fixture
def long_rewinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a large database."""
    monkeypatch.setattr(rewinds, "REWIND_S", 30.0)


def broken_in(world: World) -> list[str]:
    return [what for _, what in world.patroni_model.story if "is broken off" in what]


@pytest.mark.usefixtures("long_rewinds")
def test_an_edit_breaks_no_rewind_off() -> None:
    async def main() -> None:
        world = await edited_meanwhile()
        assert broken_in(world) == []
        assert world.is_whole()
        found = {world.service(f"main_{name}").value.stop_grace_s for name in NODE_OF}
        assert found == {90}, "all have the edit"

    run_virtual(main)


@pytest.mark.slow
@pytest.mark.usefixtures("long_rewinds")
def test_an_operator_that_waits_for_no_rewind_is_caught() -> None:
    async def main() -> list[str]:
        return broken_in(await edited_meanwhile(seeing(Pushing, guards=GUARDS)))

    assert run_virtual(main)


def with_postgresqls_own(world: World) -> None:
    """The member image has PostgreSQL's program alone."""
    world.patroni_model.notes_rewinds = False


@pytest.mark.slow
def test_an_image_with_postgresqls_own_program_is_caught() -> None:
    """With half of the seeds PostgreSQL starts on the mix; with the others it fails at each
    start, until a person comes."""

    async def main(cut: Cut) -> list[str]:
        world, _ = await broken_off(cut, tamper=with_postgresqls_own)
        whole = [] if world.is_whole() else ["not whole"]
        return world.patroni_model.lost + whole

    found = [run_virtual(lambda cut=cut: main(cut)) for cut in CUTS]  # type: ignore[misc]
    assert all(found), found
    assert any(RUNS_ON in text for texts in found for text in texts), found


@pytest.mark.slow
def test_an_operator_that_copies_nothing_anew_is_caught() -> None:
    """All rules but the one for members that come and are copied."""
    rules = tuple(rule for rule in POSTGRES_CLUSTER.rules if rule.__name__ != "plan_topology")
    assert len(rules) == len(POSTGRES_CLUSTER.rules) - 1

    async def main() -> bool:
        world, _ = await broken_off(own_power_is_cut, ruleset_with(rules))
        return world.is_whole()

    assert not run_virtual(main)


SEEDS = range(first_seed(), first_seed() + histories_of(2, 40))
LOSSES = ("power_cut_of_the_leader", "kill_the_leader", "power_on", "heal")
LOSS_RATE = 0.5
CUT_RATE, LAST_BYTES = 0.7, 5000


def cutting(seed: int) -> Callable[[World], None]:
    """Let the last rows of leaders reach nobody, and cut off most of the rewinds that follow, while
    a history runs."""
    rng = random.Random(f"rewinds {seed}")

    async def watch(world: World) -> None:
        seen: set[tuple[str, int]] = set()
        former: Instance | None = None
        while True:
            await anyio.sleep(0.5)
            leader = world.leader()
            if former is not None and former.task.id not in world.patroni_model.instances:
                former.volume.location += 0 if former.volume.is_empty else LAST_BYTES
            former = leader
            member = rewound(world)
            if member is None or world.leader() is None:
                continue
            one = (member.task.id, member.volume.timeline)
            if one not in seen:
                seen.add(one)
                if rng.random() < CUT_RATE:
                    rng.choice(CUTS)(world, member)

    def tamper(world: World) -> None:
        world.owners.append(asyncio.get_running_loop().create_task(watch(world)))

    return tamper


def history(seed: int) -> Outcome:
    """A history in which leaders are lost more often than in the usual ones."""
    rng, script = random.Random(f"leaders {seed}"), make_script(seed, 20)
    steps = (
        dataclasses.replace(step, event=rng.choice(LOSSES)) if rng.random() < LOSS_RATE else step
        for step in script.steps
    )
    return run(dataclasses.replace(script, steps=tuple(steps)), tamper=cutting(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_with_broken_rewinds_end_whole(seed: int) -> None:
    outcome = history(seed)
    assert outcome.violations == [], str(outcome)
