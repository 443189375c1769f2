"""Random histories by seed: faults, a person's hands and edits, while the operator runs.

``Chaos.step`` does one thing to the world; ``calm`` ends every fault, so that what remains is the
operator's to put right.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from queenright.core.observed import Engine
from queenright.core.resources import Attachment, Mount, Port
from queenright.ports.swarm import SwarmError
from tests.builders import DIGESTS, FILE, MANIFEST, PROXY_IMAGE, manifest
from tests.fakes.fake_swarm import Faults
from tests.fakes.world import World

WORKERS = ("node2", "node3", "node4")
MEMBERS = ("main_member-1", "main_member-2", "main_member-3")
SERVICES = (*MEMBERS, "main_proxy")
VALID_EDITS = (
    MANIFEST,
    manifest(stopGracePeriod="90s"),
    manifest(memory="{limit: 3G}"),
    manifest(deletionPolicy="remove"),
    manifest(restartPolicy="{delay: 5s}", healthCheck="{retries: 5}"),
    manifest(postgresql="{parameters: {work_mem: 8MB}}"),
    MANIFEST + "    stopGracePeriod: 20s\n",
)
BAD_EDITS = (
    manifest(image2="x"),
    MANIFEST.replace("lanSubnet: 10.77.0.0/24", "lanSubnet: lan"),
    MANIFEST[: len(MANIFEST) // 2],
    "",
    "spec: [",
)


@dataclass
class Chaos:
    """One history's source of trouble; ``log`` tells what it did."""

    world: World
    rng: random.Random
    log: list[str] = field(default_factory=list)

    def step(self) -> None:
        chosen = self.rng.choice(STEPS)
        try:
            what = chosen(self)
        except (SwarmError, AssertionError) as refused:
            what = f"{chosen.__name__} was refused: {refused}"
        self.log.append(f"{self.world.now_s:7.1f} {what}")

    # Faults

    def power_cut(self) -> str:
        node = self.rng.choice(WORKERS)
        self.world.power_cut(node)
        return f"power cut of {node}"

    def power_on(self) -> str:
        for node in WORKERS:
            self.world.power_on(node)
        return "power on"

    def partition(self) -> str:
        node = self.rng.choice(WORKERS)
        self.world.partition(node)
        return f"{node} is partitioned"

    def heal(self) -> str:
        for node in WORKERS:
            self.world.heal(node)
        return "healed"

    def kill_container(self) -> str:
        name, code = self.rng.choice(SERVICES), self.rng.choice((0, 1, 137))
        self.world.kill_container(name, code)
        return f"container of {name} ends with {code}"

    def doom(self) -> str:
        name = self.rng.choice(SERVICES)
        self.world.orchestrator.doomed[name] = 2.0
        self.world.kill_container(name, 1)
        return f"{name} fails 2 s after each start"

    def undoom(self) -> str:
        self.world.orchestrator.doomed.clear()
        return "nothing fails at start any more"

    def bad_calls(self) -> str:
        rate = self.rng.choice((0.0, 0.1, 0.3))
        self.world.swarm.faults = Faults(
            unavailable=rate,
            answer_lost=rate,
            conflict=rate,
            slow=rate / 2,
            slow_s=self.rng.choice((1.0, 10.0)),
            torn_reads=self.rng.random() < 0.5,
            event_lost=self.rng.choice((0.0, 0.5, 1.0)),
            event_twice=0.2,
            stream_ends=0.1,
        )
        return f"calls fail at {rate}"

    def deaf_members(self) -> str:
        self.world.patroni.deaf = self.rng.choice((0.0, 0.2, 0.5))
        return f"members are deaf at {self.world.patroni.deaf}"

    def engine_trouble(self) -> str:
        node_id = self.world.store.engine.node_id
        troubles = (Engine(node_id), Engine(node_id, "locked"), Engine(node_id, "inactive"))
        self.world.store.engine = self.rng.choice(troubles)
        return f"the engine's swarm is {self.world.store.engine.swarm_state}"

    def registry(self) -> str:
        self.world.swarm.images[PROXY_IMAGE] = self.rng.choice(("", DIGESTS[PROXY_IMAGE]))
        return "the registry changes its mind"

    # A person

    def change_member(self) -> str:
        name = self.rng.choice(MEMBERS)
        fields = self.rng.choice(HAND_CHANGES)
        self.world.change_service(name, **fields)
        return f"{name} is changed by hand: {fields}"

    def change_proxy(self) -> str:
        fields = self.rng.choice(HAND_CHANGES)
        self.world.change_service(
            "main_proxy", **{k: v for k, v in fields.items() if k != "replicas"}
        )
        return f"the proxy is changed by hand: {fields}"

    def foreign_label(self) -> str:
        name = self.rng.choice(SERVICES)
        labels = {**self.world.service(name).value.labels, "backup": "daily"}
        self.world.change_service(name, labels=labels)
        return f"{name} gets a label of somebody else"

    def remove_service(self) -> str:
        name = self.rng.choice(SERVICES)
        self.world.store.remove_service(self.world.service(name).id)
        return f"{name} is removed by hand"

    def remove_unused(self) -> str:
        store = self.world.store
        removers = {
            **{live.id: store.remove_config for live in store.configs.values()},
            **{live.id: store.remove_network for live in store.networks.values()},
        }
        assert removers, "nothing to remove"
        chosen = self.rng.choice(list(removers))
        removers[chosen](chosen)
        return f"{chosen} is removed by hand"

    def move_label(self) -> str:
        node = self.rng.choice(("node1", *WORKERS))
        value = self.rng.choice((None, "1", "2", "3"))
        self.world.label(node, pg_node=value)
        return f"{node} gets pg-node={value} by hand"

    def drop_proxy_label(self) -> str:
        node = self.rng.choice(WORKERS)
        self.world.label(node, pg_ha_node=None)
        return f"{node} loses pg-ha-node by hand"

    def drain(self) -> str:
        node = self.rng.choice(WORKERS)
        self.world.store.set_node(f"id-{node}", availability=self.rng.choice(("drain", "pause")))
        return f"{node} is drained or paused"

    def activate(self) -> str:
        for node in WORKERS:
            self.world.store.set_node(f"id-{node}", availability="active")
        return "all nodes are active"

    def pause(self) -> str:
        agreed = self.world.patroni_model.consensus("main")
        agreed.paused = not agreed.paused
        return f"Patroni paused: {agreed.paused}"

    def switch_over(self) -> str:
        instances = [i for i in self.world.patroni_model.of_cluster("main") if i.is_streaming]
        assert instances, "no candidate"
        chosen = self.rng.choice(instances)
        self.world.patroni_model.switch_over("main", chosen.name)
        return f"switchover to {chosen.name}"

    def edit(self) -> str:
        number = self.rng.randrange(len(VALID_EDITS))
        self.world.manifests.write(FILE, VALID_EDITS[number])
        return f"valid edit {number}"

    def bad_edit(self) -> str:
        number = self.rng.randrange(len(BAD_EDITS))
        self.world.manifests.write(FILE, BAD_EDITS[number])
        return f"invalid edit {number}"

    def vanish(self) -> str:
        self.world.manifests.remove(FILE)
        return "the file vanishes"

    def half_written(self) -> str:
        self.world.manifests.broken = not self.world.manifests.broken
        return f"half-written: {self.world.manifests.broken}"

    def calm(self) -> None:
        """Every fault ends; what was done by hand stays done; the file is valid."""
        world = self.world
        world.swarm.faults, world.patroni.deaf = Faults(), 0.0
        world.store.engine = Engine(world.store.engine.node_id)
        world.swarm.images |= DIGESTS
        world.patroni_model.consensus("main").paused = False
        world.manifests.broken = False
        world.manifests.write(FILE, self.rng.choice(VALID_EDITS[:-1]))
        for act in (self.undoom, self.heal, self.power_on, self.activate):
            act()


HAND_CHANGES: tuple[dict[str, object], ...] = (
    {"environment": {"NODE_NAME": "elsewhere"}},
    {"image": "10.77.0.1:5000/other:1"},
    {"stop_grace_s": 1.0},
    {"replicas": 0},
    {"replicas": 2},
    {"labels": {}},
    {"container_labels": {"a": "b"}},
    {"networks": (Attachment("main_patroni", ("imposter",)),)},
    {"networks": ()},
    {"configs": ()},
    {"secrets": ()},
    {"ports": (Port(15432, 5432),)},
    {"mounts": (Mount("/elsewhere", source="other"),)},
    {"health_check": None},
    {"constraints": ()},
    {"other": {"TaskTemplate.ContainerSpec.Sysctls.kernel.shmmax": "1"}},
)

STEPS: tuple[Callable[[Chaos], str], ...] = (
    Chaos.power_cut,
    Chaos.power_on,
    Chaos.power_on,
    Chaos.partition,
    Chaos.heal,
    Chaos.heal,
    Chaos.kill_container,
    Chaos.doom,
    Chaos.undoom,
    Chaos.bad_calls,
    Chaos.bad_calls,
    Chaos.deaf_members,
    Chaos.engine_trouble,
    Chaos.registry,
    Chaos.change_member,
    Chaos.change_member,
    Chaos.change_member,
    Chaos.change_proxy,
    Chaos.foreign_label,
    Chaos.remove_service,
    Chaos.remove_unused,
    Chaos.move_label,
    Chaos.drop_proxy_label,
    Chaos.drain,
    Chaos.activate,
    Chaos.pause,
    Chaos.switch_over,
    Chaos.edit,
    Chaos.edit,
    Chaos.bad_edit,
    Chaos.vanish,
    Chaos.half_written,
)
