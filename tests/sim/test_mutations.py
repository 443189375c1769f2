"""The simulation bites: an operator with a rule, a guard or a port made worse is caught.

Each mutation is caught by the history whose seed stands beside it in ``mutations``.
"""

from __future__ import annotations

import warnings

import anyio
import pytest

from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.members import plan_members
from queenright.core.kinds.postgres_cluster.rules.node_labels import plan_nodes
from queenright.core.kinds.postgres_cluster.rules.secrets import plan_secrets
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.service_context import SETTLES
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.sim.mutated_states import Careless, Forgetful, Hasty
from tests.sim.mutations import (
    MUTATIONS,
    Mutation,
    catches,
    ruleset_with,
    seed_that_catches,
    with_eyes,
)
from tests.support.builders import FILE, manifest


def mutant(rule: Rule, instead: Rule, *, guards: bool = True) -> Ruleset:
    known = POSTGRES_CLUSTER.rules
    rules = tuple(instead if one is rule else one for one in known)
    assert rules != known
    return ruleset_with(rules, RULESET.guards if guards else ())


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutated_operator_is_caught(mutation: Mutation) -> None:
    """Its seed catches it; or, because every change of the operator changes every history, another,
    which a warning then names."""
    if catches(mutation, mutation.seed):
        return
    seed = seed_that_catches(mutation)
    assert seed is not None, f"no history catches: {mutation.name}"
    warnings.warn(f"{mutation.name}: caught by seed {seed} now", stacklevel=1)


async def find_the_leader_elsewhere(ruleset: Ruleset) -> Invariants:
    """While no operator runs, a person moves member 2 to node1 by its label, and it leads there."""
    world = World()
    invariants = Invariants(world)
    operator = world.start_operator(ruleset)
    await world.until_whole()
    await operator.stop()
    world.label("node3", pg_node=None)
    world.label("node1", pg_node="2")
    world.change_service("main_member-2", environment=at_node1(world))
    await anyio.sleep(60)
    assert world.is_whole()
    world.patroni_model.switch_over("main", "member-2")
    await anyio.sleep(30)
    world.start_operator(ruleset)
    await anyio.sleep(60)
    return invariants


def at_node1(world: World) -> dict[str, str]:
    given = world.service("main_member-2").value.environment
    return {**given, "NODE_CONNECT": "10.77.0.11", "RAFT_SELF": "10.77.0.11:5010"}


def test_a_label_that_holds_a_leader_stays() -> None:
    invariants = run_virtual(lambda: find_the_leader_elsewhere(RULESET))
    assert invariants.violations == []


@pytest.mark.slow
def test_labels_moved_without_asking_why_not_are_caught() -> None:
    careless = mutant(plan_nodes, with_eyes(Careless, plan_nodes), guards=False)
    invariants = run_virtual(lambda: find_the_leader_elsewhere(careless))
    assert any("the leader main_member-2 is disrupted" in text for text in invariants.violations)


async def lose_a_secret(ruleset: Ruleset) -> tuple[World, Invariants]:
    """The services and a secret are removed by hand; the volumes with their data stay."""
    world = World()
    invariants = Invariants(world)
    world.start_operator(ruleset)
    await world.until_whole()
    for live in list(world.store.services.values()):
        world.store.remove_service(live.id)
    world.store.remove_secret("pg_superuser_pw")
    await anyio.sleep(120)
    return world, invariants


def test_a_secret_is_never_made_anew_over_data() -> None:
    world, invariants = run_virtual(lambda: lose_a_secret(RULESET))
    assert invariants.violations == []
    assert "pg_superuser_pw" not in world.store.secrets


@pytest.mark.slow
def test_a_secret_made_anew_is_caught() -> None:
    forgetful = mutant(plan_secrets, with_eyes(Forgetful, plan_secrets))
    _, invariants = run_virtual(lambda: lose_a_secret(forgetful))
    assert any("although there is data" in text for text in invariants.violations)


async def change_every_member(ruleset: Ruleset) -> Invariants:
    """Restart all members by one edit; everything answers well until swarm gets to it."""
    world = World()
    invariants = Invariants(world)
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
    await anyio.sleep(120)
    assert len(invariants.disrupted) >= 2
    return invariants


def test_the_next_member_waits_until_swarm_is_done_with_the_last() -> None:
    invariants = run_virtual(lambda: change_every_member(RULESET))
    assert invariants.violations == []
    (first_s, _), (next_s, _), *_ = invariants.disrupted
    assert next_s - first_s >= SETTLES.total_seconds()


@pytest.mark.slow
def test_the_next_member_restarted_at_once_is_caught() -> None:
    hasty = mutant(plan_members, with_eyes(Hasty, plan_members))
    invariants = run_virtual(lambda: change_every_member(hasty))
    assert any("is being replaced" in text for text in invariants.violations)
