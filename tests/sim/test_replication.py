"""Synchronous replication: no acknowledged row is lost, and no rule breaks what it promises.

Each cure is shown to be needed: an operator without it, over the same world, is caught.
"""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from queenright.core.actions import AnyAction, Failover
from queenright.core.kinds.kind import Rule
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.replication.settings import Replication
from queenright.core.kinds.postgres_cluster.rules.failover import plan_failover
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.position import positions
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from tests.fakes.virtual_loop import run_virtual
from tests.sim.faults import WORKERS
from tests.sim.history import run
from tests.sim.mutations import ruleset_with, with_eyes
from tests.sim.replicated import Scene, begun
from tests.sim.script import Script, Step
from tests.support.builders import FILE, NODE_OF, manifest

MODES = (
    "{mode: synchronous}",
    "{mode: synchronous, strict: true}",
    "{mode: synchronous, nodes: 2}",
    "{mode: quorum}",
    "{mode: quorum, strict: true, nodes: 2}",
)
USUAL = {"{mode: synchronous}", "{mode: quorum, strict: true, nodes: 2}"}
BY_MODE = pytest.mark.parametrize(
    "mode",
    [pytest.param(mode, marks=[] if mode in USUAL else pytest.mark.slow) for mode in MODES],
)
"""In `make check`, which has the histories of outages below too: they draw a mode at every edit."""
CLOSE = "{mode: synchronous, strict: true, maximumLagOnSync: 1K}"


async def failovers(mode: str) -> Scene:
    """Each leader in turn loses power while clients write, and comes back as a replica."""
    scene = await begun(mode)
    for _ in range(3):
        node = NODE_OF[scene.leader()]
        scene.world.power_cut(node)
        await anyio.sleep(90)
        scene.world.power_on(node)
        await anyio.sleep(60)
    return scene.ended()


@BY_MODE
def test_a_failover_loses_no_acknowledged_row(mode: str) -> None:
    scene = run_virtual(lambda: failovers(mode))
    assert scene.found == []
    assert scene.is_whole
    assert len(scene.world.patroni_model.story) >= 4


async def alone(mode: str) -> tuple[int, int, Scene]:
    """Both replicas lose power; the leader has no quorum soon after."""
    scene = await begun(mode)
    world, leader = scene.world, scene.leader()
    for name, node in NODE_OF.items():
        if name != leader:
            world.power_cut(node)
    await anyio.sleep(2)
    before = scene.acknowledged
    await anyio.sleep(60)
    after = scene.acknowledged
    for node in WORKERS:
        world.power_on(node)
    await anyio.sleep(120)
    return before, after, scene.ended()


@BY_MODE
def test_a_leader_alone_acknowledges_nothing_that_may_be_lost(mode: str) -> None:
    before, after, scene = run_virtual(lambda: alone(mode))
    assert after == before
    assert scene.found == []
    assert scene.is_whole


async def there_and_back(mode: str) -> Scene:
    scene = await begun(mode)
    scene.world.manifests.write(FILE, manifest(replication="{mode: asynchronous}"))
    await anyio.sleep(40)
    scene.world.manifests.write(FILE, manifest(replication=mode))
    await anyio.sleep(40)
    scene.world.manifests.write(FILE, manifest())
    await anyio.sleep(40)
    scene.invariants.at_rest()
    return scene


@BY_MODE
def test_the_mode_is_taken_back_as_it_was(mode: str) -> None:
    scene = run_virtual(lambda: there_and_back(mode))
    agreed = scene.world.patroni_model.consensus("main")
    assert not [key for key in agreed.settings if "sync" in key or "replication" in key]
    assert not agreed.sync.leader
    assert scene.found == []


# Mutations


class StandbyBlind(ClusterState):
    """Does not ask who confirms commits when a replica is restarted."""

    def why_no_standby(self, without: object) -> str | None:
        return None


class ModeBlind(ClusterState):
    """Takes replication for asynchronous."""

    @property
    def replication(self) -> Replication:
        return Replication()


def seeing(eyes: type[ClusterState], *, guards: bool = False) -> Ruleset:
    rules = tuple(with_eyes(eyes, rule) for rule in POSTGRES_CLUSTER.rules)
    return ruleset_with(rules, RULESET.guards if guards else ())


async def last_standby(ruleset: Ruleset) -> Scene:
    """The replica outside the key falls behind what may confirm; then an edit restarts members."""
    scene = await begun(CLOSE, ruleset)
    world = scene.world
    world.patroni_model.slow.add(f"main_{scene.other(confirms=False)}")
    await anyio.sleep(40)
    world.manifests.write(FILE, manifest(replication=CLOSE, stopGracePeriod="90s"))
    await anyio.sleep(60)
    return scene


def test_the_only_replica_that_can_confirm_is_not_restarted() -> None:
    scene = run_virtual(lambda: last_standby(RULESET))
    assert scene.found == []
    key = scene.world.patroni_model.consensus("main").sync
    assert not {service.removeprefix("main_") for _, service in scene.invariants.disrupted} & (
        key.members
    )


ONLY_ONE = "while no other replica could confirm commits"


@pytest.mark.slow
def test_an_operator_that_restarts_the_only_synchronous_standby_is_caught() -> None:
    scene = run_virtual(lambda: last_standby(seeing(StandbyBlind)))
    assert any(ONLY_ONE in text for text in scene.found)


@pytest.mark.slow
def test_the_guard_refuses_to_restart_the_only_synchronous_standby() -> None:
    scene = run_virtual(lambda: last_standby(seeing(StandbyBlind, guards=True)))
    assert scene.found == []


async def two_nodes_off(ruleset: Ruleset) -> Scene:
    scene = await begun("{mode: quorum}", ruleset)
    nodes = ", ".join(node for name, node in NODE_OF.items() if name != scene.leader())
    text = manifest(replication="{mode: quorum}", maintenance=f"{{nodes: [{nodes}]}}")
    scene.world.manifests.write(FILE, text)
    await anyio.sleep(60)
    return scene


def test_a_maintenance_without_a_quorum_is_held_while_commits_wait() -> None:
    scene = run_virtual(lambda: two_nodes_off(RULESET))
    assert scene.found == []
    assert not scene.world.patroni_model.consensus("main").paused


@pytest.mark.slow
def test_a_pause_without_a_quorum_is_refused_by_the_guard() -> None:
    scene = run_virtual(lambda: two_nodes_off(seeing(ModeBlind, guards=True)))
    assert not scene.world.patroni_model.consensus("main").paused


async def others_are_too_old(ruleset: Ruleset) -> Scene:
    """After a total power loss both members of the key have less than was written long ago, so that
    Patroni elects none of them, and the one outside has the newest data."""
    scene = await begun("{mode: synchronous}", ruleset)
    world = scene.world
    world.manifests.write(
        FILE, manifest(replication="{mode: synchronous}", patroni="{maximumLagOnFailover: 1000}")
    )
    await anyio.sleep(40)
    key = world.patroni_model.consensus("main").sync
    present = [*world.patroni_model.of_cluster("main")]
    for node in WORKERS:
        world.power_cut(node)
    for instance in present:
        instance.volume.location -= 2000 if key.matches(instance.name) else 0
    await anyio.sleep(40)
    for node in WORKERS:
        world.power_on(node)
    await anyio.sleep(240)
    return scene.ended()


OUTSIDE = "which is not in Patroni's /sync key"


def anybody(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """As ``plan_failover``, but for the newest member in or outside the key."""
    for step in plan_failover(state):
        newest = max(positions(state), key=lambda position: position.rank, default=None)
        if isinstance(step, Hold) and "/sync key" in step.reason and newest is not None:
            member = newest.member
            yield Failover(**state.asked(member), candidate=member.name, reason="a mutation")
        else:
            yield step


def with_rule(rule: Rule, instead: Rule, *, guards: bool) -> Ruleset:
    rules = tuple(instead if one is rule else one for one in POSTGRES_CLUSTER.rules)
    return ruleset_with(rules, RULESET.guards if guards else ())


def test_no_member_outside_the_key_is_named() -> None:
    scene = run_virtual(lambda: others_are_too_old(RULESET))
    assert scene.invariants.violations == []
    assert not scene.is_whole
    assert not [kind for _, kind in scene.world.patroni.verbs if kind == "failover"]


@pytest.mark.slow
def test_naming_an_asynchronous_member_is_caught() -> None:
    mutated = with_rule(plan_failover, anybody, guards=False)
    scene = run_virtual(lambda: others_are_too_old(mutated))
    assert any(OUTSIDE in text for text in scene.found)


@pytest.mark.slow
def test_the_guard_refuses_an_asynchronous_member() -> None:
    mutated = with_rule(plan_failover, anybody, guards=True)
    scene = run_virtual(lambda: others_are_too_old(mutated))
    assert not any(OUTSIDE in text for text in scene.found)
    assert not [kind for _, kind in scene.world.patroni.verbs if kind == "failover"]


OUTAGES = (
    "edit_replication",
    "power_cut_of_the_leader",
    "repair",
    "busy_clients",
    "cut_off",
    "repair",
    "edit_replication",
    "total_power_cut",
    "repair",
    "slow_replica",
    "kill_the_leader",
    "partition",
    "heal",
    "power_cut_of_the_leader",
    "kill",
    "repair",
)


def outages(seed: int) -> Script:
    """A history of outages and edits of the mode, with time for failovers between them."""
    steps = (Step(n, 9.0 * (1 + (n + seed) % 4), event) for n, event in enumerate(OUTAGES))
    return Script(seed, waits=True, steps=tuple(steps))


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow if n else []) for n in range(4)]
)
def test_histories_of_outages_lose_nothing(seed: int) -> None:
    outcome = run(outages(seed))
    assert outcome.violations == [], str(outcome)
