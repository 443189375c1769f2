"""Contract of Raft's membership: the model and real nodes of Patroni on the loopback.

Each test is a sentence about how Patroni's Raft changes its members. The planner rests on them, and
they are measured again with every version of Patroni and pysyncobj that the requirements pin.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from queenright.core.observed import Unknown
from queenright.ports.errors import ConflictError, UnavailableError
from tests.contract.raft_questions import (
    all_list,
    followers,
    is_settled,
    leader,
    leads_by_quorum,
    remove,
    start,
    started,
    status,
    transfer,
    until_listed,
    until_settled,
    voters,
)
from tests.contract.raft_worlds import (
    ModelWorld,
    RaftWorld,
    RealWorld,
    eventually,
    host_and_port,
)


@pytest.fixture(params=["model", "real"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RaftWorld]:
    if request.param == "model":
        yield ModelWorld()
        return
    real = RealWorld(tmp_path)
    try:
        yield real
    finally:
        await real.kill(*real.running)


async def test_a_node_that_starts_adds_itself_and_every_node_lists_it(world: RaftWorld) -> None:
    nodes = await started(world)
    new = world.addresses[3]
    await world.start(new, nodes)
    await until_settled(world, [*nodes, new])


async def test_a_longer_list_of_partners_changes_nothing_where_a_partner_answers(
    world: RaftWorld,
) -> None:
    nodes = await started(world)
    restarted = (await followers(world, nodes))[0]
    await world.kill(restarted)
    await world.start(restarted, world.addresses[:5])
    await until_settled(world, nodes)


async def test_the_first_answer_counts_whoever_gives_it(world: RaftWorld) -> None:
    """An orphan's answer: the new node takes its list, and is added by nobody, ever."""
    nodes = await started(world)
    orphan = (await followers(world, nodes))[0]
    left = [own for own in nodes if own != orphan]
    await remove(world, await leader(world, left), orphan)
    await until_listed(world, left, left)
    await eventually(world, lambda: has_quorum(world, orphan, expected=False), "an orphan")
    new = world.addresses[3]
    await world.start(new, [orphan])
    await world.wait(6)
    assert await voters(world, new) == {*nodes, new}
    assert await all_list(world, left, left)
    assert not await has_quorum(world, new)


async def has_quorum(world: RaftWorld, own: str, *, expected: bool = True) -> bool:
    return (await status(world, own)).has_quorum is expected


async def test_a_removed_node_that_runs_on_lists_itself_and_nobody_lists_it(
    world: RaftWorld,
) -> None:
    nodes = await started(world)
    asked, removed = await followers(world, nodes)
    await remove(world, asked, removed)
    left = [own for own in nodes if own != removed]
    await until_settled(world, left)
    await eventually(world, lambda: has_quorum(world, removed, expected=False), "an orphan")
    assert removed in await voters(world, removed)


async def test_a_removed_node_that_starts_again_is_a_voter_again(world: RaftWorld) -> None:
    nodes = await started(world)
    asked, removed = await followers(world, nodes)
    await remove(world, asked, removed)
    await until_settled(world, [own for own in nodes if own != removed])
    await world.kill(removed)
    await world.start(removed, nodes)
    await until_settled(world, nodes)


async def test_where_nobody_answers_committed_changes_of_the_journal_are_replayed(
    world: RaftWorld,
) -> None:
    old = await started(world)
    nodes = world.addresses[:4]
    await world.start(nodes[3], old)
    await until_settled(world, nodes)
    await world.wait(3)  # what is committed is written once a second
    await world.kill(*nodes)
    await world.start(nodes[0], old)
    await until_listed(world, nodes[:1], nodes)
    await start(world, nodes[1:], old)
    await until_settled(world, nodes)


async def test_a_dump_replaces_the_list_of_partners(world: RaftWorld) -> None:
    nodes = await started(world)
    assert await world.put(nodes[0], "one")
    assert await world.put(nodes[0], "two")
    await world.wait(1)
    for own in nodes:
        await world.dump(own)
    await world.kill(*nodes)
    nobody = world.addresses[5:7]
    await world.start(nodes[0], nobody)
    await until_listed(world, nodes[:1], nodes)
    await start(world, nodes[1:], nobody)
    await until_settled(world, nodes)


async def test_a_dump_replaces_what_the_partners_answer_too(world: RaftWorld) -> None:
    """A member that was removed comes back among others: they list it, it lists none of them."""
    former = await started(world)
    own, nodes = former[2], world.addresses[3:6]
    for value in ("one", "two"):
        assert await world.put(own, value)
    await world.wait(1)
    await world.dump(own)
    await world.kill(*former)
    await start(world, nodes, nodes)
    await until_settled(world, nodes)
    await world.start(own, nodes)
    await until_listed(world, nodes, [own, *nodes])
    await world.wait(10)
    assert await voters(world, own) == set(former)
    found = await status(world, own)
    assert (found.has_quorum, found.leader) == (False, "")


async def test_a_change_counts_from_the_moment_it_is_appended(world: RaftWorld) -> None:
    """With one of three down a dead voter is added: no quorum, until the new member starts."""
    nodes = await started(world)
    down = (await followers(world, nodes))[0]
    alive = [own for own in nodes if own != down]
    new = world.addresses[3]
    await world.kill(down)
    await world.add(await leader(world, alive), new)
    await until_listed(world, alive, [*nodes, new])
    await eventually(world, lambda: has_quorum(world, alive[0], expected=False), "no quorum")
    await world.start(new, nodes)
    up = [*alive, new]
    await eventually(world, lambda: leads_by_quorum(world, up), "a quorum with the new member")
    assert await all_list(world, up, [*nodes, new])


async def test_two_changes_are_taken_at_once_and_forgotten_if_not_committed(
    world: RaftWorld,
) -> None:
    nodes = await started(world)
    down = (await followers(world, nodes))[0]
    alive = [own for own in nodes if own != down]
    await world.kill(down)
    asked = await leader(world, alive)
    for new in world.addresses[3:5]:
        await world.add(asked, new)
    await until_listed(world, alive, world.addresses[:5])
    await world.wait(2)
    await world.kill(*alive)
    await world.start(alive[0], nodes)
    await world.wait(2)
    assert await voters(world, alive[0]) == set(nodes)


async def test_a_removal_fails_for_who_is_no_voter_the_node_asked_and_the_leader(
    world: RaftWorld,
) -> None:
    nodes = await started(world)
    leading = await leader(world, nodes)
    follower = (await followers(world, nodes))[0]
    for asked, voter in (
        (leading, world.addresses[6]),
        (leading, leading),
        (follower, follower),
        (follower, leading),
    ):
        with pytest.raises(UnavailableError):
            await remove(world, asked, voter)
    assert await all_list(world, nodes, nodes)


async def test_without_a_leader_a_removal_fails_and_changes_nothing(world: RaftWorld) -> None:
    nodes = world.addresses[:3]
    await world.start(nodes[0], nodes)
    with pytest.raises(UnavailableError):
        await remove(world, nodes[0], nodes[2])
    assert await voters(world, nodes[0]) == set(nodes)


async def test_a_removal_that_no_majority_takes_is_not_answered_with_success(
    world: RaftWorld,
) -> None:
    nodes = await started(world, 5)
    leading = await leader(world, nodes)
    down = (await followers(world, nodes))[:3]
    await world.kill(*down)
    with pytest.raises(UnavailableError):
        await remove(world, leading, down[0])
    assert down[0] not in await voters(world, leading)


async def test_a_transfer_makes_a_follower_lead(world: RaftWorld) -> None:
    nodes = await started(world)
    candidate = (await followers(world, nodes))[0]

    async def leads() -> bool:
        return await is_settled(world, nodes) and await leader(world, nodes) == candidate

    await world.wait(1)  # until the follower has all entries
    await transfer(world, await leader(world, nodes), candidate)
    await eventually(world, leads, f"{candidate} to lead")


async def test_a_transfer_is_refused_by_a_follower_and_for_who_cannot_lead(
    world: RaftWorld,
) -> None:
    nodes = await started(world)
    leading = await leader(world, nodes)
    one, other = await followers(world, nodes)
    await world.kill(other)
    assert await world.put(leading, "that-the-other-lacks")
    for asked, voter in (
        (one, one),
        (one, leading),
        (leading, leading),
        (leading, world.addresses[6]),
        (leading, other),
    ):
        with pytest.raises(ConflictError):
            await transfer(world, asked, voter)
    assert await leader(world, [leading]) == leading


async def test_a_power_cut_takes_back_a_committed_change(world: RaftWorld) -> None:
    """Two of five then have a quorum, by the list of three that they had before."""
    old = await started(world)
    await world.wait(2)
    await world.save_disks()
    nodes = world.addresses[:5]
    for number in (3, 4):
        await world.start(nodes[number], old)
        await until_settled(world, nodes[: number + 1])
    await world.cut_power(*nodes)
    two = old[:2]
    await start(world, two, old)
    await eventually(world, lambda: leads_by_quorum(world, two), "a quorum of two")
    assert await all_list(world, two, old)


async def test_who_is_not_there_is_unknown_and_no_request_reaches_it(world: RaftWorld) -> None:
    nobody = world.addresses[0]
    assert isinstance(await world.membership.voters(*host_and_port(nobody)), Unknown)
    for request in (remove, transfer):
        with pytest.raises(UnavailableError):
            await request(world, nobody, world.addresses[1])


async def test_a_node_with_a_password_is_unknown(world: RaftWorld) -> None:
    own = world.addresses[0]
    await world.start(own, [own], password=True)
    assert isinstance(await world.membership.voters(*host_and_port(own)), Unknown)
    for request in (remove, transfer):
        with pytest.raises(UnavailableError):
            await request(world, own, world.addresses[1])
