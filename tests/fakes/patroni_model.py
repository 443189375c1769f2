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
from functools import cache
from typing import Any

import yaml

from queenright.core.observed import LiveService, MemberStatus
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL
from queenright.core.spec.postgres_cluster import PREFERRED_PRIORITY
from tests.fakes.consensus import Consensus, MoveRequest, merged
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
from tests.fakes.orchestrator import Orchestrator, running_containers
from tests.fakes.raft_model import RaftNode
from tests.fakes.replication import follow
from tests.fakes.tasks import FakeTask
from tests.fakes.volumes import Volume

TICK_S = 1.0
BOOTSTRAP_S = 4.0
WRITES_BYTES = 100
PAUSED_PRIMARY_GRACE_S = (23.0, 43.0)
"""After so long a paused leader without quorum answers 503 on ``/primary``."""


@cache
def parsed(template: bytes) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(template)
    return found


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
            self._release(agreed)

    def _release(self, agreed: Consensus) -> None:
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
            self._elect(agreed, [m for m in members if m.name in agreed.raft.able and m.has_joined])
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

    # The lock

    def _elect(self, agreed: Consensus, able: list[Instance]) -> None:
        if not able:
            return
        for patch in agreed.late_patches:
            agreed.change(patch, by_operator=True)
        agreed.late_patches = []
        if not agreed.initialized_by:
            preferred = [i for i in able if i.priority == PREFERRED_PRIORITY]
            if preferred:
                agreed.initialized_by, agreed.initialized_at_s = preferred[0].name, self.now_s
        elif agreed.timeline == 0:
            self._bootstrap(agreed, able)
        else:
            holder = next((i for i in able if i.name == agreed.leader), None)
            if self.now_s < agreed.lock_until_s:
                if holder is not None:
                    self._lead(agreed, holder, able)
            elif holder is not None and holder.is_primary:
                self._renew(agreed, holder)
            else:
                self._race(agreed, able)

    def _renew(self, agreed: Consensus, holder: Instance) -> None:
        agreed.lock_until_s = self.now_s + agreed.setting("ttl")
        agreed.last_location = holder.volume.location
        agreed.race_at_s = 0.0

    def _lead(self, agreed: Consensus, holder: Instance, able: list[Instance]) -> None:
        """The round of the one who holds the lock."""
        if holder.is_primary:
            self._renew(agreed, holder)
            request = agreed.request
            if request is not None and self.now_s >= request.due_s:
                agreed.request = None
                self._hand_over(agreed, holder, able, request)
        elif (
            holder.state == FAILED
            or (holder.is_paused and holder.state == STOPPED)
            or holder.volume.is_empty
        ):
            self._release(agreed)
        elif holder.state == RUNNING:
            self._promote(agreed, holder)

    def _hand_over(
        self, agreed: Consensus, holder: Instance, able: list[Instance], request: MoveRequest
    ) -> None:
        """A graceful switchover: the leader stops, and whoever follows has all of its WAL."""
        ready = [i for i in able if i is not holder and i.is_streaming]
        chosen = next((i for i in ready if i.name == request.candidate), None)
        lag = holder.volume.location - chosen.volume.location if chosen else 0
        if (
            chosen is None
            or request.is_vain
            or request.leader not in {"", holder.name}
            or lag > agreed.setting("maximum_lag_on_failover")
        ):
            return
        others = [i for i in ready if i is not chosen]
        if others and self.rng.random() < self.other_wins:
            chosen = others[0]
        self._change_over(agreed, holder, chosen)
        agreed.planned_by_operator = request.by_operator

    def _change_over(self, agreed: Consensus, former: Instance | None, chosen: Instance) -> None:
        if former is not None:
            chosen.volume.location = former.volume.location
            former.start("replica", self.now_s + 2.0)
        self._promote(agreed, chosen)

    def _race(self, agreed: Consensus, able: list[Instance]) -> None:
        """The lock is free."""
        if not agreed.race_at_s:
            agreed.race_at_s = self.now_s + self.rng.uniform(0.0, 3.0)
        if self.now_s < agreed.race_at_s:
            return
        if agreed.paused:
            request = agreed.request
            chosen = next((i for i in able if request and i.name == request.candidate), None)
            if chosen is not None and chosen.state == RUNNING:
                agreed.request = None
                self._promote(agreed, chosen)
            return
        least = agreed.last_location - agreed.setting("maximum_lag_on_failover")
        fit = [
            i
            for i in able
            if i.state == RUNNING
            and not i.volume.is_empty
            and not i.volume.is_broken
            and i.volume.location >= least
            and not agreed.timelines.has_diverged(i.volume, agreed.timeline)
        ]
        if fit:
            best = max(fit, key=lambda i: (i.volume.location, i.priority, i.name))
            self._promote(agreed, best)

    def _bootstrap(self, agreed: Consensus, able: list[Instance]) -> None:
        first = next((i for i in able if i.name == agreed.initialized_by), None)
        if first is None:
            agreed.initialized_by = ""
        elif self.now_s - agreed.initialized_at_s >= BOOTSTRAP_S:
            first.volume.secrets, first.volume.location = self.secrets_of(first), 1000
            agreed.settings = merged(self._written_settings(first), agreed.settings)
            first.settings = agreed.settings
            self._promote(agreed, first)

    def _written_settings(self, instance: Instance) -> dict[str, Any]:
        """The template's section that is read once in a cluster's life."""
        for reference in instance.task.template.configs:
            config = self.orchestrator.store.configs.get(reference.name)
            written = parsed(config.value.data) if config else {}
            if "bootstrap" in written:
                found: dict[str, Any] = written["bootstrap"]["dcs"]
                return found
        return {}

    def _promote(self, agreed: Consensus, chosen: Instance) -> None:
        agreed.leader = chosen.name
        agreed.timeline += 1
        self.story.append((self.now_s, f"{chosen.name} leads on timeline {agreed.timeline}"))
        agreed.changed_at_s = self.now_s
        agreed.planned_by_operator = False
        agreed.timelines.begin(agreed.timeline, chosen.volume.location)
        chosen.volume.timeline = agreed.timeline
        chosen.took_over()
        self._renew(agreed, chosen)

    def switch_over(self, cluster: str, to: str) -> None:
        """A planned change of leader by hand, as ``patronictl switchover`` makes it, at once."""
        chosen = next(i for i in self.of_cluster(cluster) if i.name == to)
        agreed = self.consensus(cluster)
        agreed.request = None
        self._change_over(agreed, self.leader(cluster), chosen)

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
