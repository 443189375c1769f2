"""Swarm's rolling updates of one service: what they leave alone, when they end, when they go back.

As swarmkit's updater does it. A failure of a task that the update has made ends the update, with a
way back or with a pause, as the service says; one that was paused replaces nothing any more, though
what has ended is started again. Its limits on the number of failures are not modelled: it is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol
from zlib import crc32

from queenright.core.observed import LiveService, Node
from queenright.core.swarm.objects import UpdatePolicy
from tests.fakes.service_templates import template_of
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.tasks import FakeTask

PAUSED = frozenset({"paused", "rollback_paused"})
UNDER_WAY = {"updating": "completed", "rollback_started": "rollback_completed"}
"""The result of each of swarm's states of an update that goes on."""
Update = tuple[str, datetime]


class Tasks(Protocol):
    """The orchestrator, as the updater needs it."""

    @property
    def now_s(self) -> float: ...

    def after(self, delay_s: float, function: Callable[..., None], *arguments: object) -> None: ...

    def wake(self) -> None: ...

    def tasks_of(self, live: LiveService) -> list[FakeTask]: ...

    def retire(self, task: FakeTask, desired: str) -> None: ...


class Rollouts:
    """The updater's part of an orchestrator."""

    def __init__(self, store: SwarmStore, orchestrator: Tasks) -> None:
        self.store = store
        self.orchestrator = orchestrator

    def present(self, live: LiveService) -> Update:
        """Return the update to which a task belongs that is created now."""
        return (live.update_state, live.update_started_at)

    def policy(self, live: LiveService) -> UpdatePolicy:
        goes_back = live.update_state == "rollback_started"
        return live.value.rollback if goes_back else live.value.update

    def is_waiting(self, live: LiveService) -> bool:
        """Return True while the update waits: until a task that it made runs, and for the delay
        after that. What a former update made is not waited for: the present one has ended that
        (swarmkit: update.Supervisor)."""
        if live.update_state not in UNDER_WAY:
            return False
        made = [
            task
            for task in self.orchestrator.tasks_of(live)
            if task.update == self.present(live) and task.wants_to_run
        ]
        if any(task.state != "running" for task in made):
            return True
        left_s = max((task.healthy_s or 0.0 for task in made), default=0.0)
        left_s += self.policy(live).delay_s - self.orchestrator.now_s
        if made and left_s > 0:
            self.orchestrator.after(left_s + 0.01, self.orchestrator.wake)
        return bool(made) and left_s > 0

    def in_order(self, live: LiveService, nodes: Iterable[Node]) -> list[Node]:
        """Return the nodes in the order in which this update takes them: any, and another one than
        the last update's (swarmkit iterates over a map)."""
        return sorted(nodes, key=lambda node: crc32(f"{live.update_started_at} {node.id}".encode()))

    def use_existing(self, live: LiveService) -> None:
        """An update that begins goes on with a task that is as wanted already, healthy or not, and
        ends the others of its slot (swarmkit: updater.useExistingTask)."""
        slots: dict[int, list[FakeTask]] = {}
        for task in self.orchestrator.tasks_of(live):
            if task.wants_to_run and live.value.mode == "replicated":
                slots.setdefault(task.slot, []).append(task)
        for tasks in slots.values():
            clean = [task for task in tasks if is_clean(live, task)]
            chosen = next((task for task in clean if task.desired == "running"), None)
            for task in tasks:
                if len(tasks) > 1 and chosen is not None and task is not chosen:
                    self.orchestrator.retire(task, "shutdown")

    def note_failure(self, task: FakeTask) -> None:
        """Record a failed task of the update: within its monitored time that ends the update."""
        live = self.store.services.get(task.service_id)
        if live is None or live.update_state not in UNDER_WAY or task.update != self.present(live):
            return
        policy, now_s = self.policy(live), self.orchestrator.now_s
        if task.healthy_s is not None and now_s - task.healthy_s > policy.monitor_s:
            return
        if live.update_state == "rollback_started":
            self.store.set_update_state(live.id, "rollback_paused")
        elif live.value.update.failure_action == "pause":
            self.store.set_update_state(live.id, "paused")
        else:
            self.store.roll_back(live.id)
            self.use_existing(self.store.services[live.id])

    def note_progress(self, live: LiveService) -> None:
        """The update is over once every task is new and has run for the monitored time."""
        if live.update_state not in UNDER_WAY:
            return
        wanted = [task for task in self.orchestrator.tasks_of(live) if task.wants_to_run]
        if not all(task.state == "running" and is_clean(live, task) for task in wanted):
            return
        since = [t.healthy_s or 0.0 for t in wanted if t.update == self.present(live)]
        left_s = max(since, default=0.0) + self.policy(live).monitor_s
        left_s -= self.orchestrator.now_s
        if since and left_s > 0:
            self.orchestrator.after(left_s + 0.01, self.orchestrator.wake)
            return
        self.store.set_update_state(live.id, UNDER_WAY[live.update_state])


def is_clean(live: LiveService, task: FakeTask) -> bool:
    """Return True if the task matches the service's present specification."""
    return (task.template, task.force_update) == (template_of(live.value), live.force_update)
