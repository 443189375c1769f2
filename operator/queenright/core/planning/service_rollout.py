"""One service from live to desired: create, update field by field, or start again.

Shared by the rules of all kinds. Invariant: a running task is only restarted when ``obstacle`` is
None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    CreateService,
    FieldChange,
    RestartService,
    UpdateService,
)
from queenright.core.observed import LiveService, Node, Task
from queenright.core.observed.constraints import meets
from queenright.core.observed.task_states import ALIVE_STATES
from queenright.core.planning.ages import certain_age, likely_age
from queenright.core.planning.images import (
    newest_service,
    pin_image,
    service_changes,
    wanted_service,
)
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES, ServiceContext, is_under_way
from queenright.core.swarm.diff import UNDISRUPTING, diff, disrupts
from queenright.core.swarm.objects import IMAGE_LABEL, Service

ON_ITS_WAY = timedelta(seconds=60)
"""The time for a task to start, whatever swarm reports, before a person should look."""
SOON = timedelta(seconds=2)
"""The time before the end of an update's delay in which no other update begins: a pass takes it."""
RESTART_MARGIN = timedelta(seconds=5)
"""The time after its delay before a finished task counts as given up by swarm."""


def plan_service(
    state: ServiceContext, service: Service, obstacle: str | None
) -> Iterator[AnyAction | Hold]:
    """Yield the next safe step for a service; ``obstacle`` is a reason not to restart its task."""
    live = state.swarm.service(service.name)
    pinned = pin_image(state, service, live)
    if isinstance(pinned, Hold):
        yield pinned
    elif live is None:
        yield CreateService(pinned, reason=f"{service.name} is in the file and not in the swarm")
    if live is None:
        return
    wanted = wanted_service(state, service, live)
    changes = service_changes(state, service, live)
    if changes:
        yield from plan_update(state, live, wanted, changes, obstacle)
    else:
        yield from watch_tasks(state, live, newest_service(state, service, live))


def plan_update(
    state: ServiceContext,
    live: LiveService,
    wanted: Service,
    changes: tuple[FieldChange, ...],
    obstacle: str | None,
) -> Iterator[AnyAction | Hold]:
    """Yield the whole update if it may restart what it restarts; else its harmless part."""
    name = wanted.name
    if wanted.mode != live.value.mode:
        yield Hold(
            f"update-service/{name}",
            f"service {name}: is {live.value.mode}, not {wanted.mode} (swarm can't change that); "
            f"remove it (docker service rm {name}; its volumes stay): the operator creates it anew",
            wants_attention=True,
        )
        return
    fields = ", ".join(change.path for change in changes)
    may_run = any(state.swarm.possible_tasks(live.id))
    fewer = 0 < wanted.replicas < live.value.replicas  # swarm chooses which task goes
    restarts = may_run and (disrupts(changes) or fewer)
    if restarts and obstacle is not None:
        again = state.now + SETTLES
        yield Hold(f"update-service/{name}", f"{fields}: {obstacle}", again, wants_attention=True)
        harmless = {"labels", "update", "rollback"} if fewer else UNDISRUPTING
        wanted = harmless_part(wanted, live.value, harmless)
        changes = diff(wanted, live.value)
        restarts = False
        if not changes:
            return
    if restarts and (waits := rollout_in_the_way(state, live)):
        yield Hold(f"update-service/{name}", f"{fields}: {waits[0]}", state.now + waits[1])
        return
    reason = f"{name} differs from the file in {fields}"
    if not disrupts(changes):
        yield AdjustService(
            live.id,
            live.version,
            wanted,
            reason=reason,
            changes=changes,
            disrupts=name if restarts else "",
        )
        return
    yield UpdateService(
        live.id,
        live.version,
        wanted,
        live.force_update,
        reason=reason,
        changes=changes,
        disrupts=name if restarts else "",
    )


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


def harmless_part(wanted: Service, live: Service, fields: Iterable[str]) -> Service:
    """Return the live service with those changes that restart nothing. The label of the deployed
    image stays, because the image does."""
    changed = {item: getattr(wanted, item) for item in fields}
    changed["labels"] = {**wanted.labels}
    changed["labels"].pop(IMAGE_LABEL, None)
    if IMAGE_LABEL in live.labels:
        changed["labels"][IMAGE_LABEL] = live.labels[IMAGE_LABEL]
    return dataclasses.replace(live, **changed)


def watch_tasks(
    state: ServiceContext, live: LiveService, newest: Service | None = None
) -> Iterator[AnyAction | Hold]:
    """Yield restarts of tasks that swarm has given up on, and holds for tasks that do not run.
    ``newest`` is the service with the configs that wait for a restart, if it has such."""
    yield from update_in_progress(state, live)
    found = places(state, live)
    yield from why_not_running(state, live, found)
    yield from absent_nodes(state, live)
    service = live.value
    stranded = [
        max(tasks, key=lambda task: task.at)
        for tasks in found.values()
        if tasks and not any(task.is_alive or is_ending(state, task) for task in tasks)
    ]
    if not stranded:
        return
    last = max(stranded, key=lambda task: task.at)
    left = timedelta(seconds=service.restart.delay_s) + RESTART_MARGIN - task_age(state, last)
    ended = f"its last task ended {describe_end(last)}"
    if last.state != "complete" and left > timedelta(0):
        ready_at = state.now + left
        yield Hold(f"restart-service/{service.name}", f"{service.name}: {ended}", ready_at)
        return
    if service.mode == "replicated" and any(state.swarm.possible_tasks(live.id)):
        where = "may still run on a node that swarm can't reach"
        yield Hold(f"restart-service/{service.name}", f"{service.name}: {where}")
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


def why_not_running(
    state: ServiceContext, live: LiveService, found: Mapping[str, Sequence[Task]]
) -> Iterator[Hold]:
    """Yield a hold for each of the places whose task is not running yet, with swarm's error, if
    any; ``found`` are the tasks by place."""
    service = live.value
    for place, tasks in found.items():
        if any(task.state == "running" and state.swarm.runs(task) for task in tasks):
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


def task_age(state: ServiceContext, task: Task) -> timedelta:
    """Return the time for which the task has been in its state."""
    return likely_age(task.at, state.now, state.seen_s_ago.get(task.id))


def certain_task_age(state: ServiceContext, task: Task) -> timedelta:
    return certain_age(task.at, state.now, state.seen_s_ago.get(task.id))


def is_ending(state: ServiceContext, task: Task) -> bool:
    """Return True while swarm is still stopping the task: until it has ended, a forced update would
    restart the task that swarm is about to start."""
    node = state.swarm.node_by_id(task.node_id)
    return task.state in ALIVE_STATES and node is not None and node.state == "ready"


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
