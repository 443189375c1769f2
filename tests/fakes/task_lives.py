"""The tasks of swarm's services: where each runs, how its container starts, fails and ends.

Times are the event loop's.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator

from queenright.core.observed import LiveService
from queenright.core.swarm.objects import Service
from tests.fakes.placement import PORT_TAKEN, choose, is_port_taken
from tests.fakes.reachability import Reachability
from tests.fakes.rollouts import Rollouts
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.tasks import ENDED, FakeTask

PREPARING_S = 0.4
STOPPING_S = 0.8
JOB_S = 2.0
"""The run time of a job's container."""
CHECKED_EVERY_S = 3.0
UNHEALTHY_S = 25.0
"""The health check of images, for services without one of their own: its interval, and the time for
which a container may be unhealthy from its start until it is ended."""
UNHEALTHY = "task: non-zero exit (137): dockerexec: unhealthy container"

Ended = Callable[[FakeTask, bool], None]
"""Called with a container that is gone, and if it was stopped in an orderly way."""


class TaskLives(ABC):
    """Moves tasks through their states; ``reach`` says which nodes run and are heard."""

    def __init__(self, store: SwarmStore, rng: random.Random) -> None:
        self.store = store
        self.rng = rng
        self.reach = Reachability()
        self.ended_listeners: list[Ended] = []
        self.restarts: dict[tuple[str, object], list[float]] = defaultdict(list)
        self.preparing_s = PREPARING_S
        self.doomed: dict[str, float] = {}
        """Service names whose containers fail so many seconds after they start."""
        self.why_not_start: Callable[[Service], str] = lambda _: ""
        """The reason that keeps a container of this service from running at all."""
        self.job_exit_code = 0
        """The end of each job's containers."""
        self.works_s: Callable[[FakeTask], float] = lambda _: JOB_S
        self.exit_code: Callable[[FakeTask], int] = lambda _: self.job_exit_code
        """A job's run time and end, looked up when it ends."""
        self.starts_s: Callable[[FakeTask], float] = first_check_s
        self.is_healthy: Callable[[FakeTask], bool] = lambda _: True
        """The first check of a container's health, and its result: until a check succeeds, swarm
        reports "starting"."""
        self.rollouts = Rollouts(store, self)

    @abstractmethod
    def wake(self) -> None:
        """Look at everything a moment later."""

    @abstractmethod
    def create(self, live: LiveService, slot: int, node_id: str) -> FakeTask:
        """Create a task of a service for a slot or a node."""

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def after(self, delay_s: float, function: Callable[..., None], *arguments: object) -> None:
        asyncio.get_running_loop().call_later(delay_s, function, *arguments)

    def hears(self, node_id: str) -> bool:
        return self.reach.hears(node_id)

    def tasks_of(self, live: LiveService) -> list[FakeTask]:
        return [task for task in self.store.tasks.values() if task.service_id == live.id]

    def _place(self, task: FakeTask) -> None:
        if not task.node_id or task.slot:
            node = choose(self.store, task)
            if node is None:
                return
            task.node_id = node.id
        elif is_port_taken(self.store, task, task.node_id):
            task.error = PORT_TAKEN
            return
        self._move(task, "assigned", "")
        self.after(self.preparing_s * self.rng.uniform(0.5, 1.5), self._prepared, task)

    def _prepared(self, task: FakeTask) -> None:
        """Start the container if nothing blocks it; look again otherwise."""
        if not task.wants_to_run or task.state not in {"assigned", "preparing", "ready"}:
            return
        if not self.hears(task.node_id):
            self.after(1.0, self._prepared, task)
            return
        blocker = self.store.tasks.get(task.waits_for)
        if blocker and blocker.has_container and self.hears(blocker.node_id):
            self._move(task, "ready", "")
            self.after(0.2, self._prepared, task)
            return
        if task.desired == "ready" and not task.waits_for:
            self._move(task, "ready", "")
            return
        self._start(task)

    def _start(self, task: FakeTask) -> None:
        task.desired, task.waits_for = task.goal, ""
        task.has_container, task.up_since_s = True, self.now_s
        live = self.store.services.get(task.service_id)
        if starts_s := self.starts_s(task):
            self._move(task, "starting", "")
            self.after(starts_s, self._look_at_health, task)
        else:
            self._runs(task)
        if self.why_not_start(task.template):
            self.after(0.3, self.fail, task, 1)
        elif live and live.value.name in self.doomed:
            self.after(self.doomed[live.value.name], self.fail, task, 1)
        elif task.is_job:
            self.after(self.works_s(task), self._end_job, task)
        self.wake()

    def _runs(self, task: FakeTask) -> None:
        task.healthy_s = self.now_s
        self._move(task, "running", "")
        if former := self.store.tasks.get(task.replaces):
            self.retire(former, "shutdown")
        task.replaces = ""

    def _look_at_health(self, task: FakeTask) -> None:
        """Check the container's health; one that is never healthy ends, if it still runs."""
        if not task.has_container or task.state != "starting" or task.id not in self.store.tasks:
            return
        if not self.hears(task.node_id) or task.desired != "running":
            self.after(1.0, self._look_at_health, task)
        elif self.is_healthy(task):
            self._runs(task)
            self.wake()
        elif self.now_s - task.up_since_s >= unhealthy_after_s(task):
            self.fail(task, 137)
            task.error = UNHEALTHY if task.state == "failed" else task.error
        else:
            check = task.template.health_check
            self.after(check.interval_s if check else CHECKED_EVERY_S, self._look_at_health, task)

    def _end_job(self, task: FakeTask) -> None:
        if task.has_container:
            self.fail(task, self.exit_code(task))

    def _start_after_delay(self, task: FakeTask) -> None:
        if task.wants_to_run and task.desired == "ready":
            task.desired = "running"
            self._prepared(task)

    def _move(self, task: FakeTask, state: str, error: str) -> None:
        task.state, task.error, task.at_s = state, error, self.now_s

    def retire(self, task: FakeTask, desired: str) -> None:
        if task.desired in {"shutdown", "remove"} and desired != "remove":
            return
        if task.desired == desired == "remove":
            return
        task.desired = desired
        if task.state in ENDED or not (task.has_container or task.node_id):
            self._gone(task, "shutdown")
        elif self.hears(task.node_id):
            self.after(STOPPING_S * self.rng.uniform(0.5, 2.0), self._stopped, task)

    def _stopped(self, task: FakeTask) -> None:
        if task.id not in self.store.tasks:
            return
        if not self.reach.hears(task.node_id) and task.node_id not in self.reach.unpowered:
            self.after(1.0, self._stopped, task)
            return
        self._end_container(task, orderly=True)
        self._gone(task, "shutdown")

    def _gone(self, task: FakeTask, state: str) -> None:
        if task.state not in ENDED:
            self._move(task, state, "")
        if task.desired == "remove":
            self.store.tasks.pop(task.id, None)
        self.wake()

    def _end_container(self, task: FakeTask, *, orderly: bool) -> None:
        if task.has_container:
            task.has_container = False
            for listener in self.ended_listeners:
                listener(task, orderly)

    # Failures

    def fail(self, task: FakeTask, exit_code: int) -> None:
        """The container ends by itself; the restart policy decides what comes next."""
        if not task.has_container:
            return
        self._end_container(task, orderly=exit_code == 0)
        if not self.hears(task.node_id):
            return
        state = "complete" if exit_code == 0 else "failed"
        self._move(task, state, "" if exit_code == 0 else f"task: non-zero exit ({exit_code})")
        task.exit_code = exit_code
        if task.is_job and state == "failed":
            task.desired = "shutdown"
        self.rollouts.note_failure(task)
        live = self.store.services.get(task.service_id)
        if live and task.desired == "running" and self._restarts(live, task, state):
            fresh = self.create(live, task.slot, task.node_id if not task.slot else "")
            fresh.desired = "ready"
            self.after(live.value.restart.delay_s, self._start_after_delay, fresh)
        self.wake()

    def _restarts(self, live: LiveService, task: FakeTask, state: str) -> bool:
        policy = live.value.restart
        if task.slot and any(t.slot == task.slot and t.wants_to_run for t in self.tasks_of(live)):
            return False  # the one that it was to take the place of goes on
        if policy.condition == "none" or (policy.condition == "on-failure" and state == "complete"):
            return False
        place = (live.id, task.slot or task.node_id)
        recent = [
            at
            for at in self.restarts[place]
            if not policy.window_s or self.now_s - at < policy.window_s + policy.delay_s
        ]
        if policy.max_attempts and len(recent) >= policy.max_attempts:
            return False
        self.restarts[place] = [*recent, self.now_s]
        return True

    def power_lost(self, node_id: str) -> None:
        """Containers die where they are; the managers notice nothing yet."""
        for task in self._on(node_id):
            self._end_container(task, orderly=False)

    def came_back(self, node_id: str) -> None:
        """A node's agent reports: what died is failed, what was to stop stops."""
        for task in list(self._on(node_id)):
            if task.desired in {"shutdown", "remove"}:
                self.after(STOPPING_S, self._stopped, task)
            elif task.state in {"running", "starting"} and not task.has_container:
                task.has_container = True
                self.fail(task, 255)
        self.wake()

    def _on(self, node_id: str) -> Iterator[FakeTask]:
        return (task for task in list(self.store.tasks.values()) if task.node_id == node_id)


def first_check_s(task: FakeTask) -> float:
    """Return the time from a container's start to its first check: Docker waits one interval."""
    check = task.template.health_check
    return check.interval_s if check is not None else 0.0


def unhealthy_after_s(task: FakeTask) -> float:
    """Return the age at which a container has failed as many checks, counted from the end of its
    start period, as its health check allows."""
    check = task.template.health_check
    if check is None:
        return UNHEALTHY_S
    return check.start_period_s + (check.retries - 1) * check.interval_s
