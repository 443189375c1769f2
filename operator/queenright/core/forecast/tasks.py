"""Tasks of one service as swarm has them once a change has taken full effect.

Pure. Assumes that every container starts. Invariant: a task that need not be replaced stays as it
is, and a place that no node offers keeps a task without a node, as swarm shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from queenright.core.observed import LiveService, Node, SwarmState, Task
from queenright.core.observed.constraints import read_constraint
from queenright.core.swarm.objects import Service

NO_NODE = "no suitable node"


@dataclass(frozen=True, slots=True)
class Change:
    """The moment of a change, and a number that no other change has."""

    at: datetime
    number: int


def is_job(service: Service) -> bool:
    return service.mode.endswith("-job")


def with_tasks(
    swarm: SwarmState, live: LiveService, change: Change, *, anew: bool = False
) -> SwarmState:
    """Return the swarm with the tasks of a service where they belong; with ``anew`` each of them is
    a new one."""
    present = [] if anew else [task for task in swarm.tasks_of(live.id) if task.is_alive]
    placed = [task for task in present if task.node_id]
    wanted = [
        *(_global if live.value.mode.startswith("global") else _replicated)(
            swarm, live, placed, change
        )
    ]
    kept = [task for task in swarm.tasks if task.service_id != live.id]
    return replace(swarm, tasks=(*kept, *wanted))


def _global(
    swarm: SwarmState, live: LiveService, placed: list[Task], change: Change
) -> Iterator[Task]:
    by_node = {task.node_id: task for task in placed}
    for node in swarm.index.nodes_meeting(live.value.constraints):
        if (task := by_node.get(node.id)) is not None:
            yield task
        elif node.is_ready:
            yield new_task(live, node, change, node.name)


def _replicated(
    swarm: SwarmState, live: LiveService, placed: list[Task], change: Change
) -> Iterator[Task]:
    fitting = swarm.index.nodes_meeting(live.value.constraints)
    ids = {node.id for node in fitting}
    kept = [task for task in placed if task.node_id in ids][: live.value.replicas]
    yield from kept
    used = [task.node_id for task in kept]
    ready = [node for node in fitting if node.is_ready]
    for slot in range(len(kept), live.value.replicas):
        node = min(ready, key=lambda one: (used.count(one.id), one.name), default=None)
        used += [node.id] if node is not None else []
        yield new_task(live, node, change, str(slot + 1))


def new_task(live: LiveService, node: Node | None, change: Change, place: str) -> Task:
    """Return a task that runs on a node, or has ended well there if it is a job's."""
    job = is_job(live.value)
    state = "pending" if node is None else "complete" if job else "running"
    return Task(
        id=f"{live.value.name}.{place}.{change.number}",
        service_id=live.id,
        node_id=node.id if node is not None else "",
        state=state,
        desired_state="complete" if job else "running",
        at=change.at,
        error=NO_NODE if node is None else "",
        exit_code=0 if job and node is not None else None,
        slot=int(place) if place.isdecimal() else 0,
        addresses={item.network: "modelled" for item in live.value.networks},
        image=live.value.image,
    )


def services_placed_by(swarm: SwarmState, labels: Iterable[str]) -> Iterator[LiveService]:
    """Yield the services with a constraint on one of these node labels."""
    wanted = {*labels}
    for live in swarm.services:
        found = map(read_constraint, live.value.constraints)
        if any(one is not None and one.label in wanted for one in found):
            yield live
