"""Tells where swarm is with the tasks of a service, and why an update of it has to wait.

Shared by the rules of all kinds.
"""

from __future__ import annotations

from datetime import timedelta

from queenright.core.observed import LiveService, Task
from queenright.core.planning.ages import certain_age, likely_age
from queenright.core.planning.service_context import SETTLES, ServiceContext, is_under_way
from queenright.core.swarm.objects import Service

ON_ITS_WAY = timedelta(seconds=60)
"""The time for a task to start, whatever swarm reports, before a person should look."""
SOON = timedelta(seconds=2)
"""The time before the end of an update's delay in which no other update begins: a pass takes it."""


def rollout_in_the_way(state: ServiceContext, live: LiveService) -> tuple[str, timedelta] | None:
    """Return why an update of a service with several tasks would stop a second one, in words, and
    the time to wait; None where it would not, or where swarm stops each only when the next runs.

    An update ends the one under way, and begins with any task, not with the one that swarm has just
    stopped (swarmkit: update.Supervisor). What has started serves after half of the delay between
    two tasks, and at the delay's end swarm stops another. Of a task that failed lately, or takes
    long, nothing is expected: the update may be what mends it.
    """
    swarm, service = state.swarm, live.value
    if service.update.order != "stop-first":
        return None
    tasks = list(swarm.tasks_of(live.id))
    delay = timedelta(seconds=service.update.delay_s)
    for task in filter(swarm.runs, tasks):
        same = [other for other in tasks if place_of(service, other) == place_of(service, task)]
        age, node = certain_task_age(state, task), swarm.node_by_id(task.node_id)
        if any(other.error and task_age(state, other) < ON_ITS_WAY for other in same):
            continue
        if all(other in same for other in swarm.running_tasks(live.id)):
            continue
        its = f"its task{f' on {node.name}' if node else ''}"
        if task.state != "running" and age < ON_ITS_WAY:
            return f"{its} is {task.state}, and swarm would stop another one meanwhile", SETTLES
        if task.state != "running" or not is_under_way(live):
            continue
        if age < delay / 2:
            return f"{its} has just started, and swarm would stop another one", delay / 2 - age
        if any(delay - SOON <= one < delay + SETTLES for one in (age, task_age(state, task))):
            return "swarm is about to stop the next task for the last update", SETTLES
    return None


def place_of(service: Service, task: Task) -> str | int:
    """Return the task's place among those of its service: its node if that is global, its slot."""
    return task.node_id if service.mode == "global" else task.slot


def task_age(state: ServiceContext, task: Task) -> timedelta:
    """Return the time for which the task has been in its state."""
    return likely_age(task.at, state.now, state.seen_s_ago.get(task.id))


def certain_task_age(state: ServiceContext, task: Task) -> timedelta:
    return certain_age(task.at, state.now, state.seen_s_ago.get(task.id))
