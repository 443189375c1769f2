"""Members are replaced, moved and renamed by edits of the file, with faults between."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.one_edit import holds_now
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import Deployed, places_of, text_of, topology_world, write_members
from tests.support.builders import FILE

THREE = ("member-1", "member-2", "member-3")
LASTS_S = 1500.0
REPLACED_S = 400.0
"""The time after which a member is replaced."""


async def begun() -> tuple[World, TopologyJudge]:
    """A cluster of three that is whole, and whose voters have lasted."""
    world = topology_world(1, text_of(*THREE))
    judge = TopologyJudge(world)
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(70)
    return world, judge


async def edited(
    at: dict[str, str],
    names: tuple[str, ...] = THREE,
    before: Callable[[World], Awaitable[None]] | None = None,
    after: Callable[[World], Awaitable[None]] | None = None,
) -> tuple[World, TopologyJudge]:
    """A cluster of three after one edit of its members' lines."""
    world, judge = await begun()
    if before is not None:
        await before(world)
    write_members(world, text_of(*names, at=at))
    if after is not None:
        await anyio.sleep(REPLACED_S)
        await after(world)
    await world.until_whole(LASTS_S)
    judge.at_rest()
    return world, judge


def told(world: World) -> list[str]:
    """Return the actions on the members, in order."""
    found = [(w.at_s, f"{w.kind}/{w.name}") for w in world.swarm.writes]
    found += [(at_s, what) for at_s, what in world.patroni.verbs]
    return [what for _, what in sorted(found)]


@pytest.mark.slow  # walks like those of `test_topology`, which one more judge watches there
@pytest.mark.parametrize(
    ("at", "names"),
    [
        pytest.param({"member-3": "node5"}, THREE, id="replica moves"),
        pytest.param({"member-1": "node5"}, THREE, id="leader moves"),
        pytest.param({"db-3": "node4"}, ("member-1", "member-2", "db-3"), id="another name"),
        pytest.param({"member-2": "node5", "member-3": "node6"}, THREE, id="two move"),
    ],
)
def test_an_edit_is_reached(at: dict[str, str], names: tuple[str, ...]) -> None:
    async def walk() -> None:
        world, judge = await edited(at, names)
        assert judge.violations == [], told(world)
        assert {place.name for place in places_of(world)} == {*names}

    run_virtual(walk)


def test_a_member_follows_the_new_address_of_its_node() -> None:
    async def renumber(world: World) -> None:
        node = world.store.node_named("node3")
        world.store.nodes[node.id] = dataclasses.replace(node, address="10.77.0.99")
        await anyio.sleep(60)

    async def walk() -> None:
        world, judge = await edited({"member-2": "node3, address: 10.77.0.99"}, before=renumber)
        assert judge.violations == [], told(world)

    run_virtual(walk)


@pytest.mark.parametrize(
    ("who", "names"),
    [("member-3", THREE), ("member-4", (*THREE, "member-4"))],
    ids=["moved", "added"],
)
def test_a_mistyped_address_calls_a_person_and_is_corrected(
    who: str, names: tuple[str, ...]
) -> None:
    """Nobody reaches the member there, and its container ends again and again."""

    async def walk() -> None:
        world, judge = await begun()
        # The node has another address than the file says.
        world.manifests.write(FILE, text_of(*names, at={who: "node5, address: 10.77.0.99"}))
        await anyio.sleep(300)
        calls = [hold.reason for hold in (await holds_now(world))[0] if hold.wants_attention]
        assert any("write address: 10.77.0.15" in reason for reason in calls)
        write_members(world, text_of(*names, at={who: "node5, address: 10.77.0.15"}))
        await world.until_whole(900)
        await anyio.sleep(60)
        judge.at_rest()
        assert judge.violations == []

    run_virtual(walk)


def test_of_two_new_members_none_is_added_before_both_can_be() -> None:
    """The node of the second one is down, and comes back."""

    async def walk() -> None:
        world, judge = await begun()
        world.power_cut("node6")
        await anyio.sleep(30)
        write_members(world, text_of(*THREE, "member-4", "member-5"))
        await anyio.sleep(300)
        assert {place.name for place in places_of(world)} == {*THREE}
        calls = [hold.key for hold in (await holds_now(world))[0] if hold.wants_attention]
        assert calls == ["membership/main_member-5"]
        world.power_on("node6")
        await world.until_whole(900)
        judge.at_rest()
        assert judge.violations == [], told(world)
        assert len(places_of(world)) == 5

    run_virtual(walk)


@pytest.mark.slow
def test_a_member_cut_off_by_its_network_is_replaced() -> None:
    """Its container runs on, and is there when the network is back."""

    async def part(world: World) -> None:
        world.partition("node4")
        await anyio.sleep(30)

    async def heal(world: World) -> None:
        assert dict(Deployed(world))["member-3"] == "node5"
        world.heal("node4")
        await anyio.sleep(120)

    async def walk() -> None:
        world, judge = await edited({"member-3": "node5"}, before=part, after=heal)
        assert judge.violations == [], told(world)

    run_virtual(walk)


def test_a_member_on_a_dead_node_is_replaced() -> None:
    """Its node comes back afterwards, with the former data."""

    async def die(world: World) -> None:
        world.power_cut("node4")
        await anyio.sleep(30)

    async def come_back(world: World) -> None:
        assert dict(Deployed(world))["member-3"] == "node5"
        world.power_on("node4")
        await anyio.sleep(120)

    async def walk() -> None:
        world, judge = await edited({"member-3": "node5"}, before=die, after=come_back)
        assert judge.violations == [], told(world)

    run_virtual(walk)


def test_a_renamed_member_whose_vote_comes_back_is_renamed() -> None:
    """Its service is gone when the others list it again: its container had added itself at a last
    start, or a loss of power took the removal of its vote from disks that nobody syncs."""

    async def haunt(world: World) -> None:
        raft = world.patroni_model.consensus("main").raft

        def join(voter: str) -> None:
            assert raft.request(raft.leader, "add", voter)

        def listen(kind: str, what: object) -> None:
            live = world.store.services.get(str(what))
            if kind == "remove-service" and live is not None:
                world.orchestrator.after(0.1, join, live.value.environment["RAFT_SELF"])

        world.swarm.before_write.append(listen)

    async def walk() -> None:
        names = ("member-1", "member-2", "db-3")
        world, judge = await edited({"db-3": "node4"}, names, before=haunt)
        assert judge.violations == [], told(world)
        assert [what for what in told(world) if what == "raft-remove"] == ["raft-remove"] * 2

    run_virtual(walk)
