"""The containers that members run in: taken up, joined to their volumes, and ended."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field

from queenright.core.kinds.postgres_cluster.desired.services import OR_STARTING
from queenright.core.observed import LiveService
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL
from tests.fakes.consensus import Consensus
from tests.fakes.instances import CREATING, RUNNING, STARTING, STARTS_S, Instance
from tests.fakes.listening import member_listening
from tests.fakes.orchestrator import Orchestrator
from tests.fakes.swarm_store import running_containers
from tests.fakes.tasks import FakeTask
from tests.fakes.volumes import Volume

GENERATION = re.compile(r"-([0-9]{8}t[0-9]{6})-data$")
"""The end of a volume's name that a restore in place gives: its moment."""


@dataclass
class MemberContainers:
    """An instance for each container of a member that runs, on the volume of its node."""

    orchestrator: Orchestrator
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    volumes: dict[tuple[str, str], Volume] = field(default_factory=dict)
    agreed: dict[str, Consensus] = field(default_factory=dict)
    left: dict[tuple[str, str], Consensus] = field(default_factory=dict)
    """The state in Raft's files that lie on volumes of another generation, by cluster and that."""
    instances: dict[str, Instance] = field(default_factory=dict)
    wrong_password: list[str] = field(default_factory=list)
    """Members whose data was made with other passwords than they were started with."""
    last_well_s: dict[str, float] = field(default_factory=dict)
    last_unwell_s: dict[str, float] = field(default_factory=dict)
    """The tick at which each member's service was last seen leading or streaming, and neither."""

    def __post_init__(self) -> None:
        self.orchestrator.ended_listeners.append(self.container_ended)
        present = self.orchestrator.is_healthy
        self.orchestrator.is_healthy = lambda task: (
            self._answers_health(self.instances[task.id])
            if task.id in self.instances
            else present(task)
        )

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def consensus(self, cluster: str) -> Consensus:
        found = self.agreed.get(cluster)
        if found is None:
            found = self.agreed[cluster] = Consensus()
        return found

    def take_generation(self, cluster: str, source: str) -> None:
        """The members that start on volumes of another generation have Raft's files of their own,
        unless one of the present generation runs: that one is asked first, and has them all."""
        agreed, found = self.consensus(cluster), GENERATION.search(source)
        generation = found[1] if found else ""
        if agreed.generation == generation or any(
            one.cluster == cluster for one in self.instances.values()
        ):
            return
        self.left[cluster, agreed.generation] = agreed
        kept = self.left.pop((cluster, generation), None)
        self.agreed[cluster] = kept or Consensus(generation=generation)

    def container_ended(self, task: FakeTask, orderly: bool) -> None:
        """A leader that is stopped in an orderly way gives its lock away at once, unless it is
        paused."""
        instance = self.instances.pop(task.id, None)
        if instance is None:
            return
        self._name_again(instance)
        self.last_unwell_s[instance.service] = self.now_s
        agreed = self.consensus(instance.cluster)
        holds = agreed.leader == instance.name and instance.name in agreed.raft.able
        if orderly and holds and not instance.is_paused and instance.is_primary:
            agreed.last_location = instance.volume.location
            self.release(agreed)

    def release(self, agreed: Consensus) -> None:
        agreed.lock_until_s = 0.0
        agreed.race_at_s = self.now_s

    def _take_up_containers(self) -> None:
        for live, task in running_containers(self.orchestrator.store):
            if (
                task.id not in self.instances
                and live.value.labels.get(ROLE_LABEL) == "member"
                and not self.orchestrator.why_not_start(task.template)
            ):
                self.instances[task.id] = self._instance(live, task)

    def _answers_health(self, instance: Instance) -> bool:
        """``/health``, which the container's own check asks: 200 while PostgreSQL runs. With its
        flag, Patroni's word that PostgreSQL is on its way is enough."""
        if instance.waits:
            return True
        if not self.is_up(instance):
            return False
        check = instance.task.template.health_check
        may_start = check is not None and OR_STARTING in check.test
        if may_start and instance.state in {CREATING, STARTING}:
            return True
        return instance.state == RUNNING and not instance.volume.is_empty

    def _instance(self, live: LiveService, task: FakeTask) -> Instance:
        environment = task.template.environment
        source = next(m.source for m in task.template.mounts if "pgdata" in m.target)
        self.take_generation(live.value.labels.get(CLUSTER_LABEL, ""), source)
        volume = self.volumes.setdefault((task.node_id, source), Volume())
        partners = json.loads(environment.get("RAFT_PARTNERS", "[]"))
        made = Instance(
            name=environment.get("NODE_NAME", live.value.name),
            service=live.value.name,
            address=environment.get("NODE_CONNECT", ""),
            task=task,
            volume=volume,
            partners=len(partners),
            partner_addresses=frozenset(partners),
            priority=int(environment.get("FAILOVER_PRIORITY", "1")),
            cluster=live.value.labels.get(CLUSTER_LABEL, ""),
            listening=member_listening(self.orchestrator.store, task.template),
            settings=dict(volume.settings),  # patroni.dynamic.json, which Patroni reads at start
        )
        self._tell_apart(made)
        if not volume.is_empty and volume.secrets != self.secrets_of(made):
            self.wrong_password.append(made.name)
        return made

    def _tell_apart(self, made: Instance) -> None:
        """Give another name here to a container of the same member that a node runs on, which the
        managers do not reach: its service was removed, and made anew elsewhere."""
        for other in self.instances.values():
            if (other.cluster, other.name) == (made.cluster, made.name):
                other.name = f"{made.name}@{other.node_id}"
                if other.vote is not None:
                    other.vote.name = other.name

    def _name_again(self, ended: Instance) -> None:
        """Give its own name back to a container that is alone again: the other of two that Swarm
        started for one service, which both had this name."""
        name = ended.name.partition("@")[0]
        same = [
            one
            for one in self.instances.values()
            if one.cluster == ended.cluster and one.name.partition("@")[0] == name
        ]
        if len(same) == 1 and same[0].service == ended.service:
            same[0].name = name
            if same[0].vote is not None:
                same[0].vote.name = name

    def secrets_of(self, instance: Instance) -> tuple[int, ...]:
        """The passwords that the data is made with."""
        values = self.orchestrator.store.secret_values
        secrets = instance.task.template.secrets
        return tuple(values.get(item.name, 0) for item in secrets if "rest" not in item.target)

    def is_up(self, instance: Instance) -> bool:
        """Return True if Patroni answers."""
        reach = self.orchestrator.reach
        return instance.has_joined and reach.runs(instance.node_id)

    def answers(self, instance: Instance) -> bool:
        """Return True if something answers on the REST port: Patroni, or the entry point."""
        is_waiting = instance.waits and self.orchestrator.reach.runs(instance.node_id)
        return self.is_up(instance) or is_waiting

    def is_home(self, instance: Instance) -> bool:
        """Return True if it runs at the address that the others use: its ports are its node's."""
        node = self.orchestrator.store.nodes.get(instance.node_id)
        return node is not None and node.address == instance.address

    def raft_listens(self, instance: Instance) -> bool:
        """Return True if its Raft node answers, which it does before Patroni has joined."""
        reach = self.orchestrator.reach
        return reach.runs(instance.node_id) and self._is_started(instance)

    def _is_started(self, instance: Instance) -> bool:
        is_ready = self.now_s - instance.task.up_since_s >= STARTS_S
        return instance.has_entered and is_ready and self.is_home(instance)
