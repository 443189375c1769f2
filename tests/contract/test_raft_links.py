"""Contract of what Raft nodes say of one that is frozen: the fake, and real nodes (pysyncobj).

Its leader hears it no more within seconds. Another follower calls itself connected for as long as
nobody closes the connection, so its word counts for nothing.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from queenright.adapters.patroni.raft_status import raft_status
from queenright.core.observed import Known, RaftStatus
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import NODE_OF
from tests.support.raft_nodes import raft_nodes

LASTS_S = 10
"""Longer than pysyncobj's time-out of a connection (3.5 s), which it looks at when it sends."""


@dataclass(frozen=True)
class Story:
    """The address of a follower that is frozen, and what the leader and the other one say then."""

    frozen: str
    leader: RaftStatus
    follower: RaftStatus


def told(frozen: str, statuses: list[RaftStatus]) -> Story:
    (leader,) = (status for status in statuses if status.state == "leader")
    (follower,) = (status for status in statuses if status.state == "follower")
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
        found = []
        for one in members.values():
            if one is not frozen:
                reading = await world.patroni.raft(one.address, 5010)
                assert isinstance(reading, Known), reading
                found.append(reading.value)
        return told(frozen.raft_address, found)

    return run_virtual(main)


def on_real_nodes() -> Story:
    def read(address: str) -> RaftStatus:
        host, _, port = address.rpartition(":")
        reading = asyncio.run(raft_status(host, int(port), 5.0))
        assert isinstance(reading, Known), reading
        return reading.value

    with raft_nodes() as nodes:
        frozen = next(one for one in nodes.addresses if read(one).state == "follower")
        nodes.processes[frozen].send_signal(signal.SIGSTOP)
        try:
            time.sleep(LASTS_S)
            return told(frozen, [read(one) for one in nodes.addresses if one != frozen])
        finally:
            nodes.processes[frozen].send_signal(signal.SIGCONT)


@pytest.fixture(scope="module", params=[on_the_model, on_real_nodes], ids=["fake", "real"])
def story(request: pytest.FixtureRequest) -> Story:
    play: Callable[[], Story] = request.param
    return play()


def test_the_leader_hears_it_no_more(story: Story) -> None:
    assert story.frozen in story.leader.unreachable
    assert not story.leader.hears(story.frozen)
    assert story.leader.hears(story.follower.address)


def test_another_follower_calls_itself_connected(story: Story) -> None:
    assert story.frozen in story.follower.reachable
    assert not story.follower.hears(story.frozen)
    assert story.follower.hears(story.leader.address)
