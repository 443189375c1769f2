"""A world that begins with what a recorded release had left on a live swarm (``tests/releases``).

Its nodes' labels, services, configs, networks and secrets are as they were recorded, and so is what
its members had: their data, the leader, and Patroni's settings. Further nodes are bare. Invariant:
nothing here is made by today's code; the members' image does what it did then, and no more.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import anyio

from queenright.core.observed import NEVER, Known, Live, LiveService, MemberStatus, SwarmState
from queenright.core.swarm.objects import Config
from tests.fakes.files import EPOCH
from tests.fakes.images import FIRST
from tests.fakes.raft_lists import Files
from tests.fakes.volumes import Volume
from tests.fakes.world import World
from tests.releases.recording import FILE as RECORDED_FILE
from tests.releases.recording import Json, Recording, path_of, read_recording
from tests.releases.replay import replay
from tests.sim.topology_world import with_topology
from tests.support.builders import FILE

NODES = 8
LAN = "10.79.0"
"""The first parts of the addresses on the lab that they were recorded on."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00")
PUSHED = f"sha256:{'d' * 64}"
"""The digest that the recorded tag of the member image has after a push of today's."""


@dataclasses.dataclass(frozen=True)
class Recorded:
    """One recording, as the present code reads it; ``images`` are the digests of its registry."""

    text: str
    swarm: SwarmState
    members: Mapping[str, MemberStatus]
    settings: Json
    images: Mapping[str, str]


@cache
def recorded(release: str, scene: str) -> Recorded:
    """Read a recording, with its moments moved to the beginning of the simulated time."""
    path: Path = path_of(release, scene)
    found = read_recording(path)
    seen = anyio.run(replay, found).observed
    assert isinstance(seen.swarm, Known)
    members = {
        service: reading.value
        for service, reading in seen.members.items()
        if isinstance(reading, Known)
    }
    settings = seen.settings["main"]
    assert isinstance(settings, Known)
    assert len(members) == 3
    swarm = moved(seen.swarm.value, EPOCH - found.moment)
    return Recorded(
        found.manifests[RECORDED_FILE], swarm, members, dict(settings.value), images_of(found)
    )


def images_of(found: Recording) -> dict[str, str]:
    """Return the digest of each image that was in the registry."""
    given: Json = found.docker["distribution"]
    return {reference: answer["Descriptor"]["digest"] for reference, answer in given.items()}


def moved(swarm: SwarmState, by: timedelta) -> SwarmState:
    """Return the objects with all their moments moved."""

    def label(text: str) -> str:
        return MOMENT.sub(lambda m: (datetime.fromisoformat(m[0]) + by).isoformat(), text)

    def config(live: Live[Config]) -> Live[Config]:
        labels = {key: label(text) for key, text in live.value.labels.items()}
        return dataclasses.replace(live, value=dataclasses.replace(live.value, labels=labels))

    def service(live: LiveService) -> LiveService:
        began = live.update_started_at
        return dataclasses.replace(
            live,
            created_at=live.created_at + by,
            updated_at=live.updated_at + by,
            update_started_at=began if began == NEVER else began + by,
        )

    return dataclasses.replace(
        swarm,
        configs=tuple(map(config, swarm.configs)),
        services=tuple(map(service, swarm.services)),
    )


async def begin(release: str, scene: str, seed: int, *, is_pushed: bool = False) -> World:
    """A world in which this release's cluster runs, and no operator yet. ``is_pushed``: today's
    member image was pushed under the same tag since."""
    found = recorded(release, scene)
    world = with_topology(World(seed, nodes=NODES, lan=LAN, first_text=found.text))
    world.startable = frozenset(found.images)
    world.swarm.images = dict(found.images)
    member = next(name for name in found.images if "member" in name)
    world.patroni_model.older_images[found.images[member]] = FIRST
    if is_pushed:
        world.swarm.images[member] = PUSHED
    fill(world, found.swarm)
    remember(world, found)
    world.orchestrator.wake()
    await world.until_whole()
    assert world.manifests.files == {FILE: found.text}
    return world


def fill(world: World, swarm: SwarmState) -> None:
    """Have the swarm's objects as they were recorded."""
    store = world.store
    for node in swarm.nodes:
        store.set_node(f"id-{node.name}", labels=node.labels, address=node.address)
    for network in swarm.networks:
        store.networks[network.value.name] = network
    for secret in swarm.secrets:
        store.create_secret(secret.value)
    store.configs.update({live.value.name: live for live in swarm.configs})
    store.services.update({live.id: live for live in swarm.services})
    versions = [live.version for found in (swarm.configs, swarm.services) for live in found]
    store.index = max(store.index, *versions)


def remember(world: World, found: Recorded) -> None:
    """Have the members' data and Raft's state as they were recorded: the leader holds the lock, and
    each Raft node has a dump with all voters."""
    model, store = world.patroni_model, world.store
    agreed = model.consensus("main")
    services = {live.value.name: live.value for live in store.services.values()}
    voters = frozenset(services[name].environment["RAFT_SELF"] for name in found.members)
    for name, status in found.members.items():
        service, place = services[name], store.node_named(node_of(found, name))
        source = next(m.source for m in service.mounts if "pgdata" in m.target)
        model.volumes[place.id, source] = Volume(
            timeline=status.timeline or 0,
            location=status.location or 0,
            system=1,
            settings=found.settings,
            secrets=tuple(
                store.secret_values[item.name]
                for item in service.secrets
                if "rest" not in item.target
            ),
            votes={service.environment["RAFT_SELF"]: Files(dump=voters)},
            was_primary=status.holds_lock,
            knows_raft=True,
        )
        if status.holds_lock:
            agreed.leader = agreed.initialized_by = status.name
            agreed.timeline = agreed.recorded_timeline = status.timeline or 0
            agreed.last_location = status.location or 0
    agreed.system = agreed.systems = 1
    agreed.settings, agreed.lock_until_s = found.settings, world.now_s + 60.0


def node_of(found: Recorded, service: str) -> str:
    """Return the node on which a member ran."""
    live = found.swarm.service(service)
    assert live is not None
    (task,) = (t for t in found.swarm.tasks_of(live.id) if t.desired_state == "running")
    node = found.swarm.node_by_id(task.node_id)
    assert node is not None
    return node.name
