"""Naive ways to change the members, as an operator without the rules might go them.

Each acts on a world through the same ports as the operator, at a moment at which that is wrong; the
judge has to see it. The names are of the rule that each one lacks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Awaitable, Callable

import anyio

from queenright.core.kinds.postgres_cluster.places import DeployedMember, encode_places
from queenright.core.swarm.objects import ADDRESS_LABEL, MEMBERS_LABEL, Service
from queenright.ports.errors import PortError
from tests.fakes.world import World
from tests.sim.topology_judge import member_of
from tests.sim.topology_world import PLACES, raft_address

Way = Callable[[World], Awaitable[None]]


def service_of(world: World, name: str, partners: tuple[str, ...]) -> Service:
    """Return a new member's service: the first member's, with its own name, address and place."""
    pattern = world.service("main_member-1").value
    address = raft_address(name).partition(":")[0]
    number = name[-1]

    def own(text: str) -> str:
        found = text.replace("member-1", name).replace("10.77.0.12", address)
        return found.replace("pg-node==1", f"pg-node=={number}")

    environment = {key: own(value) for key, value in pattern.environment.items()}
    environment["RAFT_PARTNERS"] = json.dumps([raft_address(other) for other in partners])
    return dataclasses.replace(
        pattern,
        name=f"main_{name}",
        labels={key: own(value) for key, value in pattern.labels.items()},
        environment=environment,
        constraints=tuple(own(text) for text in pattern.constraints),
        mounts=tuple(
            dataclasses.replace(mount, source=own(mount.source)) for mount in pattern.mounts
        ),
    )


async def note(world: World, *names: str) -> None:
    places = [DeployedMember(n, PLACES[n], raft_address(n).partition(":")[0]) for n in names]
    await note_places(world, *places)


async def note_places(world: World, *places: DeployedMember) -> None:
    live = world.store.configs["main_cluster"]
    labels = {**live.value.labels, MEMBERS_LABEL: encode_places(places)}
    noted = dataclasses.replace(live.value, labels=labels)
    await world.swarm.label_config(live.id, live.version, noted)


async def create(world: World, name: str) -> None:
    """Place and create a member; the others are its partners."""
    present = tuple(n for n in PLACES if world.store.service_named(f"main_{n}"))
    world.label(PLACES[name], pg_node=name[-1])
    await world.swarm.observe()
    await world.swarm.create_service(service_of(world, name, present))


async def add(world: World, *names: str) -> None:
    """Note the places, and create the members one after the other, at once."""
    present = [n for n in PLACES if world.store.service_named(f"main_{n}")]
    await note(world, *present, *names)
    for name in names:
        await create(world, name)


async def remove_vote(world: World, name: str) -> None:
    await world.swarm.observe()
    voter = raft_address(name)
    raft = world.patroni_model.consensus("main").raft
    leader = raft.running[raft.leader].address.partition(":")[0]
    with contextlib.suppress(PortError):
        await world.votes.remove(leader, 5010, voter)


async def remove_service(world: World, name: str) -> None:
    await world.swarm.observe()
    await world.swarm.remove_service(world.service(f"main_{name}").id)


async def two_adds_in_flight(world: World) -> None:
    await add(world, "member-4", "member-5")


async def add_while_a_voter_is_down(world: World) -> None:
    world.power_cut(PLACES["member-3"])
    await anyio.sleep(20)
    await add(world, "member-4")


async def moved_by_its_service(world: World) -> None:
    """A dead member's service is sent to another node, while its former vote is listed."""
    world.power_cut(PLACES["member-3"])
    await anyio.sleep(20)
    places = [
        DeployedMember(n, PLACES[n], raft_address(n).partition(":")[0])
        for n in ("member-1", "member-2")
    ]
    await note_places(world, *places, DeployedMember("member-3", "node5", "10.77.0.15"))
    world.label("node4", pg_node=None)
    world.label("node5", pg_node="3")
    await world.swarm.observe()
    live = world.service("main_member-3")
    moved = {**live.value.environment, "RAFT_SELF": "10.77.0.15:5010", "NODE_CONNECT": "10.77.0.15"}
    labels = {**live.value.labels, ADDRESS_LABEL: "10.77.0.15"}
    changed = dataclasses.replace(live.value, environment=moved, labels=labels)
    await world.swarm.update_service(live.id, live.version, changed, live.force_update)


async def next_add_before_the_last_has_settled(world: World) -> None:
    world.patroni_model.clone_s = 60.0
    await add(world, "member-4")
    await anyio.sleep(15)
    await add(world, "member-5")


async def create_before_the_place_is_noted(world: World) -> None:
    await create(world, "member-4")


async def service_removed_before_its_vote(world: World) -> None:
    await remove_service(world, replica_of(world))


async def leaders_vote_removed(world: World) -> None:
    leader = world.leader()
    assert leader is not None
    world.patroni_model.consensus("main").raft.elect(replica_of(world))
    await remove_vote(world, leader.name)


async def vote_removed_while_another_is_down(world: World) -> None:
    first, second = replicas_of(world)
    world.kill_container(f"main_{first}")
    world.power_cut(PLACES[first])
    await anyio.sleep(20)
    await remove_vote(world, second)


async def place_cut_too_early(world: World) -> None:
    name = replica_of(world)
    await note(world, *(n for n in PLACES if n < "member-4" and n != name))


async def copied_anew_with_data(world: World) -> None:
    name = replica_of(world)
    instance = member_of(world, name)
    await world.swarm.observe()
    password = await world.secrets.read("pg_rest_pw")
    await world.patroni.reinitialize(instance.address, 8008, password)


async def lists_changed_by_rolling_restart(world: World) -> None:
    """The way that Patroni's documentation shows: longer lists of partners everywhere, and members
    restarted with them; then power is lost, and with it Raft's files of those that are new."""
    everybody = tuple(PLACES)
    await note(world, *everybody)
    for name in ("member-4", "member-5"):
        world.label(PLACES[name], pg_node=name[-1])
        world.power_cut(PLACES[name])
        await world.swarm.create_service(service_of(world, name, everybody))
    replica = replica_of(world)
    for name in everybody:
        world.power_cut(PLACES[name])
    live = world.service(f"main_{replica}")
    partners = json.dumps([raft_address(other) for other in everybody])
    environment = {**live.value.environment, "RAFT_PARTNERS": partners}
    world.change_service(f"main_{replica}", environment=environment)
    await anyio.sleep(20)
    others = [name for name in PLACES if name not in {replica, "member-4", "member-5"}]
    for name in others:
        for far in (replica, "member-4", "member-5"):
            world.cut(PLACES[name], PLACES[far])
    for name in everybody:
        world.power_on(PLACES[name])
    await anyio.sleep(60)


async def ghost_left_for_ever(world: World) -> None:
    """A removed member starts again, and votes again, in the moment before its service goes."""
    await add(world, "member-4")
    await anyio.sleep(30)
    await remove_vote(world, "member-4")
    world.kill_container("main_member-4")
    await anyio.sleep(20)
    world.store.remove_service(world.service("main_member-4").id)
    await anyio.sleep(20)
    await note(world, "member-1", "member-2", "member-3")


def replica_of(world: World) -> str:
    return replicas_of(world)[0]


def replicas_of(world: World) -> list[str]:
    raft = world.patroni_model.consensus("main").raft
    found = [i.name for i in world.patroni_model.of_cluster("main") if i.is_streaming]
    return sorted(found, key=lambda name: (name == raft.leader, name))


WAYS: dict[Way, str] = {
    lists_changed_by_rolling_restart: "two Raft configurations can each elect",
    two_adds_in_flight: "is added while",
    add_while_a_voter_is_down: "is added while the voters are not settled",
    moved_by_its_service: "is added while the voters are not settled",
    next_add_before_the_last_has_settled: "is not well",
    create_before_the_place_is_noted: "is in no noted place",
    service_removed_before_its_vote: "is removed before its vote",
    leaders_vote_removed: "which leads the database",
    vote_removed_while_another_is_down: "are no quorum without it",
    place_cut_too_early: "is cut while its service is there",
    copied_anew_with_data: "is emptied",
    ghost_left_for_ever: "which are no members",
}
"""Words of the violation by which each is caught."""
