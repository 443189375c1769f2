"""Roles and databases while all else happens: outsiders, failovers, kills, silent leaders."""

from __future__ import annotations

import dataclasses
import random

import anyio
import pytest

from queenright.core.actions import AlterRole, CreateRole, SqlAction
from queenright.core.postgres.scram import is_password_of
from tests.fakes.fake_catalogs import EVERYBODYS, FakeServer
from tests.fakes.fake_secrets import secret_text
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.sim.test_kills import Killer
from tests.support.builders import FILE, manifest

PASSWORD = "shop_pw"
TEXT = manifest(
    roles="[{name: readers, login: false}, {name: shop, passwordSecret: shop_pw, "
    "connectionLimit: 20, memberOf: [readers]}]",
    databases="[{name: shop, owner: shop, extensions: [vector]}]",
)


def is_as_desired(world: World, server: FakeServer, named: str = PASSWORD) -> bool:
    role, database = server.roles.get("shop"), server.databases.get("shop")
    if role is None or database is None or named not in world.store.secrets:
        return False
    return (
        not role.superuser
        and role.connection_limit == 20
        and role.member_of == ("readers",)
        and database.owner == "shop"
        and database.public == ()
        and "vector" in (database.extensions or ())
        and is_password_of(server.verifiers["shop"], secret_text(world.store, named))
    )


async def until_as_desired(world: World, limit_s: float = 300, named: str = PASSWORD) -> float:
    server = world.servers.of("main")
    began = world.now_s
    while not is_as_desired(world, server, named):
        if world.now_s - began > limit_s:
            raise TimeoutError(f"after {limit_s} s: {server}")
        await anyio.sleep(0.5)
    return world.now_s - began


def drift(server: FakeServer, rng: random.Random) -> None:
    """Make a change that needs the superuser's password."""
    role, database = server.roles["shop"], server.databases["shop"]
    match rng.randrange(5):
        case 0:
            server.roles["shop"] = dataclasses.replace(role, superuser=True, create_db=True)
        case 1:
            server.databases["shop"] = dataclasses.replace(database, public=EVERYBODYS)
        case 2:
            server.databases["shop"] = dataclasses.replace(database, owner="readers")
        case 3:
            server.verifiers["shop"] = "md5" + "0" * 32
        case _:
            del server.roles["shop"], server.verifiers["shop"]
            server.databases["shop"] = dataclasses.replace(database, owner="postgres")


def sql_actions(world: World) -> list[SqlAction]:
    return [o.action for o in world.audit.outcomes if isinstance(o.action, SqlAction)]


def test_from_a_bare_swarm_to_the_catalog_and_then_nothing_more() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, TEXT)
        world.start_operator()
        await world.until_whole()
        await until_as_desired(world, 60)
        await anyio.sleep(20)
        server = world.servers.of("main")
        done = len(server.changes)
        await anyio.sleep(120)
        assert len(server.changes) == done == 3, server.changes

    run_virtual(main)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_drift_is_set_back_through_failovers_and_killed_operators(seed: int) -> None:
    async def main() -> None:
        world, rng = World(seed), random.Random(seed)
        invariants = Invariants(world)
        world.manifests.write(FILE, TEXT)
        operator = world.start_operator()
        await world.until_whole()
        await until_as_desired(world)
        server = world.servers.of("main")
        for _ in range(8):
            drift(server, rng)
            node = f"node{rng.randrange(2, 5)}"
            fault = rng.randrange(4)
            if fault == 0:
                world.power_cut(node)
                world.power_on(node, 40)
            elif fault == 1:
                world.partition(node)
            elif fault == 2:
                await operator.kill()
                operator = world.start_operator()
            await anyio.sleep(rng.uniform(0, 60))
            world.heal(node)
            await world.until_whole()
            await until_as_desired(world)
        assert invariants.violations == []
        await operator.stop()

    run_virtual(main)


def test_a_silent_leader_is_asked_for_nothing_and_nothing_is_taken_for_gone() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, TEXT)
        world.start_operator()
        await world.until_whole()
        await until_as_desired(world)
        await anyio.sleep(20)
        server = world.servers.of("main")
        done = [*server.changes]
        for name in ("node2", "node3", "node4"):
            world.partition(name)
        await anyio.sleep(60)
        assert server.changes == done
        for name in ("node2", "node3", "node4"):
            world.heal(name)
        await world.until_whole()
        await anyio.sleep(60)
        assert server.changes == done

    run_virtual(main)


def test_another_secret_is_taken_over_and_the_first_one_stays() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, TEXT)
        world.start_operator()
        await world.until_whole()
        await until_as_desired(world)
        await anyio.sleep(20)
        world.manifests.write(FILE, TEXT.replace("shop_pw", "shop_pw_2"))
        await until_as_desired(world, named="shop_pw_2")
        assert "shop_pw" in world.store.secrets
        altered = [a.fields for a in sql_actions(world) if isinstance(a, AlterRole)]
        assert altered == [("password",)]

    run_virtual(main)


@pytest.mark.slow
def test_an_operator_killed_at_any_boundary_of_the_catalog_comes_to_the_same_end() -> None:
    async def deploy(killer: Killer) -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.catalogs.boundary = killer
        world.manifests.write(FILE, TEXT)
        operators = 1
        if killer.at:
            with anyio.move_on_after(60):
                await killer.reached.wait()
            world.start_operator()
            operators += 1
        await until_as_desired(world)
        creations = [a for a in sql_actions(world) if isinstance(a, CreateRole)]
        assert len({action.role.name for action in creations}) == 2

    unhurt = Killer()
    run_virtual(lambda: deploy(unhurt))
    for at in range(1, min(unhurt.count, 12) + 1):
        run_virtual(lambda at=at: deploy(Killer(at)))  # type: ignore[misc]
