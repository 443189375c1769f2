"""Ways to change Raft's members that leave two quorums, and ways that do not, on the model.

Each naive way ends with two quorums that both commit, whatever the seed. They are what a mutated
rule would do, so that a checker that misses one of them fails here.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.fakes.raft_messages import Request
from tests.fakes.raft_nodes import RaftNodes
from tests.fakes.raft_splits import both_commit, two_quorums

A, B, C, D, E = NODES = [f"10.0.0.{number}:5010" for number in range(1, 6)]
THREE = (A, B, C)
SEEDS = range(4)


def settled(seed: int, *voters: str) -> RaftNodes:
    nodes = RaftNodes(seed)
    for own in voters:
        nodes.start(own, voters)
    until_settled(nodes, *voters)
    return nodes


def until_settled(nodes: RaftNodes, *voters: str) -> None:
    nodes.tick_until(lambda: nodes.is_settled(*voters), f"{voters} to be settled")


def let_lead(nodes: RaftNodes, leader: str, *voters: str) -> None:
    if nodes.leader(*voters) != leader:
        assert nodes.running[nodes.leader(*voters)].asked_to_transfer(leader).succeeded
        nodes.tick_until(lambda: nodes.leader(*voters) == leader, f"{leader} to lead")
        until_settled(nodes, *voters)


def led_by(seed: int, leader: str, *voters: str) -> RaftNodes:
    """Settled nodes, of which this one leads."""
    nodes = settled(seed, *voters)
    let_lead(nodes, leader, *voters)
    return nodes


def join(nodes: RaftNodes, own: str, *voters: str) -> None:
    nodes.start(own, voters)
    until_settled(nodes, *voters, own)


def remove(nodes: RaftNodes, voter: str, *voters: str) -> None:
    """Have a voter removed by another one, and end it."""
    let_lead(nodes, voters[0], *voters, voter)
    asked = nodes.running[voters[0]].asked_to_remove(voter)
    nodes.tick_until(lambda: bool(asked.succeeded), f"{voter} to be removed")
    nodes.kill(voter)
    until_settled(nodes, *voters)


def new_lists_with_lost_state(seed: int) -> RaftNodes:
    """Lists of five are rolled out by restarts; power is lost in the middle of it, and the network
    comes back in two parts. The state on the disks is older than the two new members."""
    nodes = settled(seed, *THREE)
    nodes.sync()
    for own in (D, E):
        join(nodes, own, *sorted(nodes.running))
    nodes.cut_power(*NODES)
    nodes.split({A, B}, {C, D, E})
    nodes.disk(C).lose_all()
    for own, partners in ((A, THREE), (B, THREE), (C, NODES), (D, NODES), (E, NODES)):
        nodes.start(own, partners)
    nodes.heal()
    return nodes


def unsynced_change(seed: int, *, all_synced: bool = False) -> RaftNodes:
    """Five nodes have committed both additions, but the old ones lose them in a power cut: A and B
    go back to three, while C's disk was in time."""
    nodes = settled(seed, *THREE)
    nodes.sync()
    for own in (D, E):
        join(nodes, own, *sorted(nodes.running))
    nodes.tick(10)
    nodes.sync(*(NODES if all_synced else (C, D, E)))
    nodes.cut_power(*NODES)
    nodes.split({A, B}, {C, D, E})
    for own in NODES:
        nodes.start(own, THREE if own in THREE else NODES)
    nodes.tick(2)
    nodes.heal()
    return nodes


def two_additions_in_flight(seed: int, added: tuple[str, ...] = (D, E)) -> RaftNodes:
    """Two members are added at the leader, which reaches neither of its own followers any more."""
    nodes = led_by(seed, A, *THREE)
    nodes.split({A, D, E}, {B, C})
    for own in added:
        nodes.start(own, {A})
    nodes.tick_until(lambda: nodes.running[A].voters == {*THREE, *added}, "them to be listed")
    return nodes


def removals_below_a_majority(seed: int, removed: tuple[str, ...] = (C, D)) -> RaftNodes:
    """Two voters that do not answer are removed one right after the other, where the nodes that are
    left are no majority."""
    nodes = led_by(seed, A, *NODES)
    nodes.split({A, B}, {C, D, E})
    for voter in removed:
        nodes.running[A].asked_to_remove(voter)
        nodes.tick(2)
    return nodes


def ghosts(seed: int) -> RaftNodes:
    """B and C were replaced by D and E. Both start again with empty volumes and the list that they
    always had, where they meet only each other."""
    nodes = settled(seed, *THREE)
    remove(nodes, B, A, C)
    join(nodes, D, A, C)
    remove(nodes, C, A, D)
    join(nodes, E, A, D)
    nodes.split({A, D, E}, {B, C})
    for own in (B, C):
        nodes.disk(own).lose_all()
        nodes.start(own, THREE)
    return nodes


def candidate_alone(seed: int, partners: tuple[str, ...] = ()) -> RaftNodes:
    """A was started without partners to recover, B and C joined it; then its files are lost and it
    starts again as it is configured, while the others are out of reach."""
    nodes = RaftNodes(seed)
    nodes.start(A, ())
    until_settled(nodes, A)
    join(nodes, B, A)
    join(nodes, C, A, B)
    nodes.kill(A)
    nodes.disk(A).lose_all()
    nodes.split({A}, {B, C})
    nodes.start(A, partners)
    return nodes


def lost_members_come_back(seed: int) -> RaftNodes:
    """B and C were given up for lost and A was started alone; both come back with their files."""
    nodes = settled(seed, *THREE)
    nodes.kill(*THREE)
    nodes.disk(A).lose_all()
    nodes.start(A, ())
    until_settled(nodes, A)
    nodes.split({A}, {B, C})
    nodes.start(B, THREE)
    nodes.start(C, THREE)
    return nodes


NAIVE: list[Callable[[int], RaftNodes]] = [
    new_lists_with_lost_state,
    unsynced_change,
    two_additions_in_flight,
    removals_below_a_majority,
    ghosts,
    candidate_alone,
    lost_members_come_back,
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", NAIVE, ids=lambda way: way.__name__)
def test_a_naive_way_leaves_two_quorums_that_both_commit(
    way: Callable[[int], RaftNodes], seed: int
) -> None:
    nodes = way(seed)
    found = two_quorums(nodes)
    assert found is not None
    assert not found[0].voters & found[1].voters
    assert both_commit(nodes, found)


CAREFUL: dict[str, Callable[[int], RaftNodes]] = {
    "all disks were synced": lambda seed: unsynced_change(seed, all_synced=True),
    "one addition at a leader without followers": lambda seed: two_additions_in_flight(seed, (D,)),
    "one removal without a majority": lambda seed: removals_below_a_majority(seed, (C,)),
    "the candidate has the full list": lambda seed: candidate_alone(seed, THREE),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", CAREFUL.values(), ids=CAREFUL)
def test_the_same_way_with_care_leaves_one_quorum(
    way: Callable[[int], RaftNodes], seed: int
) -> None:
    watched(way(seed), 100)


def test_two_quorums_keep_different_values_that_were_acknowledged() -> None:
    nodes = unsynced_change(0)
    found = two_quorums(nodes)
    assert found is not None
    assert both_commit(nodes, found)
    told = {value for node in nodes.running.values() for value in node.values}
    assert len(told) == 2
    assert not any(told <= set(node.values) for node in nodes.running.values())


def one_change(nodes: RaftNodes, rng: random.Random) -> Request | None:
    """Begin one change among settled nodes: a node joins, or one that does not lead is removed."""
    voters = sorted(nodes.running)
    leader = nodes.leader(*voters)
    absent = [own for own in NODES if own not in nodes.running]
    if absent and (len(voters) <= 3 or rng.random() < 0.5):
        return nodes.start(rng.choice(absent), voters)
    voter = rng.choice([own for own in voters if own != leader])
    asked = nodes.running[leader].asked_to_remove(voter)
    nodes.tick_until(lambda: bool(asked.succeeded), f"{voter} to be removed")
    nodes.kill(voter)
    nodes.disk(voter).lose_all()
    return asked


@pytest.mark.parametrize("seed", range(6))
def test_one_settled_and_synced_change_at_a_time_leaves_one_quorum(seed: int) -> None:
    """The same faults, looked at in every tick: kills, cuts and lost power."""
    rng = random.Random(seed)
    nodes = settled(seed, *THREE)
    for _ in range(4):
        nodes.sync()
        before = set(nodes.running)
        asked = one_change(nodes, rng)
        voters = sorted(nodes.running) if asked else sorted(before)
        until_one_settled(nodes, voters)
        nodes.tick(10)
        nodes.sync()
        disrupt(nodes, rng, voters)
        until_one_settled(nodes, voters)


def disrupt(nodes: RaftNodes, rng: random.Random, voters: list[str]) -> None:
    """Cut a minority off, then end all nodes by a kill or a power cut, and start them in any
    order."""
    minority = rng.sample(voters, (len(voters) - 1) // 2)
    nodes.split(minority, [own for own in voters if own not in minority])
    watched(nodes, 60)
    nodes.heal()
    (nodes.kill if rng.random() < 0.5 else nodes.cut_power)(*voters)
    for own in rng.sample(voters, len(voters)):
        nodes.start(own, THREE)
        watched(nodes, rng.randint(0, 30))


def watched(nodes: RaftNodes, ticks: int) -> None:
    for _ in range(ticks):
        nodes.tick()
        assert two_quorums(nodes) is None, f"seed {nodes.seed}, tick {nodes.now}"


def until_one_settled(nodes: RaftNodes, voters: list[str]) -> None:
    for _ in range(600):
        if nodes.is_settled(*voters):
            return
        watched(nodes, 1)
    raise AssertionError(f"seed {nodes.seed}: {voters} do not settle")
