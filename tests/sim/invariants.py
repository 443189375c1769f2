"""Invariants of a cluster, checked at every write of the operator against the true state.

An action is checked against the state at the start of its pass: no observation could show what
changed in the world after that.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field

from queenright.core.actions import LabelNode
from queenright.core.kinds.postgres_cluster.annotations import PRIMARY_LABEL
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY, ROUTE_KEY
from queenright.core.observed import LiveService
from queenright.core.swarm.objects import (
    VRRP_LABEL,
    Secret,
    Service,
)
from tests.fakes.placement import fits
from tests.fakes.server_parameters import HOT_STANDBY
from tests.fakes.tasks import FakeTask
from tests.fakes.verbs import Verb
from tests.fakes.world import World
from tests.sim.checker import is_less, judge_safety, judge_verb
from tests.sim.client_path import ClientPath
from tests.sim.disruption_judge import judge_disruption, judge_forgetting
from tests.sim.rollout_judge import is_unfinished, judge_rollout
from tests.sim.service_writes import asks_to_forget, begins_log, restarts, surplus
from tests.sim.subject import Subject, main_cluster
from tests.sim.sync_judge import judge_rest
from tests.sim.texts import names_primary, pauses_for_good

SAFE = re.compile(r"safe to power off: ((?:node\d(?:, )?)+)")
DATA_SECRETS = ("pg_replication_pw", "pg_superuser_pw")
SLACK_S = 3.0
"""A member's word is as old as its last tick and the question's way."""


@dataclass
class Invariants:
    """Attach to a world before the operator starts; ``violations`` says what went wrong."""

    world: World
    subject: Subject = field(init=False)
    judged: InitVar[Subject | None] = None
    """The cluster that is judged; the main one where none is given."""
    removal_is_wanted: bool = False
    restore_is_wanted: bool = False
    """True if a person has asked to have the cluster restored in place."""
    violations: list[str] = field(default_factory=list)
    disrupted: list[tuple[float, str]] = field(default_factory=list)
    clients: ClientPath = field(init=False)
    honoured_s: dict[str, float] = field(default_factory=dict)
    """The time at which each member was last recorded as leading by the file's `primary`."""

    def __post_init__(self, judged: Subject | None) -> None:
        self.subject = judged or main_cluster(self.world)
        self.world.store.listeners.append(self._note_wish)
        self.world.swarm.before_write.append(self.check)
        self.world.patroni.before_verb.append(self.check_verb)
        self.clients = ClientPath(self.subject, self.violated)
        self.clients.start()

    def violated(self, text: str) -> None:
        self.violations.append(f"at {self.world.now_s:.1f} s: {text}")

    def _note_wish(self, kind: str, name: str, _: str) -> None:
        """A record that outlives its `primary` by a pass fulfils nothing."""
        if kind != "config" or name != f"{self.subject.cluster}_cluster":
            return
        live = self.world.store.configs.get(name)
        noted = live.value.labels.get(PRIMARY_LABEL) if live is not None else None
        if noted and names_primary(self.subject.text, noted):
            self.honoured_s[noted] = self.world.now_s

    def check_verb(self, verb: Verb) -> None:
        """Judges a verb by the world that it meets."""
        if verb.member.cluster != self.subject.cluster:
            return
        for text in judge_verb(self.subject, verb, self.looked_at_s, self.honoured_s):
            self.violated(text)
        self._is_active(verb.kind)
        if verb.kind in {"restart", "switchover"} and not self.is_allowed_in_place(verb):
            self._disrupts_member(verb.member.service, moves=verb.kind == "switchover")

    def is_allowed_in_place(self, verb: Verb) -> bool:
        """A parameter that standbys can only lower after their primary takes a restart of the
        primary itself: no move of the lead would help it."""
        present = verb.member.pending
        lower = {name for name, (old, new) in present.items() if is_less(new, old)}
        return (
            verb.kind == "restart"
            and verb.member.is_primary
            and lower <= HOT_STANDBY
            and (bool(lower))
        )

    def heard(self, holds: Mapping[str, str]) -> None:
        """Take the holds of a pass, on which people act."""
        for reason in holds.values():
            told = SAFE.match(reason)
            if told:
                for text in judge_safety(self.subject, told[1].split(", "), self.looked_at_s):
                    self.violated(f"told that it is safe to power off {told[1]}: {text}")

    def at_rest(self) -> None:
        """Check the invariants of a world in its desired state."""
        agreed = self.subject.consensus()
        left = [key for key in ("pause", PAUSE_KEY, ROUTE_KEY) if agreed.settings.get(key)]
        if left:
            self.violated(f"left behind in Patroni's settings: {left}")
        for text in (*self.world.swarm.unobserved, *judge_rest(self.subject)):
            self.violated(text)
        if not self.clients.is_open():
            self.violated(f"no client reaches the leader: {self.clients.story()}")

    @property
    def looked_at_s(self) -> float:
        """Up to when the pass in hand must have seen what is true."""
        return self.world.swarm.observed_at_s - SLACK_S

    def check(self, kind: str, what: object) -> Callable[[], None]:
        """Judges a write by the world before it; it counts only if swarm takes it."""
        kept, self.violations, disrupted = self.violations, [], list(self.disrupted)
        self._judge(kind, what)
        found, self.violations = self.violations, kept
        self.disrupted, now_disrupted = disrupted, self.disrupted

        def count() -> None:
            self.violations += found
            self.disrupted = now_disrupted

        return count

    def _is_active(self, kind: str) -> None:
        """An owner who pauses the operator means everything that it does."""
        text, saved_s = self.subject.text, self.world.last_good.saved_at_s
        if pauses_for_good(text) and saved_s < self.world.swarm.observed_at_s:
            self.violated(f"{kind} while the file pauses the operator")

    def _judge(self, kind: str, what: object) -> None:
        if self.subject.owns(what):
            self._is_active(kind)
        match kind, what:
            case "update-service", (str(service_id), Service() as service, int(force)):
                live = self.world.store.services.get(service_id)
                if live:
                    self._keeps_nodes_hearing(live, service)
                    tasks = self.world.containers(live.value.name)
                    changes = restarts(live, service, force)
                    for text in judge_rollout(self.world, live) if changes else ():
                        self.violated(text)
                    ended = tasks if changes else surplus(tasks, service)
                    if not begins_log(live.value, service):  # judged when the member obeys
                        forgets = asks_to_forget(live.value, service)
                        self._disrupts(live, ended, forgets=forgets)
            case "adjust-service", (str(service_id), Service() as service):
                if live := self.world.store.services.get(service_id):
                    self._adjusts(live, service)
            case "label-node", LabelNode() as action:
                self._labels(action)
            case "create-secret", Secret(name):
                self._new_secret(name)
            case "remove-service", str(service_id) if self._holds_nothing(service_id):
                pass
            case (("remove-service" | "remove-network"), _) if self._must_stay(what):
                self.violated(f"{kind} {what}")
            case _:
                pass

    def _adjusts(self, live: LiveService, service: Service) -> None:
        if not (self.restore_is_wanted and not service.replicas):
            self._disrupts(live, surplus(self.world.containers(live.value.name), service))
        for text in judge_rollout(self.world, live) if is_unfinished(self.world, live) else ():
            self.violated(text)

    def _is_no_repository_of(self, service: Service) -> bool:
        """Return True for a repository on a volume, at whose port no member archives."""
        if service.name != f"{self.subject.cluster}_repository":
            return False
        told = (live.value.environment for live in self.world.store.services.values())
        endpoints = [environment.get("BACKUP_ENDPOINT", "") for environment in told]
        return not any(one.endswith(f":{p.published}") for one in endpoints for p in service.ports)

    def _must_stay(self, what: object) -> bool:
        return not self.removal_is_wanted and self.subject.owns(what)

    def _holds_nothing(self, service_id: str) -> bool:
        """Return True if the service holds no data that counts: keepalived's, if the file has no
        address or to create it anew; that of a job; that of a member that has left; that of a
        repository where no member archives."""
        live = self.world.store.services.get(service_id)
        return live is not None and (
            live.value.name == f"{self.subject.cluster}_vip"
            or live.value.mode == "replicated-job"
            or self.subject.has_left(live.value)
            or self._is_no_repository_of(live.value)
            or (self.restore_is_wanted and not self.world.containers(live.value.name))
        )

    def _keeps_nodes_hearing(self, live: LiveService, service: Service) -> None:
        """Old and new nodes of a rolled update hear each other; else each side has the address."""
        old, new = (value.labels.get(VRRP_LABEL) for value in (live.value, service))
        if old and new != old:
            self.violated(f"{service.name} is rolled from {old} to {new}")

    def _labels(self, action: LabelNode) -> None:
        """Tasks that a label held on the node are stopped when it goes."""
        node = self.world.store.nodes[action.node_id]
        merged = {**node.labels, **action.labels}
        after = {key: value for key, value in merged.items() if value is not None}
        relabelled = dataclasses.replace(node, labels=after)
        for live in list(self.world.store.services.values()):
            tasks = [
                task
                for task in self.world.containers(live.value.name)
                if task.node_id == node.id
                and fits(node, task.template.constraints)
                and not fits(relabelled, task.template.constraints)
            ]
            self._disrupts(live, tasks)

    def _disrupts(self, live: LiveService, tasks: list[FakeTask], *, forgets: bool = False) -> None:
        """Check the containers of a service that the next write stops."""
        name, world = live.value.name, self.world
        if all(i.volume.is_empty for i in world.patroni_model.of_cluster(self.subject.cluster)):
            return  # there is no database yet that anybody could use
        stopped = [
            task
            for task in tasks
            if task.desired == "running" and task.up_since_s < world.swarm.observed_at_s
        ]
        if name in self.subject.services and stopped:
            for text in judge_forgetting(self.subject, name) if forgets else ():
                self.violated(text)
            self._disrupts_member(name, is_out=forgets)

    def _disrupts_member(self, name: str, *, moves: bool = False, is_out: bool = False) -> None:
        self.disrupted.append((self.world.now_s, name))
        for text in judge_disruption(
            self.subject, name, self.looked_at_s, moves=moves, is_out=is_out
        ):
            self.violated(text)

    def _new_secret(self, name: str) -> None:
        with_data = any(not volume.is_empty for volume in self.world.patroni_model.volumes.values())
        if with_data and name in DATA_SECRETS:  # no other opens data
            self.violated(f"secret {name} is made although there is data")
