"""What must never happen, checked at every write of the operator against what is true.

A deed is judged by the moment its pass began to look: what changed in the world after that, no
observation could have told.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from queenright.core.actions import LabelNode
from queenright.core.notes import PRIMARY_LABEL
from queenright.core.observed import LiveService
from queenright.core.published import PAUSE_KEY, ROUTE_KEY
from queenright.core.resources import APP_LABEL, VRRP_LABEL, Secret, Service
from queenright.core.situation import UPDATE_LIMIT
from tests.fakes.fake_patroni import Verb
from tests.fakes.files import EPOCH
from tests.fakes.placement import fits
from tests.fakes.server_parameters import HOT_STANDBY
from tests.fakes.swarm_store import template_of
from tests.fakes.tasks import FakeTask
from tests.fakes.world import World
from tests.sim.judgement import is_less, judge_safety, judge_verb

SAFE = re.compile(r"safe to power off: ((?:node\d(?:, )?)+)")
MEMBERS = ("main_member-1", "main_member-2", "main_member-3")
SLACK_S = 3.0
"""A member's word is as old as its last tick and the question's way."""


@dataclass
class Invariants:
    """Attach to a world before the operator starts; ``violations`` says what went wrong."""

    world: World
    removal_is_wanted: bool = False
    violations: list[str] = field(default_factory=list)
    disturbed: list[tuple[float, str]] = field(default_factory=list)
    honoured_s: dict[str, float] = field(default_factory=dict)
    """When each member was last noted in the anchor as leading by the file's wish."""

    def __post_init__(self) -> None:
        self.world.store.listeners.append(self._note_wish)
        self.world.swarm.before_write.append(self.check)
        self.world.patroni.before_verb.append(self.check_verb)

    def violated(self, text: str) -> None:
        self.violations.append(f"at {self.world.now_s:.1f} s: {text}")

    def _note_wish(self, kind: str, name: str, _: str) -> None:
        """A note that outlives its wish by a pass honours nothing."""
        live = self.world.store.configs.get(name) if kind == "config" else None
        noted = live.value.labels.get(PRIMARY_LABEL) if live is not None else None
        if noted and f"primary: {noted}" in self.world.last_good_text:
            self.honoured_s[noted] = self.world.now_s

    def check_verb(self, verb: Verb) -> None:
        """Judges a verb by the world that it meets."""
        for text in judge_verb(self.world, verb, self.looked_at_s, self.honoured_s):
            self.violated(text)
        self._is_active(verb.kind)
        if verb.kind in {"restart", "switchover"} and not self.is_allowed_in_place(verb):
            self._disturbs_member(verb.member.service, moves=verb.kind == "switchover")

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
        """What a pass has told people; they act on it."""
        for reason in holds.values():
            told = SAFE.match(reason)
            if told:
                for text in judge_safety(self.world, told[1].split(", "), self.looked_at_s):
                    self.violated(f"told that it is safe to power off {told[1]}: {text}")

    def at_rest(self) -> None:
        """What is true of a world that is as desired."""
        agreed = self.world.patroni_model.consensus("main")
        left = [key for key in ("pause", PAUSE_KEY, ROUTE_KEY) if agreed.settings.get(key)]
        if left:
            self.violated(f"left behind in Patroni's settings: {left}")
        for text in self.world.swarm.unobserved:
            self.violated(text)

    @property
    def looked_at_s(self) -> float:
        """Up to when the pass in hand must have seen what is true."""
        return self.world.swarm.observed_at_s - SLACK_S

    def check(self, kind: str, what: object) -> Callable[[], None]:
        """Judges a write by the world before it; it counts only if swarm takes it."""
        kept, self.violations, disturbed = self.violations, [], list(self.disturbed)
        self._judge(kind, what)
        found, self.violations = self.violations, kept
        self.disturbed, now_disturbed = disturbed, self.disturbed

        def count() -> None:
            self.violations += found
            self.disturbed = now_disturbed

        return count

    def _is_active(self, kind: str) -> None:
        """An owner who pauses the operator means everything that it does."""
        text, saved_s = self.world.last_good_text, self.world.last_good.saved_at_s
        if "reconcile: paused" in text and saved_s < self.world.swarm.observed_at_s:
            self.violated(f"{kind} while the file pauses the operator")

    def _is_an_applications(self, what: object) -> bool:
        """An application has a pause of its own."""
        value = what[1] if isinstance(what, tuple) else what
        stored = [*self.world.store.configs.values(), *self.world.store.services.values()]
        value = next((live.value for live in stored if live.id == what), value)
        return APP_LABEL in getattr(value, "labels", {})

    def _judge(self, kind: str, what: object) -> None:
        if not self._is_an_applications(what):
            self._is_active(kind)
        match kind, what:
            case "update-service", (str(service_id), Service() as service, int(force)):
                live = self.world.store.services.get(service_id)
                if live:
                    self._keeps_nodes_hearing(live, service)
                    tasks = self.world.containers(live.value.name)
                    changes = restarts(live, service, force)
                    self._disturbs(live, tasks if changes else surplus(tasks, service))
            case "adjust-service", (str(service_id), Service() as service):
                live = self.world.store.services.get(service_id)
                if live:
                    self._disturbs(live, surplus(self.world.containers(live.value.name), service))
            case "label-node", LabelNode() as action:
                self._labels(action)
            case "create-secret", Secret(name):
                self._new_secret(name)
            case "remove-service", str(service_id) if self._holds_nothing(service_id):
                pass
            case (("remove-service" | "remove-network"), _) if not self.removal_is_wanted:
                self.violated(f"{kind} {what}")
            case _:
                pass

    def _holds_nothing(self, service_id: str) -> bool:
        """That of keepalived goes where the file has no address, or to be made anew; the job of a
        dump goes when it has served, or failed."""
        live = self.world.store.services.get(service_id)
        return live is not None and (
            live.value.name == "main_vip" or live.value.mode == "replicated-job"
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
            self._disturbs(live, tasks)

    def _disturbs(self, live: LiveService, tasks: list[FakeTask]) -> None:
        """These containers of a service are stopped by what is about to be written."""
        name, world = live.value.name, self.world
        stopped = [
            task
            for task in tasks
            if task.desired == "running" and task.up_since_s < world.swarm.observed_at_s
        ]
        if name in MEMBERS and stopped:
            self._disturbs_member(name)

    def _disturbs_member(self, name: str, *, moves: bool = False) -> None:
        """A member's PostgreSQL is stopped or, where the lead ``moves`` away from it, demoted."""
        world, looked_at_s = self.world, self.looked_at_s
        self.disturbed.append((world.now_s, name))
        model = world.patroni_model
        leader, agreed = model.leader("main"), model.consensus("main")
        leads = leader is not None and leader.service == name
        if leads and not moves and agreed.changed_at_s < looked_at_s:
            self.violated(f"the leader {name} is disturbed")
        if agreed.paused and agreed.paused_at_s < looked_at_s:
            self.violated(f"{name} is disturbed while Patroni is paused")
        for other in MEMBERS:
            if other != name and not model.was_well_since(other, looked_at_s):
                self.violated(f"{name} is disturbed while {other} is not well")
            if other != name and self._is_being_replaced(other):
                self.violated(f"{name} is disturbed while {other} is being replaced")
        for number in (2, 3, 4):
            address = f"10.77.0.{10 + number}"
            silent_s = world.patroni.silent_s.get(address, -1.0)
            if silent_s >= world.swarm.observed_at_s > world.patroni.answered_s.get(address, -1.0):
                self.violated(f"{name} is disturbed while {address} is unknown")

    def _is_being_replaced(self, name: str) -> bool:
        """Whether a member's container is to end by a change that the pass must have seen, however
        well the member answers until then."""
        live = self.world.store.service_named(name)
        if live is None or seconds(live.updated_at) > self.world.swarm.observed_at_s:
            return False
        if self._waits_in_vain(live):
            return False
        return any(
            (task.template, task.force_update) != (template_of(live.value), live.force_update)
            for task in self.world.containers(name)
        )

    def _waits_in_vain(self, live: LiveService) -> bool:
        """Whether swarm's update, which goes on with one container after the other, has stood still
        for so long that it is stuck: at a task of another slot that has no node."""
        since_s = self.world.swarm.observed_at_s - seconds(live.updated_at)
        if since_s < UPDATE_LIMIT.total_seconds():
            return False
        busy = {task.slot for task in self.world.containers(live.value.name)}
        return any(
            task.wants_to_run and not task.node_id and task.slot not in busy
            for task in self.world.orchestrator.tasks_of(live)
        )

    def _new_secret(self, name: str) -> None:
        with_data = any(not volume.is_empty for volume in self.world.patroni_model.volumes.values())
        if with_data and name.startswith("pg_"):  # no other opens data
            self.violated(f"secret {name} is made although there is data")


def surplus(tasks: list[FakeTask], service: Service) -> list[FakeTask]:
    """The containers that fewer replicas end."""
    many = service.mode == "replicated"
    return [task for task in tasks if many and task.slot > service.replicas]


def seconds(moment: datetime) -> float:
    """The virtual clock's reading at that moment."""
    return (moment - EPOCH).total_seconds()


def restarts(live: LiveService, service: Service, force: int) -> bool:
    return template_of(live.value) != template_of(service) or live.force_update != force
