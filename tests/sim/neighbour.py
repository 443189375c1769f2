"""A second cluster in a simulated history, on nodes of its own, under the same operator.

Its owner edits its file, its nodes have troubles of their own, and it is judged as the first one
is. Faults of one cluster, its file included, do not concern the other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from queenright.core.planning.plan import Hold
from tests.fakes.loading import judged
from tests.fakes.world import World
from tests.sim.documents import NEXT_IMAGE
from tests.sim.invariants import Invariants
from tests.sim.schema_edits import draw_edit, fields_of
from tests.sim.script import Script, make_script
from tests.sim.subject import Subject
from tests.support.builders import MEMBER_IMAGE, PROXY_IMAGE

SIDE_FILE = "/etc/queenright/side.yaml"
SIDE = f"""\
apiVersion: queenright/v1alpha1
kind: PostgresCluster
metadata: {{name: side}}
spec:
  image: {MEMBER_IMAGE}
  lanSubnet: 10.77.0.0/24
  members:
    - {{name: one, node: node5}}
    - {{name: two, node: node6}}
    - {{name: three, node: node7}}
  proxies: {{image: "{PROXY_IMAGE}"}}
  secrets: {{replication: side_replication_pw, superuser: side_superuser_pw, restApi: side_rest_pw}}
  nodeLabels: {{member: side-node, proxy: side-proxy}}
"""
NODE_OF = {"one": "node5", "two": "node6", "three": "node7"}
TEXTS = (
    SIDE,
    SIDE.replace(MEMBER_IMAGE, NEXT_IMAGE),
    SIDE + "  primary: two\n",
    SIDE + "  stopGracePeriod: 90s\n",
    SIDE + "  postgresql: {parameters: {work_mem: 8MB}}\n",
    SIDE + "  postgresql: {parameters: {max_connections: 300}}\n",
)
"""Edits that may stay for good."""
BROKEN = (SIDE[:200], "spec: [", SIDE.replace("lanSubnet: 10.77.0.0/24", "lanSubnet: lan"))
EVERY_S = (5.0, 60.0)
TIMES = 10
SLOWLY = 2.0
"""The greater distance of the first cluster's troubles, because it has a neighbour."""


@dataclass
class Neighbour:
    """Attached to a world before its operators start; ``violations`` says what went wrong."""

    world: World
    rng: random.Random
    subject: Subject = field(init=False)
    judge: Invariants = field(init=False)

    def __post_init__(self) -> None:
        for node in NODE_OF.values():
            self.world.store.add_node(node, f"10.77.0.{10 + int(node[-1])}", "worker")
        self.world.manifests.files[SIDE_FILE] = SIDE
        self.subject = Subject(self.world, "side", SIDE_FILE, SIDE, NODE_OF)
        self.judge = Invariants(self.world, self.subject)
        self.world.when_calm.append(self.calm)
        self.world.advised.append(self.follow_advice)
        self.world.when_at_rest.append(self.judge.at_rest)
        self.world.also_whole.append(self.is_whole)

    @property
    def violations(self) -> list[str]:
        return self.judge.violations

    async def live(self) -> None:
        """Run its owner, and the faults of its nodes."""
        for _ in range(TIMES):
            await asyncio.sleep(self.rng.uniform(*EVERY_S))
            self.rng.choice((self.edit, self.edit, self.edit_any_field, self.fault, self.mend))()

    def write(self, text: str) -> None:
        self.world.manifests.write(SIDE_FILE, text)

    def edit(self) -> None:
        self.write(self.rng.choice(BROKEN if self.rng.random() < 0.2 else TEXTS))

    def edit_any_field(self) -> None:
        fields = [one for one in fields_of("PostgresCluster") if one.path[0] == "spec"]
        text = self.world.manifests.files.get(SIDE_FILE, SIDE)
        text = SIDE if judged({SIDE_FILE: text}).errors else text
        self.write(draw_edit(SIDE_FILE, text, self.rng.choice(fields), self.rng).text)

    def fault(self) -> None:
        node = self.rng.choice([*NODE_OF.values()])
        match self.rng.randrange(4):
            case 0:
                self.world.power_cut(node)
            case 1:
                self.world.freeze(node)
            case 2:
                self.world.partition(node)
            case _:
                self.world.kill_container(self.rng.choice(self.subject.services))

    def mend(self) -> None:
        for node in NODE_OF.values():
            self.world.heal(node)
            self.world.power_on(node)

    def calm(self) -> None:
        """Every fault ends, and the file is one that may stay."""
        self.mend()
        self.write(self.rng.choice(TEXTS))

    def follow_advice(self, hold: Hold) -> str:
        """Do what a hold of this cluster asks a person to do."""
        leader = self.subject.leader()
        if not hold.key.startswith("leader-restart/side") or leader is None or not self.is_whole():
            return ""
        self.world.patroni_model.restart(leader, 1.5)
        return f"as the hold asks: restart of {leader.name} of side"

    def is_whole(self) -> bool:
        """Return True for one leader and two streaming replicas."""
        model = self.world.patroni_model
        well = [one for one in model.of_cluster("side") if model.is_well(one)]
        return self.subject.leader() is not None and len(well) == len(NODE_OF)


def neighbour_script(seed: int, faults: int) -> Script:
    return make_script(seed, faults, raft=False).slowed(SLOWLY)


def with_neighbour(seed: int, found: list[Neighbour]) -> Callable[[World], None]:
    """Puts a second cluster into a history's world."""

    def tamper(world: World) -> None:
        neighbour = Neighbour(world, random.Random(f"neighbour {seed}"))
        world.owners.append(asyncio.get_running_loop().create_task(neighbour.live()))
        found.append(neighbour)

    return tamper
