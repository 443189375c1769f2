"""Where swarm's scheduler lets a task run: by constraints, and by ports in host mode."""

from __future__ import annotations

from queenright.core.observed import Node
from tests.fakes.swarm_store import SwarmStore
from tests.fakes.tasks import FakeTask

NOBODY_FITS = "no suitable node (scheduling constraints not satisfied on {} nodes)"
PORT_TAKEN = "no suitable node (host-mode port already in use on 1 node)"


def choose(store: SwarmStore, task: FakeTask) -> Node | None:
    """A node that takes the task; where none does, the task says why."""
    constraints = task.template.constraints
    fitting = [node for node in store.nodes.values() if node.is_ready and fits(node, constraints)]
    if not fitting:
        task.error = NOBODY_FITS.format(len(store.nodes))
        return None
    free = [node for node in fitting if not is_port_taken(store, task, node.id)]
    if not free:
        task.error = PORT_TAKEN
        return None
    return free[0]


def is_port_taken(store: SwarmStore, task: FakeTask, node_id: str) -> bool:
    mine = {port.published for port in task.template.ports if port.mode == "host"}
    return any(
        other is not task
        and other.id != task.waits_for
        and other.node_id == node_id
        and (other.has_container or other.state in {"assigned", "preparing", "ready"})
        and mine & {port.published for port in other.template.ports if port.mode == "host"}
        for other in store.tasks.values()
    )


def fits(node: Node, constraints: tuple[str, ...]) -> bool:
    """Labels and hostnames, which are all that the operator writes."""
    for constraint in constraints:
        key, _, value = constraint.partition("==")
        if key.strip() == "node.hostname":
            if node.name != value.strip():
                return False
            continue
        if node.labels.get(key.strip().removeprefix("node.labels.")) != value.strip():
            return False
    return True
