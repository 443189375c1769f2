"""Judges an update of a service with several tasks by what swarm is doing with them.

Swarm's next update ends the one under way and stops any task first, so that two are stopped at once
where one has not come back yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.observed import LiveService
from tests.fakes.rollouts import is_clean
from tests.fakes.tasks import FakeTask
from tests.fakes.world import World

TOO_LONG_S = 55.0
"""A task that has been on its way for so long may be what the update mends."""


def judge_rollout(world: World, live: LiveService) -> Iterator[str]:
    """Yield each task that the pass must have seen on its way, while it saw another one run."""
    tasks, looked_at_s = world.orchestrator.tasks_of(live), world.swarm.observed_at_s
    running = [
        task
        for task in tasks
        if task.wants_to_run and task.state == "running" and task.at_s < looked_at_s
    ]
    for task in tasks:
        waited_s = looked_at_s - task.at_s
        is_coming = task.wants_to_run and task.state != "running" and world_hears(world, task)
        if is_coming and 0 < waited_s < TOO_LONG_S and not failed_there(tasks, task):
            others = [one for one in running if place(one) != place(task)]
            if others and live.value.update.order == "stop-first":
                yield f"{live.value.name} is updated while its task on {task.node_id} is coming"


def is_unfinished(world: World, live: LiveService) -> bool:
    """Return True if swarm has tasks of an update left, with which it begins anew at any write."""
    return any(
        not is_clean(live, task) for task in world.orchestrator.tasks_of(live) if task.wants_to_run
    )


def failed_there(tasks: list[FakeTask], task: FakeTask) -> bool:
    return any(one.error and place(one) == place(task) for one in tasks)


def place(task: FakeTask) -> tuple[int, str]:
    return (task.slot, "" if task.slot else task.node_id)


def world_hears(world: World, task: FakeTask) -> bool:
    return bool(task.node_id) and world.orchestrator.hears(task.node_id)
