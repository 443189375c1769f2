"""Faults, their ends, and edits in between, in histories of topology edits."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fakes.fake_swarm import Faults
from tests.fakes.verbs import VerbFaults
from tests.fakes.world import World
from tests.sim.topology_world import ASKED, SPARES, WORKERS, Deployed, text_of, write_members

Event = Callable[[World, random.Random], str]

NEEDED = ("member-1", "member-2", "member-3")
"""The members that every file has."""
GRACE_S = 30.0
"""The time after which a new manager calls a node down that it does not hear."""


def power_cut(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.power_cut(node)
    return f"power cut of {node}"


def spare_cut(world: World, rng: random.Random) -> str:
    node = rng.choice(SPARES)
    world.power_cut(node)
    return f"power cut of {node}"


def managers_forget(world: World, rng: random.Random, grace_s: float = GRACE_S) -> str:
    """The managers elect another leader, which hears no lost node yet."""
    for node in [*world.store.nodes.values()]:
        if node.state == "down":
            world.store.set_node(node.id, state="unknown")
            world.orchestrator.after(grace_s, give_up, world, node.id)
    return "another manager leads"


def give_up(world: World, node_id: str) -> None:
    if world.store.nodes[node_id].state == "unknown":
        world.store.set_node(node_id, state="down")


def power_on(world: World, rng: random.Random) -> str:
    for node in WORKERS:
        world.power_on(node)
    return "power on"


def total_power_cut(world: World, rng: random.Random) -> str:
    delays_s = [(node, rng.choice((2.0, 7.0, 40.0))) for node in WORKERS]
    for node, delay_s in delays_s:
        world.power_cut(node)
        world.power_on(node, delay_s)
    return f"total power cut; the nodes are back after {delays_s}"


def partition(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.partition(node)
    return f"{node} is partitioned"


def cut(world: World, rng: random.Random) -> str:
    one, other = rng.sample(("node1", *WORKERS), 2)
    world.cut(one, other)
    return f"{one} and {other} don't hear each other"


def heal(world: World, rng: random.Random) -> str:
    for node in (*WORKERS, *SPARES):
        world.heal(node)
        world.power_on(node)
    return "healed"


def kill_member(world: World, rng: random.Random) -> str:
    name = rng.choice(sorted(Deployed(world)) or ["member-1"])
    world.kill_container(f"main_{name}")
    return f"container of {name} is killed"


def slow_copies(world: World, rng: random.Random) -> str:
    """A base backup takes longer, but not as long as the container's health check lets it be."""
    world.patroni_model.clone_s = rng.choice((6.0, 6.0, 20.0, 40.0))
    return f"a base backup takes {world.patroni_model.clone_s:.0f} s"


def bad_calls(world: World, rng: random.Random) -> str:
    rate = rng.choice((0.0, 0.1, 0.3))
    world.swarm.faults = Faults(unavailable=rate, answer_lost=rate, conflict=rate)
    return f"swarm's calls fail at {rate}"


def bad_verbs(world: World, rng: random.Random) -> str:
    rate = rng.choice((0.0, 0.3, 0.6))
    world.patroni.faults = VerbFaults(answer_lost=rate, late=rate * rng.random())
    return f"the answers to requests are lost at {rate}"


def deaf_members(world: World, rng: random.Random) -> str:
    world.patroni.deaf = rng.choice((0.0, 0.2, 0.5))
    return f"members are deaf at {world.patroni.deaf}"


def another_file(world: World, rng: random.Random) -> str:
    """The owner changes the file before the last one is reached; some of the members stay."""
    size = rng.choice((3, 3, 4, 5))
    extra = rng.sample(("member-4", "member-5"), size - 3)
    names = (*NEEDED, *sorted(extra))
    more = rng.choice(("", "", ASKED))
    write_members(world, text_of(*names, more=more, base=world.first_text))
    return f"edit: {', '.join(names)} {more}"


EVENTS: tuple[Event, ...] = (
    power_cut,
    power_cut,
    spare_cut,
    managers_forget,
    power_on,
    total_power_cut,
    partition,
    cut,
    heal,
    heal,
    heal,
    kill_member,
    kill_member,
    slow_copies,
    bad_calls,
    bad_verbs,
    deaf_members,
    another_file,
)
BY_NAME = {event.__name__: event for event in EVENTS}
