"""The tasks of a service as swarm keeps them: holds for what does not run, restarts of what it has
given up on.

Shared by the rules of all kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from queenright.core.actions import AdjustService, AnyAction, RestartService
from queenright.core.observed import LiveService, Node, Task, node_key
from queenright.core.observed.constraints import meets
from queenright.core.observed.task_states import ALIVE_STATES
from queenright.core.planning.plan import Hold
from queenright.core.planning.rollout_waits import (
    ON_ITS_WAY,
    certain_task_age,
    rollout_in_the_way,
    task_age,
)
from queenright.core.planning.service_context import ServiceContext
from queenright.core.swarm.objects import Service

RESTART_MARGIN = timedelta(seconds=5)
"""The time after its delay before a finished task counts as given up by swarm."""

PROVEN_S = 60
PROVEN = timedelta(seconds=PROVEN_S)
"""The time for which every task has to run before an update that swarm stopped goes on: it counts
failures for 5 s only (``UpdatePolicy.monitor_s``)."""


def watch_tasks(
    state: ServiceContext,
    live: LiveService,
    newest: Service | None = None,
    obstacle: str | None = None,
) -> Iterator[AnyAction | Hold]:
    """Yield restarts of tasks that swarm has given up on, and holds for tasks that do not run.
    ``newest`` is the service with the configs that wait for a restart, if it has such;
    ``obstacle`` is a reason not to restart a task that runs."""
    found = places(state, live)
    if is_stopped(live):
        yield from stopped_update(state, live, found, obstacle)
    else:
        yield from update_in_progress(state, live)
    yield from why_not_running(state, live, found)
    yield from absent_nodes(state, live)
    service = live.value
    stranded = {
        place: max(tasks, key=lambda task: task.at)
        for place, tasks in found.items()
        if tasks and not any(task.is_alive or is_ending(state, task) for task in tasks)
    }
    if not stranded:
        return
    key, last = f"restart-service/{service.name}", max(stranded.values(), key=lambda task: task.at)
    if any(is_new(state, node) for node in map(state.swarm.node, stranded) if node):
        begins = "its node has just come or changed, and swarm may be starting it"
        yield Hold(key, f"{service.name}: {begins}", state.now + RESTART_MARGIN)
        return
    left = timedelta(seconds=service.restart.delay_s) + RESTART_MARGIN - task_age(state, last)
    ended = f"its last task ended {describe_end(last)}"
    if last.state != "complete" and left > timedelta(0):
        ready_at = state.now + left
        yield Hold(key, f"{service.name}: {ended}", ready_at)
        return
    if service.mode == "replicated" and any(state.swarm.possible_tasks(live.id)):
        where = "may still run on a node that swarm can't reach"
        yield Hold(key, f"{service.name}: {where}")
        return
    if waits := rollout_in_the_way(state, live):
        yield Hold(key, f"{service.name}: {ended}; {waits[0]}", state.now + waits[1])
        return
    others = service.mode == "global" and any(state.swarm.running_tasks(live.id))
    yield RestartService(
        live.id,
        live.version,
        newest or service,
        live.force_update + 1,
        reason=f"swarm does not start {service.name} again: {ended}",
        disrupts=service.name if others else "",
    )


def update_in_progress(state: ServiceContext, live: LiveService) -> Iterator[Hold]:
    """Yield a hold while swarm's rolling update runs, or after it stopped. A stopped update of a
    single task that runs by now is over, though swarm still reports it as paused; of several tasks,
    some may never have been updated."""
    is_one = live.value.mode == "replicated" and live.value.replicas == 1
    single = is_one and any(state.swarm.running_tasks(live.id))
    name, told = live.value.name, live.update_message
    if live.update_state in {"updating", "rollback_started"}:
        yield Hold(f"rollout/{name}", f"{name}: swarm is carrying out an update ({told})")
    elif live.update_state in {"paused", "rollback_paused"} and not single:
        yield Hold(
            f"rollout/{name}",
            f"{name}: swarm stopped its update ({told}); look at its tasks (docker service ps "
            f"{name}), then correct the file, or begin the update again (docker service update "
            f"--force {name})",
            wants_attention=True,
        )


def stopped_update(
    state: ServiceContext,
    live: LiveService,
    found: Mapping[str, Sequence[Task]],
    obstacle: str | None,
) -> Iterator[AnyAction | Hold]:
    """Yield the write with which swarm goes on with a global service's update that it stopped, once
    each task has run for long: what failed was then no fault of the service (a power cut, a busy
    node). The one that runs in its place is updated, since the former one was stopped first; swarm
    replaces those that it has not updated (swarmkit: controlapi UpdateService, update.Updater)."""
    name, stopped = live.value.name, f"swarm stopped its update ({live.update_message})"
    running = [
        [certain_task_age(state, one) for one in tasks if state.swarm.is_running(one)]
        for tasks in found.values()
    ]
    if not all(running):
        yield Hold(
            f"rollout/{name}",
            f"{name}: {stopped}; look at its tasks (docker service ps {name}), and correct the "
            f"file if it is the cause: the update goes on when all have run for {PROVEN_S} s",
            wants_attention=True,
        )
    elif (left := PROVEN - min(map(min, running), default=PROVEN)) > timedelta(0):
        waits = f"it goes on when all tasks have run for {PROVEN_S} s"
        yield Hold(f"rollout/{name}", f"{name}: {stopped}; {waits}", state.now + left)
    elif obstacle is not None:
        yield Hold(f"rollout/{name}", f"{name}: {stopped}; {obstacle}", wants_attention=True)
    else:
        yield AdjustService(
            live.id,
            live.version,
            live.value,
            reason=f"{name}: {stopped}; all of its tasks run by now, and it goes on",
            disrupts=name,
        )


def is_stopped(live: LiveService) -> bool:
    """Return True for a global service of which any write lets swarm go on with an update that it
    stopped. Of an application's replicas, which are none, `update.failureAction` decides."""
    policy = live.value.update
    is_paused = live.update_state == "paused"
    return is_paused and live.value.mode == "global" and policy.order == "stop-first"


def why_not_running(
    state: ServiceContext, live: LiveService, found: Mapping[str, Sequence[Task]]
) -> Iterator[Hold]:
    """Yield a hold for each of the places whose task is not running yet, with swarm's error, if
    any; ``found`` are the tasks by place."""
    service = live.value
    for place, tasks in found.items():
        if any(map(state.swarm.is_running, tasks)):
            continue
        coming = max((task for task in tasks if task.is_alive), key=lambda t: t.at, default=None)
        where = f" on {place}" if service.mode == "global" else ""
        failed = max((task for task in tasks if task.error), key=lambda t: t.at, default=None)
        why = f": {failed.error}" if failed else ""
        if coming is not None or not tasks:
            phase = coming.state if coming else "not created yet"
            waited = task_age(state, coming) if coming else timedelta(0)
            if phase == "running":
                phase = "on a node that is down"
            yield Hold(
                f"task/{service.name}" + (f"/{place}" if place else ""),
                f"{service.name}{where} is {phase}{why}",
                wants_attention=bool(why) and waited > ON_ITS_WAY,
            )


def is_ending(state: ServiceContext, task: Task) -> bool:
    """Return True while swarm is still stopping the task: until it has ended, a forced update would
    restart the task that swarm is about to start."""
    node = state.swarm.node_by_id(task.node_id)
    return task.state in ALIVE_STATES and node is not None and node.state == "ready"


def is_new(state: ServiceContext, node: Node) -> bool:
    """Return True for a node that came back, or was changed, a moment ago: until swarm has made its
    task of a global service, the former one looks like one that swarm has given up on."""
    seen_s = state.seen_s_ago.get(node_key(node.id))
    return seen_s is not None and timedelta(seconds=seen_s) < RESTART_MARGIN


def absent_nodes(state: ServiceContext, live: LiveService) -> Iterator[Hold]:
    """Yield holds for nodes that a global service is meant for and that can't run it now."""
    if live.value.mode != "global":
        return
    for node in state.swarm.index.nodes_meeting(live.value.constraints):
        if not node.is_ready:
            why = node.state if node.state != "ready" else f"set to {node.availability}"
            yield Hold(
                f"task/{live.value.name}/{node.name}",
                f"{live.value.name}: does not run on {node.name} (the node is {why})",
                wants_attention=True,
            )


def places(state: ServiceContext, live: LiveService) -> dict[str, list[Task]]:
    """Return the service's tasks by place: by node if it is global, else all in one. A node that is
    down or drained is no place: swarm starts nothing there, and a forced update would not help."""
    tasks = list(state.swarm.tasks_of(live.id))
    if live.value.mode == "global":
        eligible = state.swarm.index.nodes_meeting(live.value.constraints)
        nodes = [node for node in eligible if node.is_ready]
        return {n.name: [task for task in tasks if task.node_id == n.id] for n in nodes}
    return {"": tasks} if live.value.replicas else {}


def is_eligible(node: Node, service: Service) -> bool:
    """Return True if a node is known to meet the service's constraints."""
    return meets(node, service.constraints)


def describe_end(task: Task) -> str:
    code = "" if task.exit_code is None else f" with exit status {task.exit_code}"
    why = f" ({task.error})" if task.error else ""
    return f"{task.state}{code}{why}"
