"""Total power loss: what a member had acknowledged and written is neither lost nor forked.

Each cure is shown to be needed: an operator without it, over the same world, is caught.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
import pytest

from queenright.core.actions import AnyAction, Failover
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.failover import plan_failover
from queenright.core.kinds.postgres_cluster.rules.patroni_config import plan_settings
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from tests.fakes.instances import Instance
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.faults import MEMBERS, WORKERS
from tests.sim.history import run
from tests.sim.invariants import Invariants
from tests.sim.mutations import ruleset_with
from tests.sim.script import Script, Step
from tests.support.builders import FILE, NODE_OF, document, manifest

SECOND_TIMELINE = "leads on from timeline"
EMPTY = "initialises an empty database"
NOT_NEWEST = "which has not the newest data"


def without_rule(rule: Rule) -> Ruleset:
    kept = tuple(one for one in POSTGRES_CLUSTER.rules if one is not rule)
    assert len(kept) < len(POSTGRES_CLUSTER.rules)
    return ruleset_with(kept)


def power_off(world: World) -> None:
    for node in WORKERS:
        world.power_cut(node)


def leads(world: World) -> Instance:
    leader = world.leader()
    assert leader is not None, world.patroni_model.story
    return leader


@dataclass(frozen=True)
class End:
    """The world at the end of a scenario; ``leader`` is the one that leads then, if any."""

    world: World
    invariants: Invariants
    leader: Instance | None
    is_whole: bool

    @property
    def found(self) -> list[str]:
        return [*self.world.patroni_model.lost, *self.invariants.violations]


def end_of(world: World, invariants: Invariants) -> End:
    return End(world, invariants, world.leader(), world.is_whole())


async def deployed(ruleset: Ruleset) -> tuple[World, Invariants]:
    """A whole cluster that an earlier release deployed, without the operator's own settings."""
    world = World()
    invariants = Invariants(world)
    operator = world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(10)
    await operator.stop()
    agreed = world.patroni_model.consensus("main")
    section = {k: v for k, v in agreed.settings["postgresql"].items() if k != "basebackup"}
    kept = {k: v for k, v in agreed.settings.items() if k != "check_timeline"}
    agreed.settings = {**kept, "postgresql": section}
    world.start_operator(ruleset)
    await anyio.sleep(30)
    return world, invariants


async def former_leader_returns(ruleset: Ruleset, *, hears: bool = True) -> End:
    """The leader is cut off and writes on; another is promoted; then everything loses power.
    ``hears`` says that the images hear their partners before the first of them leads."""
    world, invariants = await deployed(ruleset)
    world.patroni_model.hears_partners = hears
    former = leads(world)
    world.partition(NODE_OF[former.name])
    former.volume.location += 1_000_000
    await anyio.sleep(90)
    assert leads(world).name != former.name
    assert former.volume.location > leads(world).volume.location
    power_off(world)
    world.heal(NODE_OF[former.name])
    await anyio.sleep(60)
    for node in WORKERS:
        world.power_on(node)
    await anyio.sleep(180)
    return end_of(world, invariants)


def test_a_stale_leader_does_not_win_after_a_total_power_loss() -> None:
    end = run_virtual(lambda: former_leader_returns(RULESET))
    assert end.found == []
    assert [kind for _, kind in end.world.patroni.verbs if kind == "failover"] == ["failover"]
    assert end.is_whole
    assert end.leader is not None
    assert end.leader.volume.timeline == 3


@pytest.mark.slow
def test_without_check_timeline_the_stale_leader_wins() -> None:
    """With images that compare positions alone; the others wait for the newer timeline."""
    end = run_virtual(lambda: former_leader_returns(without_rule(plan_settings), hears=False))
    assert any(SECOND_TIMELINE in text for text in end.found)


@pytest.mark.slow
def test_without_the_failover_nobody_leads() -> None:
    end = run_virtual(lambda: former_leader_returns(without_rule(plan_failover)))
    assert end.found == []
    assert end.leader is None


def most_wal(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """As ``plan_failover``, but for the member with the most WAL, whatever its timeline."""
    ends = {m.name: (s.location or 0) for m in state.desired.members if (s := state.status(m))}
    best = state.member(max(ends, key=lambda name: ends[name], default=""))
    for step in plan_failover(state):
        if isinstance(step, Failover) and best is not None:
            yield dataclasses.replace(step, candidate=best.name, **state.asked(best))
        else:
            yield step


def with_rule(rule: Rule, instead: Rule, *, guards: bool) -> Ruleset:
    rules = tuple(instead if one is rule else one for one in POSTGRES_CLUSTER.rules)
    return ruleset_with(rules, RULESET.guards if guards else ())


@pytest.mark.slow
def test_a_failover_by_wal_alone_is_caught() -> None:
    blind = with_rule(plan_failover, most_wal, guards=False)
    end = run_virtual(lambda: former_leader_returns(blind))
    assert any(NOT_NEWEST in text for text in end.found)
    assert any(SECOND_TIMELINE in text for text in end.found)


@pytest.mark.slow
def test_the_guard_refuses_a_failover_by_wal_alone() -> None:
    blind = with_rule(plan_failover, most_wal, guards=True)
    end = run_virtual(lambda: former_leader_returns(blind))
    assert end.found == []
    assert end.leader is None


def hasty(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """As ``plan_failover``, but at once, and whoever is missing."""
    told = [m for m in state.desired.members if (s := state.status(m)) and s.location]
    if state.is_deployed and state.is_bootstrapped and state.leader is None and told:
        best = told[0]
        yield Failover(**state.asked(best), candidate=best.name, reason="a mutation")


@pytest.mark.slow
def test_a_hasty_failover_is_caught() -> None:
    mutated = with_rule(plan_failover, hasty, guards=False)
    end = run_virtual(lambda: former_leader_returns(mutated))
    assert any("a failover is forced" in text for text in end.found)


async def restarted(ruleset: Ruleset) -> tuple[World, Invariants]:
    """A cluster after an edit that restarted all members."""
    world, invariants = await deployed(ruleset)
    world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
    await anyio.sleep(200)
    assert len(invariants.disrupted) >= 3
    return world, invariants


async def first_disk_is_lost(ruleset: Ruleset) -> End:
    """After an edit that restarts all members, everything loses power, Raft's state with it, and
    the preferred member its disk."""
    world, invariants = await restarted(ruleset)
    power_off(world)
    await anyio.sleep(5)
    world.patroni_model.consensus("main").forget()
    world.lose_disk(MEMBERS[0])
    for node in WORKERS:
        world.power_on(node)
    await anyio.sleep(240)
    return end_of(world, invariants)


def test_no_empty_database_takes_the_lead_over_one_with_data() -> None:
    end = run_virtual(lambda: first_disk_is_lost(RULESET))
    assert end.found == []
    assert end.is_whole
    assert end.world.patroni_model.consensus("main").systems == 1


async def all_disks_are_lost(*, begins_anew: bool) -> End:
    """Nobody has data any more; then a person follows the guide, or waits."""
    world, invariants = await restarted(RULESET)
    power_off(world)
    await anyio.sleep(5)
    world.patroni_model.consensus("main").forget()
    for member in MEMBERS:
        world.lose_disk(member)
    if begins_anew:
        world.manifests.write(FILE, manifest(reconcile="paused"))
        await anyio.sleep(10)
        for name in MEMBERS:
            world.store.remove_service(world.service(name).id)
        world.store.remove_config(world.store.configs["main_cluster"].id)
        world.manifests.write(FILE, manifest())
    for node in WORKERS:
        world.power_on(node)
    await anyio.sleep(240)
    return end_of(world, invariants)


@pytest.mark.slow
def test_nobody_begins_an_empty_database_in_the_place_of_a_lost_one() -> None:
    end = run_virtual(lambda: all_disks_are_lost(begins_anew=False))
    assert end.leader is None
    assert end.world.patroni_model.consensus("main").systems == 1


@pytest.mark.slow
def test_a_person_begins_anew_as_the_guide_has_it() -> None:
    end = run_virtual(lambda: all_disks_are_lost(begins_anew=True))
    assert end.is_whole
    assert end.world.patroni_model.consensus("main").systems == 2


def as_before(state: ClusterState) -> ClusterState:
    """The state with the preferred member's template as before the cluster was healthy once."""
    resource = document(manifest(stopGracePeriod="90s")).resource
    addresses = {node.name: node.address for node in state.swarm.nodes}
    former = expand(resource, addresses)
    if state.desired.members[0].service.stop_grace_s != former.members[0].service.stop_grace_s:
        former = expand(document(manifest()).resource, addresses)
    return dataclasses.replace(state, desired=former)


def seen(rule: Rule, eyes: Callable[[ClusterState], ClusterState]) -> Rule:
    def mutated(state: ClusterState) -> Iterator[AnyAction | Hold]:
        yield from rule(eyes(state))

    return mutated


@pytest.mark.slow
def test_a_preferred_member_that_keeps_its_bootstrap_section_is_caught() -> None:
    rules = tuple(seen(rule, as_before) for rule in POSTGRES_CLUSTER.rules)
    end = run_virtual(lambda: first_disk_is_lost(ruleset_with(rules, ())))
    assert any(EMPTY in text for text in end.found)


OUTAGES = (
    "total_power_cut",
    "repair",
    "power_cut_of_the_leader",
    "cut_off",
    "busy_clients",
    "repair",
    "total_power_cut",
    "kill",
    "repair",
    "partition",
    "total_power_cut",
    "heal",
)


def outages(seed: int) -> Script:
    """A history of power cuts, with enough time between them for failovers."""
    steps = (Step(n, 7.0 * (1 + (n + seed) % 5), event) for n, event in enumerate(OUTAGES))
    return Script(seed, waits=True, steps=tuple(steps))


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow if n else []) for n in range(3)]
)
def test_histories_of_power_cuts_end_whole(seed: int) -> None:
    outcome = run(outages(seed))
    assert outcome.violations == [], str(outcome)
