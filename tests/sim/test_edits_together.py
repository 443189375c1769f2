"""Edits of the members that meet a pause, a maintenance or each other: each ends by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import (
    ASKED,
    Deployed,
    noted_places,
    text_of,
    topology_world,
    write_members,
)

M = tuple(f"member-{number}" for number in range(1, 6))
THREE = text_of(*M[:3])
PAUSED = "  promotion: paused\n"
MAINTAINED = "  maintenance: {nodes: [node3]}\n"
Act = Callable[[World], Awaitable[None]]


def paused(world: World) -> bool:
    return bool(world.patroni_model.consensus("main").paused)


async def scene(first: str, act: Act, members: set[str], limit_s: float = 2400.0) -> World:
    """A cluster after an act, whole with these members."""
    world = topology_world(1, first)
    judge = TopologyJudge(world)
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(70)
    await act(world)
    await world.until_whole(
        limit_s, lambda: {*Deployed(world)} == members == {*noted_places(world)}
    )
    await anyio.sleep(60)
    judge.at_rest()
    assert judge.violations == world.patroni_model.lost == []
    return world


@pytest.mark.parametrize(
    ("text", "members"),
    [
        pytest.param(text_of(*M), {*M}, id="added"),
        pytest.param(text_of(*M[:3], at={"member-3": "node5"}), {*M[:3]}, id="moved"),
        pytest.param(THREE, {*M[:3]}, id="taken back"),
    ],
)
def test_a_pause_that_is_written_with_an_edit_ends_with_the_file(
    text: str, members: set[str]
) -> None:
    """The newcomer has a place and no service: it waits for the end of the pause."""

    async def act(world: World) -> None:
        write_members(world, (text_of(*M) if text == THREE else text) + PAUSED)
        await anyio.sleep(120)
        assert paused(world)
        write_members(world, text)
        await anyio.sleep(60)
        assert not paused(world)

    run_virtual(lambda: scene(THREE, act, members))


@pytest.mark.parametrize("asked", ["", ASKED], ids=["an edit", "replaceAfter"])
def test_a_member_that_died_during_a_pause_is_replaced_after_it(asked: str) -> None:
    async def act(world: World) -> None:
        write_members(world, text_of(*M[:3], more=asked + PAUSED))
        await anyio.sleep(60)
        world.power_cut("node4")
        await anyio.sleep(120)
        assert paused(world)
        moved = {} if asked else {"member-3": "node5"}
        write_members(world, text_of(*M[:3], at=moved, more=asked))
        await anyio.sleep(120)
        assert not paused(world)

    world = run_virtual(lambda: scene(text_of(*M[:3], more=asked), act, {*M[:3]}))
    assert dict(Deployed(world))["member-3"] == ("node7" if asked else "node5")


def test_a_maintenance_waits_for_the_addition_that_has_begun() -> None:
    """No node is off yet. Both waited for the other, and nobody was called."""

    async def act(world: World) -> None:
        write_members(world, text_of(*M))
        await anyio.sleep(20)
        assert {*noted_places(world)} - {*Deployed(world)} or len(Deployed(world)) < len(M)
        write_members(world, text_of(*M, more=MAINTAINED))

    run_virtual(lambda: scene(THREE, act, {*M}))


@pytest.mark.parametrize(
    ("first", "lines"),
    [
        pytest.param(M[:1], {"db-1": "node2", "db-2": "node3", "db-3": "node4"}, id="1 to 3"),
        pytest.param(M[:1], {"member-2": "node3"}, id="the only one"),
        pytest.param(M[:2], {"db-1": "node2", "db-2": "node3"}, id="both renamed"),
        pytest.param(
            M[:3], {"db-1": "node2", "db-2": "node3", "db-3": "node4"}, id="three renamed"
        ),
        pytest.param(
            M, {"member-1": "node7", "member-2": "node8", "member-3": "node4"}, id="5 to 3"
        ),
    ],
)
def test_all_members_may_change_in_one_edit(first: tuple[str, ...], lines: dict[str, str]) -> None:
    """Each hands over to one that leaves its place, too, where no other member stays."""

    async def act(world: World) -> None:
        write_members(world, text_of(*lines, at=lines))

    run_virtual(lambda: scene(text_of(*first), act, {*lines}))


def test_a_proxy_stays_on_the_node_to_which_a_member_moves() -> None:
    """Its clients have nothing else."""
    proxies = "    nodes: [node5, node6]\n"

    async def act(world: World) -> None:
        write_members(world, with_proxies(at={"member-3": "node5"}))
        for _ in range(300):
            await anyio.sleep(1)
            labelled = {n.name for n in world.store.nodes.values() if "pg-ha-node" in n.labels}
            assert labelled == {"node5", "node6"}

    def with_proxies(at: dict[str, str]) -> str:
        first, found, rest = text_of(*M[:3], at=at).partition("  proxies:\n")
        return f"{first}{found}{proxies}{rest}"

    async def main() -> None:
        world = topology_world(1, with_proxies({}))
        world.start_operator()
        await anyio.sleep(120)
        await act(world)
        assert dict(Deployed(world))["member-3"] == "node5"

    run_virtual(main)


def test_strict_replication_that_is_written_with_the_first_replicas_stops_no_commit() -> None:
    """A base backup may take hours, and every commit would wait for its end."""

    async def act(world: World) -> None:
        write_members(world, text_of(*M[:3], more="  replication: {mode: quorum, strict: true}\n"))
        agreed = world.patroni_model.consensus("main")
        before = 0.0
        while not read_replication(agreed.settings).strict:
            await anyio.sleep(0.5)
            before += 0.5
        assert before > 5
        assert any(one.is_streaming for one in world.patroni_model.instances.values())

    run_virtual(lambda: scene(text_of(M[0]), act, {*M[:3]}))
