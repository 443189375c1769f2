"""A world for changes of who the members are: more nodes, the files, and what is whole there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from queenright.core.kinds.postgres_cluster.places import DeployedMember, decode_places
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
)
from queenright.core.swarm.objects import CLUSTER_LABEL, MEMBERS_LABEL, ROLE_LABEL
from tests.fakes.world import World
from tests.sim.subject import Subject
from tests.support.builders import FILE, MANIFEST

MOST = 5
PLACES = {f"member-{k}": f"node{k + 1}" for k in range(1, MOST + 1)}
"""Each member's node, in every file."""
WORKERS = tuple(PLACES.values())
PRIORITY = re.compile(r"- \{name: ([a-z0-9-]+), .*(, failoverPriority: [0-9]+)\}")
SPARES = ("node7", "node8")
REPLACES_S = 60
ASKED = f"  replaceAfter: {REPLACES_S}s\n  spareNodes: [{', '.join(SPARES)}]\n"
"""The fields of a file whose members on dead nodes are replaced."""


def text_of(
    *names: str,
    at: Mapping[str, str] = MappingProxyType({}),
    more: str = "",
    base: str = MANIFEST,
) -> str:
    """Return the file with these members, and what it has to acknowledge for them: that nothing
    fails over for fewer than three, and that an even number is meant. ``at`` has the nodes of those
    that are not in their usual place, with another address behind a comma; ``more`` are further
    fields; all others are those of ``base``."""
    places = {name: at.get(name) or PLACES[name] for name in names}
    given = dict(PRIORITY.findall(base))
    members = "".join(
        f"    - {{name: {name}, node: {place}{given.get(name, '')}}}\n"
        for name, place in places.items()
    )
    first, last = base.partition("  members:\n")[0], "  proxies:" + base.partition("  proxies:")[2]
    known = ["noFailover"] * (len(names) < 3) + ["evenMembers"] * (len(names) % 2 == 0)
    given_up = f"  acknowledge: [{', '.join(known)}]\n" if known else ""
    return f"{first}  members:\n{members}{last}{given_up}{more}"


def first_of(count: int, base: str = MANIFEST) -> str:
    """Return the file with the first so many members."""
    return text_of(*(name for name in PLACES if int(name[-1]) <= count), base=base)


def lines_in(
    text: str, addresses: Mapping[str, str] = MappingProxyType({})
) -> dict[str, tuple[str, str]]:
    """Return the node and the Raft address of each member of a file, by name. ``addresses`` are
    those of the nodes that do not have their usual one."""
    found = re.findall(
        r"- \{name: ([a-z0-9-]+), node: ([a-z0-9]+)(?:, address: ([0-9.]+))?"
        r"(?:, failoverPriority: [0-9]+)?\}",
        text,
    )
    return {
        name: (node, voter_at(address or addresses.get(node) or address_of(node)))
        for name, node, address in found
    }


def lines_at(world: World, text: str) -> dict[str, tuple[str, str]]:
    """Return the lines of a file, with the nodes of members that the operator has sent elsewhere
    by itself; that each was right is for ``replacement_judge``."""
    addresses = {node.name: node.address for node in world.store.nodes.values()}
    found = lines_in(text, addresses)
    for note in notes_of(world):
        if note.member in found and found[note.member][0] == note.written:
            found[note.member] = (note.node, voter_at(addresses[note.node]))
    return found


def notes_of(world: World) -> tuple[Replaced, ...]:
    live = world.store.configs.get("main_cluster")
    return decode_replaced(live.value.labels.get(REPLACED_LABEL, "") if live is not None else "")


def members_in(text: str) -> tuple[str, ...]:
    return tuple(lines_in(text))


@dataclass(frozen=True)
class Deployed(Mapping[str, str]):
    """The nodes of the members that have a service at this moment, by their names."""

    world: World

    def __getitem__(self, name: str) -> str:
        if name not in {*self}:
            raise KeyError(name)
        return next(place.node for place in places_of(self.world) if place.name == name)

    def __iter__(self) -> Iterator[str]:
        for live in self.world.store.services.values():
            labels = live.value.labels
            if labels.get(CLUSTER_LABEL) == "main" and labels.get(ROLE_LABEL) == "member":
                yield live.value.name.removeprefix("main_")

    def __len__(self) -> int:
        return sum(1 for _ in self)


def subject_of(world: World) -> Subject:
    """Return the cluster with the members that it has at each moment."""
    return Subject(world, "main", FILE, world.first_text, Deployed(world))


def topology_world(seed: int, text: str = MANIFEST) -> World:
    """A world of five worker nodes and two spare ones, in which the image is an operator's of
    today: a member that is killed in its base backup hangs."""
    world = with_topology(World(seed, nodes=MOST + 1 + len(SPARES)))
    write_members(world, text)
    return world


def with_topology(world: World) -> World:
    """Return a world that is whole when its voters are right, too, and in which a member hangs
    whose base backup was interrupted."""
    world.patroni_model.clones_hang = True
    world.also_whole.append(lambda: are_votes_right(world))
    return world


def write_members(world: World, text: str) -> None:
    """Edit the file; a node in whose line there is an address has that one from now on."""
    for name, address in re.findall(r"node: ([a-z0-9]+), address: ([0-9.]+)", text):
        node = world.store.node_named(name)
        if node.address != address:
            world.store.set_node(node.id, address=address)
    world.manifests.write(FILE, text)
    world.size = len(members_in(text))


def noted_places(world: World) -> tuple[str, ...]:
    """Return the members that the state config notes."""
    return tuple(place.name for place in places_of(world))


def places_of(world: World) -> tuple[DeployedMember, ...]:
    live = world.store.configs.get("main_cluster")
    text = live.value.labels.get(MEMBERS_LABEL, "") if live is not None else ""
    return decode_places(text)


def noted_voters(world: World) -> dict[str, str]:
    """Return the Raft address of each noted place, by name."""
    return {place.name: voter_at(place.address) for place in places_of(world)}


def address_of(node: str, lan: str = "10.77.0") -> str:
    return f"{lan}.{10 + int(node.removeprefix('node'))}"


def voter_at(address: str) -> str:
    return f"{address}:5010"


def raft_address(name: str) -> str:
    """Return the Raft address of a member in its usual place."""
    return voter_at(address_of(PLACES[name]))


def are_votes_right(world: World) -> bool:
    """Return True if the file's members are the services, the places, and the voters of each."""
    names = members_in(world.manifests.files.get(FILE, ""))
    lines = lines_at(world, world.manifests.files.get(FILE, ""))
    voters = {voter for _, voter in lines.values()}
    running = world.patroni_model.consensus("main").raft.running.values()
    return (
        {*Deployed(world)} == {*names} == {*noted_places(world)}
        and bool(running)
        and all(node.listed == voters for node in running)
    )
