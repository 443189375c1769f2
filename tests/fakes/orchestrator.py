"""Swarm's orchestration: the tasks that should run for each service.

Reacts to every change of the store a moment later, as the managers do. Times are the event loop's.
"""

from __future__ import annotations

import random

from queenright.core.observed import LiveService, Node
from tests.fakes.placement import fits
from tests.fakes.rollouts import PAUSED, is_clean
from tests.fakes.service_templates import template_of
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.task_lives import TaskLives
from tests.fakes.tasks import ENDED, FakeTask

REACTION_S = 0.02
UPDATE_REACTION_S = 0.3
"""The time for which swarm leaves a changed service's tasks alone, without a report of the update:
its members answer well in the meantime."""
MOST_KEPT = 5
"""Ended tasks that swarm keeps per slot (its task history retention limit)."""


class Orchestrator(TaskLives):
    """Keeps the tasks that a store's services want."""

    def __init__(self, store: SwarmStore, rng: random.Random) -> None:
        super().__init__(store, rng)
        self._serial = 0
        self._woken = False
        store.listeners.append(lambda *_: self.wake())

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self.after(REACTION_S, self.step)

    def step(self) -> None:
        """Look once at everything, as each of swarm's loops would."""
        self._woken = False
        for task in list(self.store.tasks.values()):
            if task.service_id not in self.store.services:
                self.retire(task, "remove")
        for live in list(self.store.services.values()):
            if self._has_noticed(live):
                self._keep(self.store.services[live.id])  # as the updater's word has left it
        for task in list(self.store.tasks.values()):
            if task.state in {"new", "pending"} and task.wants_to_run:
                self._place(task)
        for live in list(self.store.services.values()):
            self.rollouts.note_progress(live)

    def _has_noticed(self, live: LiveService) -> bool:
        """Return True if the updater has seen the service as it is now; the service then shows
        it."""
        changed = any(not is_clean(live, t) for t in self.tasks_of(live) if t.wants_to_run)
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

    def _keep(self, live: LiveService) -> None:
        if live.value.mode.endswith("-job"):
            self._job(live)
        elif live.value.mode == "global":
            self._global(live)
        else:
            self._replicated(live)

    def _job(self, live: LiveService) -> None:
        """Keep one task, once: swarm starts another only after one that is gone without a trace."""
        if not self.tasks_of(live):
            self.create(live, 1, "").desired = "complete"

    def _replicated(self, live: LiveService) -> None:
        tasks = self.tasks_of(live)
        for task in tasks:
            if task.slot > live.value.replicas:
                self.retire(task, "remove")
        changing = self.rollouts.is_waiting(live) or any(
            t.waits_for or t.replaces or t.desired == "ready" for t in tasks if t.wants_to_run
        )
        for slot in range(1, live.value.replicas + 1):
            mine = [task for task in tasks if task.slot == slot]
            changing = self._keep_one(live, mine, slot, "", changing=changing)

    def _global(self, live: LiveService) -> None:
        tasks = self.tasks_of(live)
        changing = self.rollouts.is_waiting(live)
        for node in self.rollouts.in_order(live, self.store.nodes.values()):
            mine = [task for task in tasks if task.node_id == node.id]
            if self._is_eligible(node, live.value.constraints):
                changing = self._keep_one(live, mine, 0, node.id, changing=changing)
            else:
                for task in mine:
                    self.retire(task, "shutdown")

    def _keep_one(
        self, live: LiveService, mine: list[FakeTask], slot: int, node_id: str, *, changing: bool
    ) -> bool:
        """Keep one wanted task for a slot or node; return True while an update is on its way."""
        template = template_of(live.value)
        wanted = [task for task in mine if task.wants_to_run]
        current = wanted[-1] if wanted else None
        if current is None:
            last = mine[-1] if mine else None
            changed = last and (last.template, last.force_update) != (template, live.force_update)
            if last is None or changed or last.desired != "running":
                self.create(live, slot, node_id)
        elif current.node_id and not self._may_stay(current):
            self.retire(current, "shutdown")
            if not node_id:
                self.create(live, slot, "")
        elif (current.template, current.force_update) != (template, live.force_update):
            if live.update_state in PAUSED:
                return changing
            if not changing or not current.has_container:
                fresh = self.create(live, slot, node_id)
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

    def create(self, live: LiveService, slot: int, node_id: str) -> FakeTask:
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
