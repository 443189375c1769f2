"""The members as Patroni would move them: bootstrap, leader lock, failover, streaming.

Derived from the containers that really run and from who reaches whom. Times are those measured on
the lab, roughly; ttl is the contract's 30 s (spec: database-cluster §2.5).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from queenright.core.observed import LiveService, MemberStatus
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL
from queenright.core.spec.postgres_cluster import PREFERRED_PRIORITY
from tests.fakes.orchestrator import Orchestrator, running_containers
from tests.fakes.tasks import FakeTask

TICK_S = 1.0
TTL_S = 30.0
STARTS_S = 1.5
BOOTSTRAP_S = 4.0
CLONE_S = 6.0
CATCH_UP_S = 2.0


@cache
def parsed(template: bytes) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(template)
    return found


def merged(settings: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """As ``PATCH /config`` merges: mappings deeply, None removes, all else replaces."""
    found = dict(settings)
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, Mapping):
            present = found.get(key)
            found[key] = merged(present if isinstance(present, Mapping) else {}, value)
        else:
            found[key] = value
    return found


@dataclass
class Volume:
    """A data directory; ``secrets`` are the passwords that it was made with."""

    timeline: int = 0
    location: int = 0
    secrets: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.timeline == 0


@dataclass
class Instance:
    """One running member container. ``follows_s`` is since when it can follow the leader."""

    name: str
    service: str
    address: str
    task: FakeTask
    partners: int
    priority: int
    cluster: str
    follows_s: float | None = None
    is_streaming: bool = False


@dataclass
class Consensus:
    """What the members agree on by Raft."""

    initialized_by: str = ""
    initialized_at_s: float = 0.0
    leader: str = ""
    lock_until_s: float = 0.0
    timeline: int = 0
    changed_at_s: float = -1.0
    settings: dict[str, Any] = field(default_factory=dict)
    term: int = 1

    @property
    def paused(self) -> bool:
        return bool(self.settings.get("pause"))

    @paused.setter
    def paused(self, value: bool) -> None:
        self.settings = merged(self.settings, {"pause": True if value else None})


@dataclass
class PatroniModel:
    """All members of all clusters. ``status`` answers what ``/patroni`` and ``/primary`` would."""

    orchestrator: Orchestrator
    volumes: dict[tuple[str, str], Volume] = field(default_factory=dict)
    agreed: dict[str, Consensus] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    wrong_password: list[str] = field(default_factory=list)
    """Members whose data was made with other passwords than they were started with."""
    last_well_s: dict[str, float] = field(default_factory=dict)
    """When each member's service was last seen leading or streaming, by the tick."""

    def __post_init__(self) -> None:
        self.orchestrator.ended_listeners.append(self.container_ended)

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def start(self) -> None:
        asyncio.get_running_loop().call_later(TICK_S, self._tick_and_again)

    def _tick_and_again(self) -> None:
        self.tick()
        self.start()

    def consensus(self, cluster: str) -> Consensus:
        return self.agreed.setdefault(cluster, Consensus())

    def container_ended(self, task: FakeTask, orderly: bool) -> None:
        """A leader that is stopped in an orderly way gives its lock away at once."""
        instance = self.instances.pop(task.id, None)
        if instance and orderly and self.hears(instance):
            agreed = self.consensus(instance.cluster)
            if agreed.leader == instance.name:
                agreed.lock_until_s = 0.0

    def hears(self, instance: Instance) -> bool:
        return self.orchestrator.hears(instance.task.node_id)

    def tick(self) -> None:
        self._take_up_containers()
        for cluster in {instance.cluster for instance in self.instances.values()}:
            members = [i for i in self.instances.values() if i.cluster == cluster]
            self._elect(self.consensus(cluster), members)
            self._follow(self.consensus(cluster), members)
        for instance in self.instances.values():
            if self.is_well(instance):
                self.last_well_s[instance.service] = self.now_s

    def _take_up_containers(self) -> None:
        for live, task in running_containers(self.orchestrator.store):
            if (
                task.id not in self.instances
                and live.value.labels.get(ROLE_LABEL) == "member"
                and not self.orchestrator.why_not_start(task.template)
            ):
                self.instances[task.id] = self._instance(live, task)

    def _instance(self, live: LiveService, task: FakeTask) -> Instance:
        environment = task.template.environment
        made = Instance(
            name=environment.get("NODE_NAME", live.value.name),
            service=live.value.name,
            address=environment.get("NODE_CONNECT", ""),
            task=task,
            partners=len(json.loads(environment.get("RAFT_PARTNERS", "[]"))),
            priority=int(environment.get("FAILOVER_PRIORITY", "1")),
            cluster=live.value.labels.get(CLUSTER_LABEL, ""),
        )
        volume = self.volume(made)
        if not volume.is_empty and volume.secrets != self._secrets(made):
            self.wrong_password.append(made.name)
        return made

    def volume(self, instance: Instance) -> Volume:
        source = next(
            mount.source for mount in instance.task.template.mounts if "pgdata" in mount.target
        )
        return self.volumes.setdefault((instance.task.node_id, source), Volume())

    def _secrets(self, instance: Instance) -> tuple[int, ...]:
        values = self.orchestrator.store.secret_values
        return tuple(values.get(item.name, 0) for item in instance.task.template.secrets)

    def is_up(self, instance: Instance) -> bool:
        return self.now_s - instance.task.up_since_s >= STARTS_S

    def connected(self, members: list[Instance]) -> list[Instance]:
        return [i for i in members if self.hears(i) and self.is_up(i)]

    def _elect(self, agreed: Consensus, members: list[Instance]) -> None:
        present = self.connected(members)
        if not present or len(present) * 2 <= present[0].partners + 1:
            return
        if not agreed.initialized_by:
            preferred = [i for i in present if i.priority == PREFERRED_PRIORITY]
            if preferred:
                agreed.initialized_by, agreed.initialized_at_s = preferred[0].name, self.now_s
            return
        holder = next((i for i in present if i.name == agreed.leader), None)
        if holder and not self.volume(holder).is_empty and self.now_s < agreed.lock_until_s:
            agreed.lock_until_s = self.now_s + TTL_S
            if holder.task.up_since_s > agreed.changed_at_s:
                self._promote(agreed, holder)
        elif agreed.timeline == 0:
            self._bootstrap(agreed, present)
        elif self.now_s >= agreed.lock_until_s and not agreed.paused:
            able = [i for i in present if not self.volume(i).is_empty]
            if able:
                best = max(able, key=lambda i: (self.volume(i).location, i.priority, i.name))
                self._promote(agreed, best)

    def _bootstrap(self, agreed: Consensus, present: list[Instance]) -> None:
        first = next((i for i in present if i.name == agreed.initialized_by), None)
        if first is None:
            agreed.initialized_by = ""
        elif self.now_s - agreed.initialized_at_s >= BOOTSTRAP_S:
            volume = self.volume(first)
            volume.secrets, volume.location = self._secrets(first), 1000
            self._promote(agreed, first)

    def _promote(self, agreed: Consensus, chosen: Instance) -> None:
        agreed.leader = chosen.name
        agreed.timeline += 1
        agreed.lock_until_s = self.now_s + TTL_S
        agreed.changed_at_s = self.now_s
        self.volume(chosen).timeline = agreed.timeline
        chosen.is_streaming = False

    def leader(self, cluster: str) -> Instance | None:
        """The one that holds the lock and takes writes, in truth."""
        agreed = self.consensus(cluster)
        if self.now_s >= agreed.lock_until_s and not agreed.paused:
            return None
        for instance in self.instances.values():
            if instance.cluster == cluster and instance.name == agreed.leader:
                return instance if self.is_up(instance) else None
        return None

    def _follow(self, agreed: Consensus, members: list[Instance]) -> None:
        leader = next((i for i in members if i.name == agreed.leader), None)
        reachable = leader is not None and self.hears(leader) and self.is_up(leader)
        if leader is not None and reachable:
            self.volume(leader).location += 100
        for member in members:
            if member is leader:
                continue
            if not (reachable and self.hears(member) and self.is_up(member)):
                member.follows_s, member.is_streaming = None, False
                continue
            if member.follows_s is None:
                member.follows_s = self.now_s
            volume = self.volume(member)
            needed = CLONE_S if volume.is_empty else CATCH_UP_S
            if leader is not None and self.now_s - member.follows_s >= needed:
                if volume.is_empty:
                    volume.secrets = self._secrets(member)
                volume.timeline = agreed.timeline
                volume.location = self.volume(leader).location
                member.is_streaming = True

    def switch_over(self, cluster: str, to: str) -> None:
        """A planned change of leader, as ``patronictl switchover`` makes it."""
        chosen = next(i for i in self.of_cluster(cluster) if i.name == to)
        former = self.leader(cluster)
        self._promote(self.consensus(cluster), chosen)
        if former is not None:
            former.follows_s = None

    def has_quorum(self, cluster: str) -> bool:
        present = self.connected(list(self.of_cluster(cluster)))
        return bool(present) and len(present) * 2 > present[0].partners + 1

    def at_address(self, address: str) -> Instance | None:
        return next((i for i in self.instances.values() if i.address == address), None)

    def settings(self, instance: Instance) -> dict[str, Any]:
        """What the cluster was bootstrapped with: the template's section that is read once."""
        agreed = self.consensus(instance.cluster)
        if "ttl" in agreed.settings:
            return agreed.settings
        for reference in instance.task.template.configs:
            config = self.orchestrator.store.configs.get(reference.name)
            written = parsed(config.value.data) if config else {}
            if "bootstrap" in written:
                agreed.settings = merged(written["bootstrap"]["dcs"], agreed.settings)
        return agreed.settings

    def status(self, instance: Instance) -> MemberStatus:
        agreed, volume = self.consensus(instance.cluster), self.volume(instance)
        leads = self.leader(instance.cluster) is instance and not volume.is_empty
        if volume.is_empty:
            first = agreed.initialized_by == instance.name
            state = "initializing new cluster" if first else "creating replica"
            return MemberStatus(state=state, role="replica", paused=agreed.paused)
        return MemberStatus(
            state="running",
            role="primary" if leads else "replica",
            timeline=volume.timeline,
            replication_state="streaming" if instance.is_streaming and not leads else "",
            holds_lock=leads,
            location=volume.location,
            paused=agreed.paused,
            version="4.1.0",
            server_version=160014,
        )

    def is_well(self, instance: Instance) -> bool:
        """Leader, or streaming from it."""
        leads = self.leader(instance.cluster) is instance
        return leads or (instance.is_streaming and self.hears(instance))

    def of_cluster(self, cluster: str) -> Iterator[Instance]:
        return (i for i in self.instances.values() if i.cluster == cluster)
