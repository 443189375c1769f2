"""Total power loss after which the newest data is gone: the owner says who leads on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import anyio
import pytest

from queenright.core.actions import AnyAction, Failover
from queenright.core.kinds.postgres_cluster.desired.policy import Policy
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.failover import plan_failover
from queenright.core.kinds.postgres_cluster.schema.operations import AcceptedLoss
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.planning.plan import Hold
from tests.fakes.files import Intent
from tests.fakes.instances import Instance
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.faults import WORKERS
from tests.sim.invariants import Invariants
from tests.sim.mutations import ruleset_with
from tests.support.builders import FILE, NODE_OF, manifest

FORCED = "a failover is forced"


@dataclasses.dataclass
class After:
    """A world in which all nodes lost power and the newest member's did not come back. ``former``
    led before it, has more WAL on an older timeline, and keeps ``left`` from leading."""

    world: World
    invariants: Invariants
    former: str
    left: str


async def newest_is_gone(ruleset: Ruleset) -> After:
    world = World()
    invariants = Invariants(world)
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    former = world.leader()
    assert former is not None
    world.partition(NODE_OF[former.name])
    former.volume.location += 1_000_000
    await anyio.sleep(90)
    newest = world.leader()
    assert newest is not None
    assert newest.name != former.name
    for node in WORKERS:
        world.power_cut(node)
    world.heal(NODE_OF[former.name])
    await anyio.sleep(60)
    for node in WORKERS:
        if node != NODE_OF[newest.name]:
            world.power_on(node)
    await anyio.sleep(150)
    left = next(name for name in NODE_OF if name not in {former.name, newest.name})
    return After(world, invariants, former.name, left)


def test_the_word_in_the_file_ends_the_wait_for_a_lost_member() -> None:
    async def main() -> None:
        after = await newest_is_gone(RULESET)
        world = after.world
        assert world.leader() is None
        assert [kind for _, kind in world.patroni.verbs if kind == "failover"] == []
        world.manifests.write(FILE, accepting(after.left, 1))  # of an earlier loss
        await anyio.sleep(30)
        assert world.leader() is None
        world.manifests.write(FILE, accepting(after.left, 2))
        await anyio.sleep(60)
        leader = world.leader()
        assert leader is not None
        assert leader.name == after.left
        for node in WORKERS:
            world.power_on(node)
        await world.until_whole()
        await anyio.sleep(120)
        assert [kind for _, kind in world.patroni.verbs if kind == "failover"] == ["failover"]
        assert after.invariants.violations == []

    run_virtual(main)


async def far_ahead(world: World) -> Instance:
    """Return a leader whose replicas are behind by more than Patroni elects one with."""
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(20)
    leader = world.leader()
    assert leader is not None
    world.patroni_model.slow |= {f"main_{name}" for name in NODE_OF if name != leader.name}
    leader.volume.location += 5_000_000
    await anyio.sleep(5)
    return leader


def test_the_trail_has_a_lower_bound_of_what_the_lost_leader_alone_had() -> None:
    """It does not come back after a power loss of all."""

    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        former = await far_ahead(world)
        for node in WORKERS:
            world.power_cut(node)
        for node in WORKERS:
            if node != NODE_OF[former.name]:
                world.power_on(node)
        await anyio.sleep(150)
        assert world.leader() is None
        left = [i for i in world.patroni_model.of_cluster("main") if i.name != former.name]
        best = max(left, key=lambda i: (i.volume.location, i.priority, i.name))
        lost = former.volume.location - best.volume.location
        world.manifests.write(FILE, accepting(best.name, 1))
        await anyio.sleep(60)
        assert world.leader() is best
        asked = [record.action for record in world.audit.records if isinstance(record, Intent)]
        (reason,) = (action.reason for action in asked if isinstance(action, Failover))
        found = re.search(rf"what only {former.name} has \(at least (\d+) bytes\)", reason)
        assert found is not None, reason
        assert 4_000_000 < int(found[1]) <= lost
        assert invariants.violations == []

    run_virtual(main)


def test_a_member_without_a_quorum_still_knows_how_far_the_leader_had_come() -> None:
    """Two of three members are lost for ever, the leader among them."""

    async def main() -> None:
        world = World()
        former = await far_ahead(world)
        (left, *others) = (name for name in NODE_OF if name != former.name)
        for name in (former.name, *others):
            world.power_cut(NODE_OF[name])
        await anyio.sleep(150)
        told = [hold for held in world.audit.holds for hold in held.began]
        hold = next(hold for hold in told if hold.key == "quorum/main")
        assert f"with {left} (timeline 1, " in hold.reason
        found = re.search(r"have \(at least (\d+) bytes\) is lost", hold.reason)
        assert found is not None, hold.reason
        assert int(found[1]) > 4_000_000

    run_virtual(main)


def accepting(leader: str, timeline: int) -> str:
    return manifest(acceptLoss={"leader": leader, "timeline": timeline})


def unasked(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Names the newest of those that answer, as if the file accepted it."""
    for step in plan_failover(state):
        yield step
        told = [m for m in state.desired.members if (s := state.status(m)) and s.timeline]
        if told:
            best = max(told, key=lambda m: end(state, m.name))
            accepted = AcceptedLoss(leader=best.name, timeline=end(state, best.name)[0])
            yield from plan_failover(with_word(state, accepted))


def end(state: ClusterState, name: str) -> tuple[int, int]:
    member = state.member(name)
    status = state.status(member) if member is not None else None
    return (status.timeline or 0, status.location or 0) if status is not None else (0, 0)


def with_word(state: ClusterState, accepted: AcceptedLoss) -> ClusterState:
    policy: Policy = dataclasses.replace(state.desired.policy, accept_loss=accepted)
    return dataclasses.replace(state, desired=dataclasses.replace(state.desired, policy=policy))


def most_wal(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Takes the file's word for the member with the most WAL, whatever its timeline."""
    told = [m for m in state.desired.members if end(state, m.name)[0]]
    for step in unasked(state):
        if isinstance(step, Failover):
            best = max(told, key=lambda m: end(state, m.name)[1])
            yield dataclasses.replace(step, **state.asked(best), candidate=best.name)
        else:
            yield step


async def bent(rule: object, *, guards: bool) -> tuple[list[str], int]:
    rules = tuple(rule if one is plan_failover else one for one in POSTGRES_CLUSTER.rules)
    ruleset = ruleset_with(rules, RULESET.guards if guards else ())  # type: ignore[arg-type]
    after = await newest_is_gone(ruleset)
    done = [kind for _, kind in after.world.patroni.verbs if kind == "failover"]
    return after.invariants.violations, len(done)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "is_refused"), [(unasked, False), (most_wal, True)])
def test_a_failover_that_nobody_accepted_is_caught(rule: object, is_refused: bool) -> None:
    """The judge knows the file; the guard refuses whatever is not the newest that is left."""
    found, done = run_virtual(lambda: bent(rule, guards=False))
    assert done
    assert any(FORCED in text for text in found)
    _, done = run_virtual(lambda: bent(rule, guards=True))
    assert (done == 0) is is_refused
