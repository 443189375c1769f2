"""Swarm's orchestration: which tasks there are, where they run, and what becomes of them.

Reacts to every change of the store a moment later, as the managers do. Times are the event loop's.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterator

from queenright.core.observed import LiveService, Node
from queenright.core.resources import Service
from tests.fakes.placement import PORT_TAKEN, choose, fits, is_port_taken
from tests.fakes.reachability import Reachability
from tests.fakes.rollouts import Rollouts
from tests.fakes.swarm_store import SwarmStore, template_of
from tests.fakes.tasks import ENDED, FakeTask

REACTION_S = 0.02
UPDATE_REACTION_S = 0.3
"""How long swarm leaves a changed service's tasks as they are, and says nothing of the update: its
members answer well meanwhile."""
PREPARING_S = 0.4
STOPPING_S = 0.8
JOB_S = 2.0
"""How long a job's container works."""
CHECKED_EVERY_S = 3.0
UNHEALTHY_S = 25.0
"""How long a container may be unhealthy from its start until it is ended."""
UNHEALTHY = "task: non-zero exit (137): dockerexec: unhealthy container"
MOST_KEPT = 5
"""Ended tasks that swarm keeps per slot (its task history retention limit)."""

Ended = Callable[[FakeTask, bool], None]
"""Told of a container that is gone, and whether it was stopped in an orderly way."""


class Orchestrator:
    """Moves the tasks of a store's services; ``reach`` says which nodes run and are heard."""

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
        """What keeps a container of this service from running at all."""
        self.job_exit_code = 0
        """How the containers of jobs end."""
        self.works_s: Callable[[FakeTask], float] = lambda _: JOB_S
        self.exit_code: Callable[[FakeTask], int] = lambda _: self.job_exit_code
        """How long a job's container works, and how it ends, asked when it does."""
        self.starts_s: Callable[[FakeTask], float] = lambda _: 0.0
        self.is_healthy: Callable[[FakeTask], bool] = lambda _: True
        """When a container's health is looked at first, and what is found; see ``UNHEALTHY_S``."""
        self.rollouts = Rollouts(store, self)
        self._serial = 0
        self._woken = False
        store.listeners.append(lambda *_: self.wake())

    @property
    def now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def after(self, delay_s: float, function: Callable[..., None], *arguments: object) -> None:
        asyncio.get_running_loop().call_later(delay_s, function, *arguments)

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self.after(REACTION_S, self.step)

    def hears(self, node_id: str) -> bool:
        return self.reach.hears(node_id)

    def step(self) -> None:
        """One look at everything, as each of swarm's loops would have."""
        self._woken = False
        for task in list(self.store.tasks.values()):
            if task.service_id not in self.store.services:
                self.retire(task, "remove")
        for live in list(self.store.services.values()):
            if not self._has_noticed(live):
                continue
            if live.value.mode.endswith("-job"):
                self._job(live)
            elif live.value.mode == "global":
                self._global(live)
            else:
                self._replicated(live)
        for task in list(self.store.tasks.values()):
            if task.state in {"new", "pending"} and task.wants_to_run:
                self._place(task)
        for live in list(self.store.services.values()):
            self.rollouts.note_progress(live)

    def tasks_of(self, live: LiveService) -> list[FakeTask]:
        return [task for task in self.store.tasks.values() if task.service_id == live.id]

    def _has_noticed(self, live: LiveService) -> bool:
        """Whether the updater has seen the service as it is now; it then says so."""
        changed = any(
            (task.template, task.force_update) != (template_of(live.value), live.force_update)
            for task in self.tasks_of(live)
            if task.wants_to_run
        )
        if not changed or live.update_state:
            return True
        left_s = UPDATE_REACTION_S - (self.store.now() - live.updated_at).total_seconds()
        if left_s > 0:
            self.after(left_s, self.wake)
            return False
        self.store.set_update_state(live.id, "updating")
        self.rollouts.use_existing(self.store.services[live.id])
        return True

    # What should run

    def _job(self, live: LiveService) -> None:
        """One task, once: swarm starts another only after one that is gone without a trace."""
        if not self.tasks_of(live):
            self._create(live, 1, "").desired = "complete"

    def _replicated(self, live: LiveService) -> None:
        tasks = self.tasks_of(live)
        for task in tasks:
            if task.slot > live.value.replicas:
                self.retire(task, "remove")
        changing = any(
            t.waits_for or t.replaces or t.desired == "ready" for t in tasks if t.wants_to_run
        )
        for slot in range(1, live.value.replicas + 1):
            mine = [task for task in tasks if task.slot == slot]
            changing = self._keep_one(live, mine, slot, "", changing=changing)

    def _global(self, live: LiveService) -> None:
        tasks = self.tasks_of(live)
        changing = any(t.waits_for for t in tasks if t.wants_to_run)
        for node in list(self.store.nodes.values()):
            mine = [task for task in tasks if task.node_id == node.id]
            if self._is_eligible(node, live.value.constraints):
                changing = self._keep_one(live, mine, 0, node.id, changing=changing)
            else:
                for task in mine:
                    self.retire(task, "shutdown")

    def _keep_one(
        self, live: LiveService, mine: list[FakeTask], slot: int, node_id: str, *, changing: bool
    ) -> bool:
        """One wanted task for a slot or a node; returns whether an update is on its way."""
        template = template_of(live.value)
        wanted = [task for task in mine if task.wants_to_run]
        current = wanted[-1] if wanted else None
        if current is None:
            last = mine[-1] if mine else None
            changed = last and (last.template, last.force_update) != (template, live.force_update)
            if last is None or changed or last.desired != "running":
                self._create(live, slot, node_id)
        elif current.node_id and not self._may_stay(current):
            self.retire(current, "shutdown")
            if not node_id:
                self._create(live, slot, "")
        elif (current.template, current.force_update) != (template, live.force_update):
            if live.update_state == "rollback_paused":
                return changing
            if not changing or not current.has_container:
                fresh = self._create(live, slot, node_id)
                fresh.update = self.rollouts.present(live)
                if self.rollouts.policy(live).order == "start-first" and current.has_container:
                    fresh.replaces = current.id
                else:
                    fresh.desired, fresh.waits_for = "ready", current.id
                    self.retire(current, "shutdown")
            return True
        return changing

    def _may_stay(self, task: FakeTask) -> bool:
        node = self.store.nodes.get(task.node_id)
        return (
            node is not None
            and node.state == "ready"
            and node.availability != "drain"
            and fits(node, task.template.constraints)
        )

    def _is_eligible(self, node: Node, constraints: tuple[str, ...]) -> bool:
        alive = node.state == "ready" and node.availability != "drain"
        return alive and fits(node, constraints)

    def _create(self, live: LiveService, slot: int, node_id: str) -> FakeTask:
        self._serial += 1
        task = FakeTask(
            id=f"task{self._serial}",
            service_id=live.id,
            template=template_of(live.value),
            force_update=live.force_update,
            slot=slot,
            node_id=node_id,
            state="pending",
            at_s=self.now_s,
        )
        self.store.tasks[task.id] = task
        self._forget_old(live, task)
        self.wake()
        return task

    def _forget_old(self, live: LiveService, fresh: FakeTask) -> None:
        same = [
            task
            for task in self.tasks_of(live)
            if task.slot == fresh.slot and task.state in ENDED and not task.has_container
        ]
        for task in same[:-MOST_KEPT]:
            del self.store.tasks[task.id]

    # Where it runs, and its life there

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
        """Starts the container when nothing is in its way; looks again otherwise."""
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
        """Whether it is healthy by now; one that never is ends, if it runs at all still."""
        if not task.has_container or task.state != "starting" or task.id not in self.store.tasks:
            return
        if not self.hears(task.node_id) or task.desired != "running":
            self.after(1.0, self._look_at_health, task)
        elif self.is_healthy(task):
            self._runs(task)
            self.wake()
        elif self.now_s - task.up_since_s > UNHEALTHY_S:
            self.fail(task, 137)
            task.error = UNHEALTHY if task.state == "failed" else task.error
        else:
            self.after(CHECKED_EVERY_S, self._look_at_health, task)

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
            fresh = self._create(live, task.slot, task.node_id if not task.slot else "")
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
