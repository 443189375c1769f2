"""Swarm's scheduler: the nodes for a task, by constraints and by ports in host mode."""

from __future__ import annotations

from functools import cache

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
    """Return True if the scheduler would take the node. The model has no platforms and engine
    labels: no node fits a constraint on them (swarmkit: constraint.NodeMatches)."""
    for constraint in constraints:
        key, label, value, wants_equal = parts_of(constraint)
        if label is not None:
            found: str | None = node.labels.get(label, "")
        else:
            known = {"node.hostname": node.name, "node.id": node.id, "node.role": node.role}
            found = known.get(key)
        if found is None or (found.lower() == value) != wants_equal:
            return False
    return True


@cache
def parts_of(constraint: str) -> tuple[str, str | None, str, bool]:
    """Return the constraint's key, its node label or None, its value in small letters,
    and True for ``==``."""
    wants_equal = "==" in constraint
    key, _, value = constraint.partition("==" if wants_equal else "!=")
    key = key.strip()
    label = key.removeprefix("node.labels.") if key.startswith("node.labels.") else None
    return key, label, value.strip().lower(), wants_equal
