"""One service from desired to live: create, update field by field, or start again.

Shared by the rules of clusters and of applications. Invariant: a running task is only ever
restarted when ``obstacle`` is None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from queenright.core.actions import (
    Action,
    AdjustService,
    CreateService,
    FieldChange,
    RestartService,
    UpdateService,
)
from queenright.core.diff import UNDISTURBING, diff, disturbs
from queenright.core.observed import (
    ALIVE_STATES,
    LiveService,
    Task,
)
from queenright.core.pinning import pin_image, wanted_service
from queenright.core.plan import Hold
from queenright.core.resources import IMAGE_LABEL, Service
from queenright.core.scene import Scene
from queenright.core.situation import SETTLES

ON_ITS_WAY = timedelta(seconds=60)
"""How long a task may be on its way, whatever swarm says of it, before a person should look."""
RESTART_MARGIN = timedelta(seconds=5)
"""How long after its own delay swarm is given before a finished task counts as given up."""


def plan_service(
    situation: Scene, service: Service, obstacle: str | None
) -> Iterator[Action | Hold]:
    """The next safe step for one service; ``obstacle`` says why its task may not be restarted."""
    live = situation.swarm.service(service.name)
    pinned = pin_image(situation, service, live)
    if isinstance(pinned, Hold):
        yield pinned
    elif live is None:
        yield CreateService(pinned, reason=f"{service.name} is in the file and not in the swarm")
    if live is None:
        return
    wanted = wanted_service(situation, service, live)
    changes = diff(wanted, live.value)
    if changes:
        yield from plan_update(situation, live, wanted, changes, obstacle)
    else:
        yield from watch_tasks(situation, live)


def plan_update(
    situation: Scene,
    live: LiveService,
    wanted: Service,
    changes: tuple[FieldChange, ...],
    obstacle: str | None,
) -> Iterator[Action | Hold]:
    """The whole update where no running task is restarted or it may be; else its harmless part."""
    name = wanted.name
    if wanted.mode != live.value.mode:
        yield Hold(
            f"update-service/{name}",
            f"{name} is {live.value.mode}, not {wanted.mode}, which swarm can't change: remove the "
            f"service (docker service rm {name}; its volumes stay), then it is made anew",
            wants_attention=True,
        )
        return
    fields = ", ".join(change.path for change in changes)
    may_run = any(situation.swarm.possible_tasks(live.id))
    fewer = 0 < wanted.replicas < live.value.replicas  # swarm chooses which task goes
    restarts = may_run and (disturbs(changes) or fewer)
    if restarts and obstacle is not None:
        again = situation.now + SETTLES
        yield Hold(f"update-service/{name}", f"{fields}: {obstacle}", again, wants_attention=True)
        harmless = {"labels", "update", "rollback"} if fewer else UNDISTURBING
        wanted = harmless_part(wanted, live.value, harmless)
        changes = diff(wanted, live.value)
        restarts = False
        if not changes:
            return
    reason = f"{name} differs from the file in {fields}"
    if not disturbs(changes):
        yield AdjustService(
            live.id,
            live.version,
            wanted,
            reason=reason,
            changes=changes,
            disturbs=name if restarts else "",
        )
        return
    yield UpdateService(
        live.id,
        live.version,
        wanted,
        live.force_update,
        reason=reason,
        changes=changes,
        disturbs=name if restarts else "",
    )


def harmless_part(wanted: Service, live: Service, fields: Iterable[str]) -> Service:
    """What of the change restarts nothing. The note of the deployed image stays as it is: the
    image does."""
    changed = {item: getattr(wanted, item) for item in fields}
    changed["labels"] = {**wanted.labels}
    changed["labels"].pop(IMAGE_LABEL, None)
    if IMAGE_LABEL in live.labels:
        changed["labels"][IMAGE_LABEL] = live.labels[IMAGE_LABEL]
    return dataclasses.replace(live, **changed)


def watch_tasks(situation: Scene, live: LiveService) -> Iterator[Action | Hold]:
    """Starts again what swarm has given up on; says what keeps a task from running."""
    yield from update_in_progress(situation, live)
    yield from why_not_running(situation, live)
    yield from absent_nodes(situation, live)
    service = live.value
    stranded = [
        max(tasks, key=lambda task: task.at)
        for tasks in places(situation, live).values()
        if tasks and not any(task.is_alive or is_ending(situation, task) for task in tasks)
    ]
    if not stranded:
        return
    last = max(stranded, key=lambda task: task.at)
    ready_at = last.at + timedelta(seconds=service.restart.delay_s) + RESTART_MARGIN
    ended = f"its last task ended {describe_end(last)}"
    if last.state != "complete" and situation.now < ready_at:
        yield Hold(f"restart-service/{service.name}", f"{service.name}: {ended}", ready_at)
        return
    if service.mode == "replicated" and any(situation.swarm.possible_tasks(live.id)):
        where = "may still run on a node that swarm has lost sight of"
        yield Hold(f"restart-service/{service.name}", f"{service.name} {where}")
        return
    others = service.mode == "global" and any(situation.swarm.running_tasks(live.id))
    yield RestartService(
        live.id,
        live.version,
        service,
        live.force_update + 1,
        reason=f"swarm does not start {service.name} again: {ended}",
        disturbs=service.name if others else "",
    )


def update_in_progress(situation: Scene, live: LiveService) -> Iterator[Hold]:
    """What swarm's own rolling update waits for, or why it stopped. A stopped update of a single
    task that runs by now is over, though swarm goes on calling it paused; of several, some may be
    the former ones for good."""
    single = live.value.replicas == 1 and any(situation.swarm.running_tasks(live.id))
    single = single and live.value.mode == "replicated"
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


def why_not_running(situation: Scene, live: LiveService) -> Iterator[Hold]:
    """A hold for each place whose task is on its way, with swarm's own words where it has any."""
    service = live.value
    for place, tasks in places(situation, live).items():
        if any(task.state == "running" and situation.swarm.runs(task) for task in tasks):
            continue
        coming = max((task for task in tasks if task.is_alive), key=lambda t: t.at, default=None)
        where = f" on {place}" if service.mode == "global" else ""
        failed = max((task for task in tasks if task.error), key=lambda t: t.at, default=None)
        why = f": {failed.error}" if failed else ""
        if coming is not None or not tasks:
            state = coming.state if coming else "not there yet"
            since = coming.at if coming else situation.now
            if state == "running":
                state = "on a node that is down"
            yield Hold(
                f"task/{service.name}" + (f"/{place}" if place else ""),
                f"{service.name}{where} is {state}{why}",
                wants_attention=bool(why) and situation.now - since > ON_ITS_WAY,
            )


def is_ending(situation: Scene, task: Task) -> bool:
    """Whether swarm is still stopping the task: until it has ended there is nothing to make of it,
    and forcing an update would restart what swarm is about to put in its place."""
    node = situation.swarm.node_by_id(task.node_id)
    return task.state in ALIVE_STATES and node is not None and node.state == "ready"


def absent_nodes(situation: Scene, live: LiveService) -> Iterator[Hold]:
    """Nodes that a global service is meant for, but that can't run it now."""
    for node in situation.swarm.nodes:
        wanted = live.value.mode == "global" and is_eligible(node.labels, live.value)
        if wanted and not node.is_ready:
            why = node.state if node.state != "ready" else f"set to {node.availability}"
            yield Hold(
                f"task/{live.value.name}/{node.name}",
                f"{live.value.name} does not run on {node.name}, which is {why}",
                wants_attention=True,
            )


def places(situation: Scene, live: LiveService) -> dict[str, list[Task]]:
    """The service's tasks by place: by node where it is global, else all in one. A node that is
    down or drained is no place: swarm starts nothing there, and forcing it would not help."""
    tasks = list(situation.swarm.tasks_of(live.id))
    if live.value.mode == "global":
        ready = [node for node in situation.swarm.nodes if node.is_ready]
        nodes = [node for node in ready if is_eligible(node.labels, live.value)]
        return {n.name: [task for task in tasks if task.node_id == n.id] for n in nodes}
    return {"": tasks} if live.value.replicas else {}


def is_eligible(labels: Mapping[str, str], service: Service) -> bool:
    """Whether a node with these labels meets the service's label constraints."""
    wanted = (item.removeprefix("node.labels.").split("==") for item in service.constraints)
    return all(labels.get(key.strip()) == value.strip() for key, value in wanted)


def describe_end(task: Task) -> str:
    code = "" if task.exit_code is None else f" with exit status {task.exit_code}"
    why = f" ({task.error})" if task.error else ""
    return f"{task.state}{code}{why}"
