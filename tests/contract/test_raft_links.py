"""Contract of what Raft nodes say of one that is frozen: the fake, and real nodes (pysyncobj).

Its leader hears it no more within seconds. Another follower may call itself connected for as long
as nobody closes the connection, so its word counts for nothing.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from queenright.core.observed import RaftStatus, raft_hears
from tests.contract.raft_statuses import Statuses, of_real_nodes, of_the_model
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import NODE_OF
from tests.support.raft_nodes import RaftNodes, raft_nodes

LASTS_S = 10
"""Longer than pysyncobj's time-out of a connection (3.5 s), which it looks at when it sends."""


@dataclass(frozen=True)
class Story:
    """The address of a follower that is frozen, and what the leader and the other one say then."""

    frozen: str
    leader: RaftStatus
    follower: RaftStatus


def told(frozen: str, statuses: Statuses) -> Story:
    (leader,) = (status for status in statuses.values() if status.state == "leader")
    (follower,) = (status for status in statuses.values() if status.state == "follower")
    return Story(frozen, leader, follower)


def on_the_model() -> Story:
    async def main() -> Story:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await operator.stop()
        model = world.patroni_model
        members = {one.name: one for one in model.of_cluster("main")}
        frozen = next(
            one for name, one in members.items() if name != model.consensus("main").raft.leader
        )
        world.freeze(NODE_OF[frozen.name])
        await anyio.sleep(LASTS_S)
        others = [one for one in members.values() if one is not frozen]
        return told(frozen.raft_address, await of_the_model(world, others))

    return run_virtual(main)


def is_listed(nodes: RaftNodes, own: str) -> bool:
    found = nodes.status(own)
    return found is not None and found.leader not in {"", own}


def on_real_nodes() -> Story:
    def leads(address: str) -> bool:
        return of_real_nodes([address])[address].state == "leader"

    with raft_nodes() as nodes:
        # The node with the greater address calls. A leader would call again, and the kernel of a
        # process that is stopped takes the call.
        frozen = max(nodes.addresses)
        others = [one for one in nodes.addresses if one != frozen]
        if leads(frozen):
            nodes.kill(frozen)
            nodes.until(lambda: any(map(leads, others)), "another leader")
            nodes.start(frozen)
            nodes.until(lambda: is_listed(nodes, frozen), "the node to take part")
        nodes.processes[frozen].send_signal(signal.SIGSTOP)
        try:
            time.sleep(LASTS_S)
            return told(frozen, of_real_nodes(others))
        finally:
            nodes.processes[frozen].send_signal(signal.SIGCONT)


@pytest.fixture(scope="module", params=[on_the_model, on_real_nodes], ids=["fake", "real"])
def story(request: pytest.FixtureRequest) -> Story:
    play: Callable[[], Story] = request.param
    return play()


def test_the_leader_hears_it_no_more(story: Story) -> None:
    assert story.frozen in story.leader.unreachable
    assert not raft_hears(story.leader, story.frozen)
    assert raft_hears(story.leader, story.follower.address)


def test_the_word_of_another_follower_counts_for_nothing(story: Story) -> None:
    """It may still call itself connected, or not any more: both are seen with real nodes."""
    assert story.frozen in story.follower.voters
    assert not raft_hears(story.follower, story.frozen)
    assert raft_hears(story.follower, story.leader.address)
