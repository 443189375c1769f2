"""The simulation bites: an operator with a rule or a guard taken away is caught in a few histories.

Each mutation is a doctrine of its own, made without touching a module.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TypeVar

import anyio
import pytest

from queenright.core.actions import Action
from queenright.core.desired import DesiredMember
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.plan import Hold
from queenright.core.planner import Rule
from queenright.core.rules.members import plan_members
from queenright.core.rules.nodes import plan_nodes
from queenright.core.rules.secrets import plan_secrets
from queenright.core.situation import SETTLES, Situation
from tests.builders import FILE, manifest
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.history import live_through
from tests.sim.invariants import Invariants

MOST_HISTORIES = 60
S = TypeVar("S", bound=Situation)


def seen_as(kind: type[S], situation: Situation) -> S:
    fields = {f.name: getattr(situation, f.name) for f in dataclasses.fields(situation)}
    return kind(**fields)


class Careless(Situation):
    """Never sees a reason not to restart a member."""

    def why_not_disturb(self, member: DesiredMember) -> str | None:
        return None


class Presuming(Situation):
    """Takes a member that does not answer for one that is down, and so no reason to wait."""

    def why_not_disturb(self, member: DesiredMember) -> str | None:
        present = [m for m in self.desired.members if self.status(m) is not None]
        known = dataclasses.replace(self.desired, members=tuple(present))
        seen = Situation(known, self.swarm, self.members, self.images, self.settings, self.now)
        return seen.why_not_disturb(member)


class Hasty(Situation):
    """Takes a member that answers well for one that will, whatever swarm was told about it."""

    def why_unsettled(self, member: DesiredMember) -> str | None:
        return None

    def why_changing(self, member: DesiredMember) -> str | None:
        return None


class Forgetful(Situation):
    """Does not know that the cluster was started with the secrets that are gone."""

    @property
    def has_started(self) -> bool:
        return False


def with_eyes(kind: type[Situation], rule: Rule) -> Rule:
    def mutated(situation: Situation) -> Iterator[Action | Hold]:
        yield from rule(seen_as(kind, situation))

    return mutated


def mutant(rule: Rule, instead: Rule, *, guards: bool = True) -> Doctrine:
    rules = tuple(instead if known is rule else known for known in DOCTRINE.rules)
    assert rules != DOCTRINE.rules
    return Doctrine(rules, DOCTRINE.guards if guards else ())


def is_caught(doctrine: Doctrine) -> str:
    """The first violations in a bounded number of histories, or ""."""
    for seed in range(MOST_HISTORIES):
        outcome = run_virtual(lambda seed=seed: live_through(seed, doctrine))  # type: ignore[misc]
        if outcome.violations:
            return "\n".join(outcome.violations)
    return ""


@pytest.mark.parametrize(
    ("doctrine", "words"),
    [
        pytest.param(
            mutant(plan_members, with_eyes(Careless, plan_members), guards=False),
            "is disturbed",
            id="members restarted without asking why not",
        ),
        pytest.param(
            mutant(plan_members, with_eyes(Careless, plan_members)),
            "a guard had to refuse",
            id="the same, but the guards stand",
        ),
        pytest.param(
            mutant(plan_members, with_eyes(Presuming, plan_members), guards=False),
            "is disturbed",
            id="unknown taken for down",
        ),
        pytest.param(
            mutant(plan_members, with_eyes(Hasty, plan_members), guards=False),
            "is being replaced",
            id="the next member at once",
        ),
    ],
)
def test_a_mutated_operator_is_caught(doctrine: Doctrine, words: str) -> None:
    assert words in is_caught(doctrine)


async def find_the_leader_elsewhere(doctrine: Doctrine) -> Invariants:
    """While no operator runs, a person moves member 2 to node1 by its label, and it leads there."""
    world = World()
    invariants = Invariants(world)
    operator = world.start_operator(doctrine)
    await world.until_whole()
    await operator.stop()
    world.label("node3", pg_node=None)
    world.label("node1", pg_node="2")
    world.change_service("main_member-2", environment=at_node1(world))
    await anyio.sleep(60)
    assert world.is_whole()
    world.patroni_model.switch_over("main", "member-2")
    await anyio.sleep(30)
    world.start_operator(doctrine)
    await anyio.sleep(60)
    return invariants


def at_node1(world: World) -> dict[str, str]:
    given = world.service("main_member-2").value.environment
    return {**given, "NODE_CONNECT": "10.77.0.11", "RAFT_SELF": "10.77.0.11:5010"}


def test_a_label_that_holds_a_leader_stays() -> None:
    invariants = run_virtual(lambda: find_the_leader_elsewhere(DOCTRINE))
    assert invariants.violations == []


def test_labels_moved_without_asking_why_not_are_caught() -> None:
    careless = mutant(plan_nodes, with_eyes(Careless, plan_nodes), guards=False)
    invariants = run_virtual(lambda: find_the_leader_elsewhere(careless))
    assert any("the leader main_member-2 is disturbed" in text for text in invariants.violations)


async def lose_a_secret(doctrine: Doctrine) -> tuple[World, Invariants]:
    """The services and a secret are removed by hand; the volumes with their data stay."""
    world = World()
    invariants = Invariants(world)
    world.start_operator(doctrine)
    await world.until_whole()
    for live in list(world.store.services.values()):
        world.store.remove_service(live.id)
    world.store.remove_secret("pg_superuser_pw")
    await anyio.sleep(120)
    return world, invariants


def test_a_secret_is_never_made_anew_over_data() -> None:
    world, invariants = run_virtual(lambda: lose_a_secret(DOCTRINE))
    assert invariants.violations == []
    assert "pg_superuser_pw" not in world.store.secrets


def test_a_secret_made_anew_is_caught() -> None:
    forgetful = mutant(plan_secrets, with_eyes(Forgetful, plan_secrets))
    _, invariants = run_virtual(lambda: lose_a_secret(forgetful))
    assert any("although there is data" in text for text in invariants.violations)


async def change_every_member(doctrine: Doctrine) -> Invariants:
    """One edit that restarts both replicas; everything answers well until swarm gets to it."""
    world = World()
    invariants = Invariants(world)
    world.start_operator(doctrine)
    await world.until_whole()
    await anyio.sleep(20)
    world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
    await anyio.sleep(120)
    assert len(invariants.disturbed) >= 2
    return invariants


def test_the_next_member_waits_until_swarm_is_done_with_the_last() -> None:
    invariants = run_virtual(lambda: change_every_member(DOCTRINE))
    assert invariants.violations == []
    (first_s, _), (next_s, _) = invariants.disturbed
    assert next_s - first_s >= SETTLES.total_seconds()


def test_the_next_member_restarted_at_once_is_caught() -> None:
    hasty = mutant(plan_members, with_eyes(Hasty, plan_members))
    invariants = run_virtual(lambda: change_every_member(hasty))
    assert any("is being replaced" in text for text in invariants.violations)
