"""Nodes that come back under another hostname, or under another id: nobody stops for that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.one_edit import holds_now
from tests.sim.topology_world import places_of
from tests.support.builders import FILE, MANIFEST, manifest

SERVICES = ("main_member-1", "main_member-2", "main_member-3", "main_proxy")
LIMIT_S = 600.0


def played(act: Callable[[World], Awaitable[None]], text: str = MANIFEST) -> None:
    async def play() -> None:
        world = World(1, first_text=text)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(70)
        await act(world)

    run_virtual(play)


def containers(world: World) -> list[str]:
    return sorted(task.id for name in SERVICES for task in world.containers(name))


async def told(world: World) -> list[str]:
    return [hold.reason for hold in (await holds_now(world))[0]]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("node4",), id="a replica's"),
        pytest.param(("node2",), id="the leader's"),
        pytest.param(("node4", "node3", "node2"), id="all, one after the other"),
    ],
)
def test_a_renamed_node_keeps_its_member_until_the_file_has_the_name(
    names: tuple[str, ...],
) -> None:
    new = {name: name.replace("node", "db") for name in names}

    async def act(world: World) -> None:
        deployed = len(world.swarm.writes)
        for name in names:
            world.rename_node(name, new[name])
            await world.until_whole()
            await anyio.sleep(120)
        before, writes = containers(world), len(world.swarm.writes)
        assert {write.kind for write in world.swarm.writes[deployed:]} <= {"label-config"}
        holds = await told(world)
        for name in names:
            assert any(f"{name} is called {new[name]} now" in reason for reason in holds), holds
        text = MANIFEST
        for name in names:
            text = text.replace(f"node: {name}", f"node: {new[name]}")
        world.manifests.write(FILE, text)
        await anyio.sleep(200)
        written = {f"{write.kind}/{write.name}" for write in world.swarm.writes[writes:]}
        assert written == {"label-config/main_cluster"}
        nodes = {place.node for place in places_of(world)}
        assert nodes == {new.get(name, name) for name in ("node2", "node3", "node4")}
        assert containers(world) == before, "nothing was stopped"
        assert world.is_whole()
        assert await told(world) == []

    played(act)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"stopGracePeriod": "45s"}, id="a rollout"),
        pytest.param({"primary": "member-3"}, id="a switchover"),
    ],
)
def test_a_node_that_joined_again_holds_up_no_edit(edit: dict[str, str]) -> None:
    async def act(world: World) -> None:
        world.rejoin_node("node4")
        await world.until_whole()
        await anyio.sleep(120)
        (note,) = await told(world)
        assert "docker node rm id-node4" in note
        world.manifests.write(FILE, manifest(**edit))
        await anyio.sleep(LIMIT_S)
        assert world.is_whole()
        assert await told(world) == [note]
        live, leader = world.service("main_member-1").value, world.leader()
        assert live.stop_grace_s == 45 or "stopGracePeriod" not in edit
        assert leader is not None
        assert leader.name == edit.get("primary", leader.name)
        assert len(world.store.nodes) == 5

    played(act)
