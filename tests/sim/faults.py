"""Faults of the world: each does one thing to it, and describes it."""

from __future__ import annotations

import random
from collections.abc import Callable

from queenright.core.observed import Engine
from tests.fakes.fake_swarm import Faults
from tests.fakes.verbs import VerbFaults
from tests.fakes.volumes import Damage
from tests.fakes.world import World
from tests.support.builders import DIGESTS, PROXY_IMAGE

Action = Callable[[World, random.Random], str]

WORKERS = ("node2", "node3", "node4")
MEMBERS = ("main_member-1", "main_member-2", "main_member-3")
SERVICES = (*MEMBERS, "main_proxy")


def power_cut(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.power_cut(node)
    return f"power cut of {node}"


def power_on(world: World, rng: random.Random) -> str:
    for node in WORKERS:
        world.power_on(node)
    return "power on"


def power_cut_of_the_leader(world: World, rng: random.Random) -> str:
    leader = world.leader()
    assert leader is not None, "no leader"
    node = world.store.nodes[leader.node_id].name
    world.power_cut(node)
    return f"power cut of {node}, where {leader.name} leads"


def total_power_cut(world: World, rng: random.Random) -> str:
    """Every node of a member loses power at once; they come back one by one."""
    delays_s = [(node, rng.choice((0.0, 0.0, 5.0, 20.0, 45.0))) for node in WORKERS]
    for node, delay_s in delays_s:
        world.power_cut(node)
        world.power_on(node, rng.choice((2.0, 50.0)) + delay_s)
    return f"total power cut; the nodes are back after {delays_s}"


def restart_dockerd(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.restart_dockerd(node)
    return f"dockerd of {node} restarts"


def partition(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.partition(node)
    return f"{node} is partitioned"


def freeze(world: World, rng: random.Random) -> str:
    node = rng.choice(WORKERS)
    world.freeze(node)
    return f"{node} is frozen"


def cut(world: World, rng: random.Random) -> str:
    one, other = rng.sample(("node1", *WORKERS), 2)
    world.cut(one, other)
    return f"{one} and {other} don't hear each other"


def cut_off(world: World, rng: random.Random) -> str:
    """The managers hear a node that no other member hears."""
    node = rng.choice(WORKERS)
    for other in WORKERS:
        if other != node:
            world.cut(node, other)
    return f"the other members don't hear {node}"


def repair(world: World, rng: random.Random) -> str:
    """People see to everything at once."""
    for event in (heal, power_on, undoom):
        event(world, rng)
    world.empty_data()
    world.reach.unlogged.clear()
    world.swarm.faults = Faults()
    world.patroni.deaf = 0.0
    world.secrets.is_unavailable = False
    world.store.engine = Engine(world.store.engine.node_id)
    return "all is repaired"


def heal(world: World, rng: random.Random) -> str:
    for node in WORKERS:
        world.heal(node)
    return "healed"


def kill_container(world: World, rng: random.Random) -> str:
    name, code = rng.choice(SERVICES), rng.choice((0, 1, 137))
    world.kill_container(name, code)
    return f"container of {name} ends with {code}"


def kill_the_leader(world: World, rng: random.Random) -> str:
    leader = world.leader()
    assert leader is not None, "no leader"
    world.kill_container(leader.service)
    return f"container of the leader {leader.name} is killed"


def doom(world: World, rng: random.Random) -> str:
    name = rng.choice(SERVICES)
    world.orchestrator.doomed[name] = 2.0
    world.kill_container(name, 1)
    return f"{name} fails 2 s after each start"


def undoom(world: World, rng: random.Random) -> str:
    world.orchestrator.doomed.clear()
    return "nothing fails at start any more"


def slow_starts(world: World, rng: random.Random) -> str:
    world.orchestrator.preparing_s = rng.choice((0.4, 0.4, 8.0))
    return f"containers take {world.orchestrator.preparing_s} s to be prepared"


def bad_calls(world: World, rng: random.Random) -> str:
    rate = rng.choice((0.0, 0.1, 0.3))
    world.swarm.faults = Faults(
        unavailable=rate,
        answer_lost=rate,
        conflict=rate,
        slow=rate / 2,
        slow_s=rng.choice((1.0, 10.0)),
        torn_reads=rng.random() < 0.5,
        event_lost=rng.choice((0.0, 0.5, 1.0)),
        event_twice=0.2,
        stream_ends=0.1,
    )
    return f"swarm's calls fail at {rate}"


def manager_restarts(world: World, rng: random.Random) -> str:
    world.swarm.faults = Faults(unavailable=1.0, event_lost=1.0, stream_ends=1.0)
    lasts_s = rng.choice((2.0, 7.0))
    world.orchestrator.after(lasts_s, manager_is_back, world)
    return f"the manager's dockerd is away for {lasts_s} s"


def manager_is_back(world: World) -> None:
    world.swarm.faults = Faults()


def bad_verbs(world: World, rng: random.Random) -> str:
    rate = rng.choice((0.0, 0.2, 0.5, 0.8))
    world.patroni.faults = VerbFaults(
        answer_lost=rate,
        late=rate * rng.random(),
        vain=rate * rng.random(),
        conflict=rate,
        slow=rng.choice((0.0, 0.2)),
    )
    world.patroni_model.other_wins = rng.choice((0.0, 0.3))
    return f"Patroni's verbs go wrong at {rate}"


def deaf_members(world: World, rng: random.Random) -> str:
    world.patroni.deaf = rng.choice((0.0, 0.2, 0.5))
    return f"members are deaf at {world.patroni.deaf}"


def slow_replica(world: World, rng: random.Random) -> str:
    """Clients write much, and one replica does not keep up."""
    world.patroni_model.slow = {rng.choice(MEMBERS)}
    world.patroni_model.writes_bytes = 400_000
    return f"clients write much, and {', '.join(world.patroni_model.slow)} does not keep up"


def busy_clients(world: World, rng: random.Random) -> str:
    world.patroni_model.slow = set()
    world.patroni_model.writes_bytes = rng.choice((0, 100, 100, 400_000))
    return f"clients write {world.patroni_model.writes_bytes} bytes a second"


def broken_data(world: World, rng: random.Random) -> str:
    name = rng.choice(MEMBERS)
    world.break_data(name)
    return f"the data directory of {name} is damaged, unless it leads"


def engine_trouble(world: World, rng: random.Random) -> str:
    node_id = world.store.engine.node_id
    world.store.engine = rng.choice(
        (Engine(node_id), Engine(node_id, "locked"), Engine(node_id, "inactive"))
    )
    return f"the engine's swarm is {world.store.engine.swarm_state}"


def registry(world: World, rng: random.Random) -> str:
    world.swarm.images[PROXY_IMAGE] = rng.choice(("", DIGESTS[PROXY_IMAGE]))
    return "the registry changes its mind"


def secrets_unread(world: World, rng: random.Random) -> str:
    world.secrets.is_unavailable = not world.secrets.is_unavailable
    return f"secrets can't be read: {world.secrets.is_unavailable}"


def clock_jumps(world: World, rng: random.Random) -> str:
    """Let the clock jump: by seconds, as clocks differ, or by hours, as one is set."""
    world.clock.skew_s = rng.choice((0.0, 0.0, 2.0, -2.0, 21_600.0, -21_600.0, 7_200.0, -7_200.0))
    return f"the operator's clock is {world.clock.skew_s:+} s off"


DAMAGES: tuple[Damage, ...] = (
    "no-control-file",
    "damaged-control-file",
    "interrupted-copy",
    "files",
    "no-room",
)


def lost_data(world: World, rng: random.Random) -> str:
    """A member loses data in one of the ways in which real members were seen."""
    name, kind = rng.choice(MEMBERS), rng.choice(DAMAGES)
    done = world.damage(name, kind)
    return f"the data of {name} has the damage {kind}" if done else "no data is damaged"


FAULTS: tuple[Action, ...] = (
    power_cut,
    power_on,
    power_on,
    power_cut_of_the_leader,
    restart_dockerd,
    partition,
    freeze,
    cut,
    cut_off,
    heal,
    heal,
    repair,
    repair,
    repair,
    repair,
    repair,
    repair,
    kill_container,
    kill_the_leader,
    doom,
    undoom,
    slow_starts,
    bad_calls,
    bad_calls,
    manager_restarts,
    bad_verbs,
    bad_verbs,
    deaf_members,
    slow_replica,
    slow_replica,
    busy_clients,
    broken_data,
    engine_trouble,
    registry,
    secrets_unread,
    clock_jumps,
)
