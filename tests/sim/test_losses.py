"""Members that lose their data in part or whole: found, named, and copied anew where that is safe.

The states are those of real members (Patroni 4.1.5): a control file that is gone, or zeros; files
of a database that are gone; a first copy that was killed; a full disk.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

import anyio
import pytest

from queenright.core.actions import AnyAction, Reinitialize
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from tests.fakes.instances import CREATING
from tests.fakes.verbs import Verb
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.volumes import Damage
from tests.fakes.world import World
from tests.sim.faults import MEMBERS
from tests.sim.history import run
from tests.sim.invariants import Invariants
from tests.sim.mutations import ruleset_with
from tests.sim.script import make_script
from tests.sim.seeds import first_seed, histories_of

REPLACED = "replaces data that may have rows of its own"


def judged(world: World) -> Invariants:
    """The world's invariants, and that no data directory is replaced which was ever in use."""
    invariants = Invariants(world)

    def check(verb: Verb) -> None:
        volume = verb.member.volume
        is_spare = volume.is_empty or volume.is_partial or volume.damage == "interrupted-copy"
        if verb.kind == "reinitialize" and not is_spare:
            invariants.violated(f"{REPLACED}: {verb.member.name}")

    world.patroni.before_verb.append(check)
    return invariants


async def damaged(
    kind: Damage, ruleset: Ruleset = RULESET, *, tells: bool = True
) -> tuple[World, Invariants]:
    """A whole cluster, a replica of which was damaged more than two minutes ago."""
    world = World()
    world.patroni_model.tells_findings = tells
    invariants = judged(world)
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    assert any(world.damage(member, kind) for member in reversed(MEMBERS))
    await anyio.sleep(150)
    return world, invariants


@pytest.mark.parametrize("tells", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["damaged-control-file", "files"])
def test_damaged_data_stays_until_a_person_chooses(kind: Damage, tells: bool) -> None:
    async def main() -> None:
        world, invariants = await damaged(kind, tells=tells)
        assert [what for _, what in world.patroni.verbs if what == "reinitialize"] == []
        assert not world.is_whole()
        world.empty_data()
        await world.until_whole()
        assert invariants.violations == []

    run_virtual(main)


def test_a_copy_that_was_interrupted_begins_anew() -> None:
    async def main() -> None:
        world, invariants = await damaged("interrupted-copy")
        await world.until_whole()
        assert [what for _, what in world.patroni.verbs] == ["reinitialize"]
        assert invariants.violations == []

    run_virtual(main)


def test_two_copies_that_were_interrupted_begin_anew_one_after_the_other() -> None:
    """Neither waits for the other to be well first."""

    async def main() -> None:
        world = World()
        invariants = judged(world)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        damaged = [member for member in MEMBERS if world.damage(member, "interrupted-copy")]
        assert len(damaged) == 2
        copying: set[int] = set()

        def count(_: Verb) -> None:
            members = world.patroni_model.of_cluster("main")
            copying.add(sum(one.state == CREATING for one in members))

        world.patroni.before_verb.append(count)
        await world.until_whole()
        assert [what for _, what in world.patroni.verbs] == 2 * ["reinitialize"]
        assert copying == {0}, "one copies at a time"
        assert invariants.violations == []

    run_virtual(main)


def test_a_full_disk_needs_room_alone() -> None:
    async def main() -> None:
        world, invariants = await damaged("no-room")
        assert not world.is_whole()
        world.empty_data()
        await world.until_whole()
        assert world.patroni.verbs == []
        assert invariants.violations == []

    run_virtual(main)


def test_the_entry_points_word_counts_for_its_own_start_alone() -> None:
    """The container of an interrupted copy goes on after the new one, and its tag with it. Then
    its data are damaged while Patroni runs."""

    async def main() -> None:
        world, invariants = await damaged("interrupted-copy")
        await world.until_whole()
        instance = next(i for i in world.patroni_model.of_cluster("main") if i.finding)
        instance.volume.damage, instance.volume.is_broken = "no-control-file", True
        instance.stop()
        await anyio.sleep(300)
        assert not world.is_whole()
        assert [what for _, what in world.patroni.verbs] == ["reinitialize"]
        assert invariants.violations == []

    run_virtual(main)


def rash(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Copies anew whatever neither leads nor streams."""
    for member in state.desired.members:
        status, leader = state.status(member), state.leader
        unwell = status is not None and not status.is_well
        if unwell and leader is not None and leader is not member:
            yield Reinitialize(**state.asked(member), member=member.name, reason="a mutation")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no-control-file", "damaged-control-file", "files", "no-room"])
def test_a_rash_copy_is_caught_and_the_guards_refuse_it(kind: Damage) -> None:
    async def main(ruleset: Ruleset) -> list[str]:
        _, invariants = await damaged(kind, ruleset)
        return invariants.violations

    rules = (*POSTGRES_CLUSTER.rules, rash)
    found = run_virtual(lambda: main(ruleset_with(rules, ())))
    assert any(REPLACED in text for text in found)
    guarded = run_virtual(lambda: main(ruleset_with(rules, RULESET.guards)))
    assert not any(REPLACED in text for text in guarded)


LOSS_RATE = 0.15
SEEDS = range(first_seed(), first_seed() + histories_of(2, 80))


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_with_lost_data_end_whole(seed: int) -> None:
    """Histories of their own: those of the same seeds without losses stay as they are."""
    rng = random.Random(f"losses {seed}")
    script = make_script(seed, 16)
    steps = (
        dataclasses.replace(step, event="lost_data") if rng.random() < LOSS_RATE else step
        for step in script.steps
    )
    outcome = run(dataclasses.replace(script, steps=tuple(steps)))
    assert outcome.violations == [], str(outcome)
