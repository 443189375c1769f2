"""Contract of a Raft node's status: the fake, and real nodes (pysyncobj) on the loopback.

A node that can't apply its log says that it has quorum, is listed by others, and stays behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio
import pytest

from tests.contract.raft_statuses import Statuses, of_real_nodes, of_the_model
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.raft_nodes import RaftNodes, raft_nodes


@dataclass(frozen=True)
class Story:
    """Three nodes that are well, and twice later, when one of them has lost its dump and was
    started again."""

    well: Statuses
    spoiled: str
    later: Statuses
    even_later: Statuses


def on_the_model() -> Story:
    async def main() -> Story:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await operator.stop()

        async def read() -> Statuses:
            return await of_the_model(world, world.patroni_model.of_cluster("main"))

        well = await read()
        leader = world.leader()
        chosen = next(i for i in world.patroni_model.of_cluster("main") if i is not leader)
        chosen.volume.raft = "stuck"
        world.kill_container(chosen.service)
        await anyio.sleep(15)
        later = await read()
        await anyio.sleep(5)
        return Story(well, chosen.raft_address, later, await read())

    return run_virtual(main)


def on_real_nodes() -> Story:
    def read(nodes: RaftNodes) -> Statuses:
        return of_real_nodes(nodes.addresses)

    with raft_nodes() as nodes:
        own, files = nodes.addresses[2], nodes.files(nodes.addresses[2])
        well = read(nodes)
        nodes.tell(own, "compact")
        nodes.until(files.dump.exists, "a dump")
        nodes.until(lambda: read(nodes)[own].log_length < 9, "a compacted journal")
        nodes.kill(own)
        files.dump.unlink()
        nodes.start(own)
        nodes.until(lambda: is_listed(nodes, own), "the node to take part")
        later = read(nodes)
        nodes.tell(nodes.addresses[0], "put 5")
        found: list[Statuses] = []

        def all_follow() -> bool:
            found.append(read(nodes))
            return all(status.leader for status in found[-1].values())

        # On a busy machine an election may be under way.
        nodes.until(all_follow, "a leader that all know")
        return Story(well, own, later, found[-1])


def is_listed(nodes: RaftNodes, own: str) -> bool:
    found = nodes.status(own)
    return found is not None and found.leader != "" and found.committed > 1


@pytest.fixture(scope="module", params=[on_the_model, on_real_nodes], ids=["fake", "real"])
def story(request: pytest.FixtureRequest) -> Story:
    told: Callable[[], Story] = request.param
    return told()


def test_nodes_that_are_well_agree_and_have_applied_all(story: Story) -> None:
    leaders = {status.leader for status in story.well.values()}
    assert len(leaders) == 1
    assert leaders < {*story.well}
    for address, status in story.well.items():
        assert status.address == address
        assert status.has_quorum
        assert not status.is_behind
        assert status.commit_index == status.last_applied > 1
        assert status.voters == {*story.well}
        assert status.log_length > 0
        assert status.uptime_s >= 0
        leads = address in leaders
        assert status.state == ("leader" if leads else "follower")
        assert {*status.match_index} == ({*story.well} - {address} if leads else set())


def test_a_node_that_cannot_apply_has_quorum_and_stays_behind(story: Story) -> None:
    for seen in (story.later, story.even_later):
        status = seen[story.spoiled]
        assert status.has_quorum
        assert status.leader
        assert status.is_behind
        assert status.last_applied == 1
        assert all(story.spoiled in other.voters for other in seen.values())
    others = [s for a, s in story.even_later.items() if a != story.spoiled]
    assert not any(status.is_behind for status in others)
    assert {status.leader for status in others} <= {*story.well}
