"""The members as Patroni moves them: bootstrap, leader lock, failover, demotion, streaming.

Derived from the containers that really run and from who reaches whom. Times are those measured on
the lab, roughly; a round of every member's loop is one tick.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from queenright.core.observed import LiveService, MemberStatus
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL
from tests.fakes.consensus import Consensus
from tests.fakes.fake_secrets import secret_text
from tests.fakes.instances import (
    CREATING,
    FAILED,
    INITIALIZING,
    RUNNING,
    STARTING,
    STARTS_S,
    STOPPED,
    Instance,
)
from tests.fakes.leader_lock import change_over, elect
from tests.fakes.orchestrator import Orchestrator
from tests.fakes.raft_model import RaftNode
from tests.fakes.replication import follow
from tests.fakes.swarm_store import running_containers
from tests.fakes.tasks import FakeTask
from tests.fakes.volumes import Volume

TICK_S = 1.0
WRITES_BYTES = 100
PAUSED_PRIMARY_GRACE_S = (23.0, 43.0)
"""After so long a paused leader without quorum answers 503 on ``/primary``."""


@dataclass
class PatroniModel:
    """All members of all clusters."""

    orchestrator: Orchestrator
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    volumes: dict[tuple[str, str], Volume] = field(default_factory=dict)
    agreed: dict[str, Consensus] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    wrong_password: list[str] = field(default_factory=list)
    """Members whose data was made with other passwords than they were started with."""
    last_well_s: dict[str, float] = field(default_factory=dict)
    last_unwell_s: dict[str, float] = field(default_factory=dict)
    """When each member's service was last seen leading or streaming, and neither, by the tick."""
    last_streamed_s: dict[str, float] = field(default_factory=dict)
    last_near_s: dict[str, float] = field(default_factory=dict)
    """When each was last seen streaming, and within the lag bound."""
    last_quorate_s: dict[str, float] = field(default_factory=dict)
    last_led_s: dict[str, float] = field(default_factory=dict)
    """When each cluster was last seen with a quorum, and with a leader."""
    slow: set[str] = field(default_factory=set)
    """Services of members whose replication is slow."""
    writes_bytes: int = WRITES_BYTES
    """What clients write in a tick."""
    story: list[tuple[float, str]] = field(default_factory=list)
    """Who was promoted, and when."""
    other_wins: float = 0.0
    """The chance that a switchover is won by another member than its candidate."""

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

    # Containers

    def container_ended(self, task: FakeTask, orderly: bool) -> None:
        """A leader that is stopped in an orderly way gives its lock away at once, unless it is
        paused."""
        instance = self.instances.pop(task.id, None)
        if instance is None:
            return
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

    def _instance(self, live: LiveService, task: FakeTask) -> Instance:
        environment = task.template.environment
        source = next(m.source for m in task.template.mounts if "pgdata" in m.target)
        volume = self.volumes.setdefault((task.node_id, source), Volume())
        mounted = [item.name for item in task.template.secrets if "rest" in item.target]
        known = mounted and mounted[0] in self.orchestrator.store.secret_values
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
            rest_password=secret_text(self.orchestrator.store, mounted[0]) if known else "",
        )
        if not volume.is_empty and volume.secrets != self.secrets_of(made):
            self.wrong_password.append(made.name)
        return made

    def secrets_of(self, instance: Instance) -> tuple[int, ...]:
        """The passwords that the data is made with."""
        values = self.orchestrator.store.secret_values
        secrets = instance.task.template.secrets
        return tuple(values.get(item.name, 0) for item in secrets if "rest" not in item.target)

    def is_up(self, instance: Instance) -> bool:
        """Whether Patroni answers."""
        reach = self.orchestrator.reach
        return instance.has_joined and reach.runs(instance.node_id)

    def is_home(self, instance: Instance) -> bool:
        """Whether it runs where the others look for it: its ports are its node's."""
        node = self.orchestrator.store.nodes.get(instance.node_id)
        return node is not None and node.address == instance.address

    # Rounds

    def tick(self) -> None:
        self._take_up_containers()
        by_cluster: dict[str, list[Instance]] = {}
        for instance in self.instances.values():
            by_cluster.setdefault(instance.cluster, []).append(instance)
        for cluster, members in by_cluster.items():
            agreed = self.consensus(cluster)
            self._look(cluster, agreed, members)
            for member in members:
                if member.has_joined and self.orchestrator.reach.runs(member.node_id):
                    self._round(agreed, member)
            elect(self, agreed, [m for m in members if m.name in agreed.raft.able and m.has_joined])
            follow(self, agreed, members)
            for member in members:
                member.answers_primary = self._answers_primary(agreed, member)
            self._note(cluster, agreed, members)
        for instance in self.instances.values():
            noted = self.last_well_s if self.is_well(instance) else self.last_unwell_s
            noted[instance.service] = self.now_s

    def _note(self, cluster: str, agreed: Consensus, members: list[Instance]) -> None:
        leader, now_s = self.leader(cluster), self.now_s
        if leader is None:
            return
        self.last_led_s[cluster] = now_s
        least = leader.volume.location - agreed.setting("maximum_lag_on_failover")
        for member in members:
            if member.is_streaming:
                self.last_streamed_s[member.service] = now_s
                if member.volume.location >= least:
                    self.last_near_s[member.service] = now_s

    def _look(self, cluster: str, agreed: Consensus, members: list[Instance]) -> None:
        now_s, reach = self.now_s, self.orchestrator.reach
        up = [m for m in members if now_s - m.task.up_since_s >= STARTS_S and self.is_home(m)]
        nodes = [RaftNode(m.name, m.node_id, m.partners) for m in up]
        agreed.raft.look(nodes, reach, now_s)
        if agreed.raft.able:
            self.last_quorate_s[cluster] = now_s
        for member in up:
            if member.name in agreed.raft.able:
                member.lost_s = None
                member.has_joined = True
                if member.settings is not agreed.settings and self.rng.random() < 0.8:
                    member.settings = agreed.settings
            elif member.lost_s is None and reach.runs(member.node_id):
                loop_s, retry_s = agreed.setting("loop_wait"), agreed.setting("retry_timeout")
                member.lost_s = now_s
                member.patience_s = retry_s + loop_s * self.rng.uniform(0.4, 1.0)
                member.grace_s = self.rng.uniform(*PAUSED_PRIMARY_GRACE_S)

    def _round(self, agreed: Consensus, member: Instance) -> None:
        """One round of a member's own loop, without the race for the lock."""
        now_s = self.now_s
        able = member.name in agreed.raft.able
        if member.state == STARTING and now_s >= member.ready_at_s:
            member.started()
        if member.is_primary and not member.is_paused:
            held = agreed.leader and now_s < agreed.lock_until_s
            usurped = able and held and agreed.leader != member.name
            cut_off = member.lost_s is not None and now_s - member.lost_s >= member.patience_s
            if usurped or cut_off:
                member.start("replica", now_s + self.rng.uniform(1.0, 4.0))
        elif member.state in {STOPPED, FAILED} and not member.is_paused:
            if member.volume.is_broken:
                member.state = FAILED
            elif not member.volume.is_empty:
                leads = able and agreed.leader == member.name and now_s < agreed.lock_until_s
                member.start("replica", now_s + (0.0 if leads else 1.0))

    def _answers_primary(self, agreed: Consensus, member: Instance) -> bool:
        if not member.is_primary or not self.orchestrator.reach.runs(member.node_id):
            return member.answers_primary and member.is_primary
        if member.lost_s is None:
            return agreed.leader == member.name
        held = member.answers_primary
        return held and (not member.is_paused or self.now_s - member.lost_s < member.grace_s)

    def switch_over(self, cluster: str, to: str) -> None:
        """A planned change of leader by hand, as ``patronictl switchover`` makes it, at once."""
        chosen = next(i for i in self.of_cluster(cluster) if i.name == to)
        agreed = self.consensus(cluster)
        agreed.request = None
        change_over(self, agreed, self.leader(cluster), chosen)

    def restart(self, instance: Instance, lasts_s: float) -> None:
        """PostgreSQL alone, as ``POST /restart`` does it; a leader keeps its lock."""
        goal = "primary" if instance.is_primary else "replica"
        instance.start(goal, self.now_s + lasts_s)  # type: ignore[arg-type]

    # What is true

    def leader(self, cluster: str) -> Instance | None:
        """The one that holds the lock and takes writes, in truth."""
        agreed = self.consensus(cluster)
        if self.now_s >= agreed.lock_until_s and not agreed.paused:
            return None
        for instance in self.instances.values():
            if instance.cluster == cluster and instance.name == agreed.leader:
                return instance if instance.is_primary and self.is_up(instance) else None
        return None

    def primaries(self, cluster: str) -> list[Instance]:
        """All whose PostgreSQL takes writes."""
        return [i for i in self.of_cluster(cluster) if i.is_primary and self.is_up(i)]

    def has_quorum(self, cluster: str) -> bool:
        return bool(self.consensus(cluster).raft.able)

    def at_address(self, address: str) -> Instance | None:
        return next((i for i in self.instances.values() if i.address == address), None)

    def was_well_since(self, service: str, since_s: float) -> bool:
        """Whether the member has been well at any time since then, this moment included."""
        if self.last_well_s.get(service, -1.0) >= since_s:
            return True
        return any(i.service == service and self.is_well(i) for i in self.instances.values())

    def of_cluster(self, cluster: str) -> Iterator[Instance]:
        return (i for i in self.instances.values() if i.cluster == cluster)

    def is_well(self, instance: Instance) -> bool:
        """Leader, or streaming from it, and within the operator's reach."""
        heard = self.orchestrator.hears(instance.node_id)
        return heard and (instance.is_streaming or self.leader(instance.cluster) is instance)

    def status(self, instance: Instance) -> MemberStatus:
        """What ``/patroni`` and ``/primary`` answer."""
        agreed, volume = self.consensus(instance.cluster), instance.volume
        if volume.is_empty:
            first = agreed.initialized_by == instance.name and agreed.timeline == 0
            state = INITIALIZING if first else CREATING
            return MemberStatus(state=state, role="replica", paused=instance.is_paused)
        pending = instance.pending
        is_running = instance.state == RUNNING
        return MemberStatus(
            state=instance.state,
            role="primary" if instance.is_primary else "replica",
            timeline=volume.timeline if is_running else None,
            replication_state="streaming" if instance.is_streaming else "",
            holds_lock=instance.answers_primary,
            location=volume.location if is_running else None,
            paused=instance.is_paused,
            pending_restart=bool(pending),
            pending_changes=pending,
            cluster_unlocked=not agreed.leader or self.now_s >= agreed.lock_until_s,
            version="4.1.5",
            server_version=160014,
            tags={"failover_priority": instance.priority, "clonefrom": True},
        )
