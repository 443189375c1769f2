"""An application while the members of its cluster go elsewhere: its replicas keep a way in.

A replica's connection string names the proxies' nodes, and those follow the members.
"""

from __future__ import annotations

import random

import anyio
import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.app_world import AppWorld
from tests.sim.topology_history import moved
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import (
    ASKED,
    SPARES,
    address_of,
    first_of,
    text_of,
    topology_world,
    write_members,
)
from tests.support.app_builders import WEB

THREE = ("member-1", "member-2", "member-3")
ALL = dict(zip(THREE, ("node5", "node6", "node7"), strict=True))
LASTS_S = 2400.0
EDITS = {
    "all members move": (text_of(*THREE), text_of(*THREE, at=ALL)),
    "one moves": (
        text_of(*THREE),
        text_of(*dict(moved("member-2", "node5")), at={"member-2": "node5"}),
    ),
    "3 to 5": (first_of(3), first_of(5)),
    "5 to 3": (first_of(5), first_of(3)),
    "3 to 1": (first_of(3), first_of(1)),
}


def cut_off(app: AppWorld) -> list[str]:
    """The replicas that once could work, and that no proxy is left for."""
    tasks = [task for task in app.world.containers(WEB) if task.healthy_s is not None]
    return [task.id for task in tasks if not app.replicas.has_way_in(task)]


async def watched(app: AppWorld, until_s: float) -> list[str]:
    """Look at the replicas each second until the file is reached; return those without a way in."""
    found, began_s, quiet_s = [], app.world.now_s, 0
    while quiet_s < 90:
        await anyio.sleep(1)
        assert app.world.now_s < began_s + until_s, "the file is not reached"
        quiet_s = quiet_s + 1 if app.world.is_whole() else 0
        found += [f"{app.world.now_s:.0f} s: {task}" for task in cut_off(app)]
    return found


async def with_served_app(world: World) -> AppWorld:
    app = AppWorld(world, random.Random("app"))
    world.start_operator()
    await world.until_whole(900)
    await anyio.sleep(120)
    assert len(app.world.containers(WEB)) == 2
    assert cut_off(app) == []
    return app


def hosts_of(app: AppWorld) -> set[str]:
    """The hosts in the connection strings of the replicas that run."""
    urls = (app.replicas.url_of(task.template) for task in app.world.containers(WEB))
    parts = (url.netloc.rpartition("@")[2].split(",") for url in urls)
    return {host.rpartition(":")[0] for hosts in parts for host in hosts}


@pytest.mark.parametrize("edit", EDITS)
def test_replicas_keep_a_way_in_while_members_change(edit: str) -> None:
    before, after = EDITS[edit]

    async def main() -> None:
        world = topology_world(1, before)
        judge = TopologyJudge(world)
        app = await with_served_app(world)
        write_members(world, after)
        assert await watched(app, LASTS_S) == []
        assert hosts_of(app) == {address_of(place) for place in places(world)}
        assert [*judge.violations, *app.violations] == []

    run_virtual(main)


def places(world: World) -> set[str]:
    """The names of the nodes with a proxy."""
    return {world.store.nodes[task.node_id].name for task in world.containers("main_proxy")}


def test_replicas_have_a_way_in_after_a_member_was_replaced() -> None:
    """Its owner never edits the file, which names the dead node."""

    async def main() -> None:
        world = topology_world(1, text_of(*THREE, more=ASKED))
        app = await with_served_app(world)
        world.power_cut("node3")
        assert await watched(app, LASTS_S) == []
        assert address_of(SPARES[0]) in hosts_of(app)
        assert address_of("node3") not in hosts_of(app)

    run_virtual(main)
