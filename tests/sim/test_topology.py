"""Members are added and removed by edits of the file, with faults and killed operators between.

The walks are those of ``topology_history``; a failure prints its seed and the story.
"""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.sim.seeds import faults, first_seed, histories_of
from tests.sim.topology_history import WALKS, run, run_until
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_mutations import MUTATIONS, Bent
from tests.sim.topology_world import WORKERS, first_of, topology_world, write_members

SEEDS = range(first_seed(), first_seed() + histories_of(2, 16))


USUAL = {"3 to 5 to 3", "the leader moves", "replaceAfter"}
"""Walks in `make check`; the histories below draw from all of them."""


@pytest.mark.parametrize(
    "walk",
    [pytest.param(w, marks=[] if w in USUAL else [pytest.mark.slow]) for w in WALKS],
)
def test_an_edit_without_trouble_is_reached(walk: str) -> None:
    told = run(0, walk, faults=0)
    assert told.found() == [], str(told)
    leaders = [line for line in told.story if " leads on timeline " in line]
    # One member that becomes three hands over once, for its list of partners is empty.
    hands_over = walk in {"the leader moves", "1 to 3", "the primary moves"}
    assert len(leaders) == 1 + hands_over, leaders
    assert walk != "the primary moves" or "member-2 leads" in leaders[-1], leaders


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_of_topology_edits_end_as_the_file_says(seed: int) -> None:
    told = run(seed, [*WALKS][seed % len(WALKS)], faults=faults())
    assert told.found() == [], str(told)


@pytest.mark.slow
def test_a_vote_that_is_taken_again_meanwhile_is_removed_again() -> None:
    """The container of a removed voter starts, and adds itself, between the look at the voters and
    the removal of its service."""
    told = run(31000074, "a move", faults=50)
    assert told.found() == [], str(told)


@pytest.mark.slow
def test_a_member_that_led_for_two_seconds_counts() -> None:
    """Nobody led for two minutes, then a member did between two passes: the wait before a failover
    begins anew."""
    told = run(30000414, "a move", faults=50)
    assert told.found() == [], str(told)


@pytest.mark.slow
def test_a_vote_that_came_back_unseen_makes_the_list_young() -> None:
    """The container of a voter was killed, its vote taken, and it added itself before the next
    look, which showed the list of before."""
    told = run(57000282, "a move", faults=50)
    assert told.found() == [], str(told)


@pytest.mark.slow
def test_a_replacement_that_the_file_takes_back_takes_no_vote() -> None:
    """The edit came between the note of the new node and the removal of the dead node's vote, which
    went in the pass that removed the note."""
    told = run(50000125, "5 to 3", faults=50)
    assert told.found() == [], str(told)


@pytest.mark.slow
@pytest.mark.parametrize("bent", MUTATIONS, ids=lambda bent: str(bent.name))
def test_a_bent_rule_is_caught(bent: Bent) -> None:
    told = run_until(bent.words, bent.walk, bent.ruleset, bent.tamper)
    assert any(bent.words in text for text in told.found()), str(told)


@pytest.mark.slow
@pytest.mark.parametrize("bent", MUTATIONS, ids=lambda bent: str(bent.name))
def test_one_guard_alone_refuses_a_bent_rule(bent: Bent) -> None:
    """One guard keeps the rule's step from happening; without such a guard, all together do not."""
    told = run_until(bent.words, bent.walk, bent.guarded(), bent.tamper)
    is_caught = any(bent.words in text for text in told.found())
    name = bent.guard.replace("_", "-")
    is_refused = any(text.startswith("a guard had to") and name in text for text in told.found())
    assert (is_caught, is_refused and bool(name)) == (not name, bool(name)), str(told)


async def kill_in_its_copy(lasts_s: float, spec: str) -> list[str]:
    """Kill the container of a new member in its base backup: its directory is then neither empty
    nor whole, and swarm kills the container anew whenever its health check has failed for long."""
    world = topology_world(1, first_of(3) + spec)
    judge = TopologyJudge(world)
    world.start_operator()
    await world.until_whole()
    world.patroni_model.clone_s = lasts_s
    write_members(world, first_of(5) + spec)
    for _ in range(300):
        await anyio.sleep(1)
        if any(volume.is_partial for volume in world.patroni_model.volumes.values()):
            break
    await anyio.sleep(3)
    world.kill_container("main_member-4")
    await world.until_whole(900)
    assert [what for _, what in world.patroni.verbs] == ["reinitialize"]
    return judge.violations


WHILE_STARTING = "  healthCheck: {whileStarting: healthy}\n"


@pytest.mark.parametrize(
    ("lasts_s", "spec"),
    [
        (20.0, ""),
        pytest.param(40.0, "", marks=pytest.mark.slow),
        (40.0, WHILE_STARTING),
        pytest.param(400.0, WHILE_STARTING, marks=pytest.mark.slow),
    ],
)
def test_a_new_member_that_is_killed_in_its_copy_begins_anew(lasts_s: float, spec: str) -> None:
    """The contract's health check leaves a container 50 s (spec: database-cluster §8)."""
    assert run_virtual(partial(kill_in_its_copy, lasts_s, spec)) == []


async def cut_after_the_last_vote() -> list[str]:
    """Cut the power of all a moment after the removal of the second last vote: it is on no disk
    yet, and with its former list the member that is left is no quorum."""
    world = topology_world(1)
    judge = TopologyJudge(world)
    world.start_operator()
    await world.until_whole()
    write_members(world, first_of(1))
    for _ in range(10_000):
        await anyio.sleep(0.05)
        if [what for _, what in world.patroni.verbs].count("raft-remove") == 2:
            break
    await anyio.sleep(0.5)
    for node in WORKERS:
        world.power_cut(node)
        world.power_on(node, 2.0)
    await world.until_whole(900)
    judge.at_rest()
    return judge.violations


def test_a_power_cut_after_the_last_vote_leaves_nobody_waiting() -> None:
    assert run_virtual(cut_after_the_last_vote) == []
