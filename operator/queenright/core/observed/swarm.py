"""The swarm's nodes, tasks and objects as they were seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from queenright.core.observed.known import Live
from queenright.core.observed.swarm_index import ReadLists, SwarmIndex
from queenright.core.observed.swarm_objects import Engine, LiveService, Node, Task, Unreadable
from queenright.core.observed.task_states import (
    may_hold_process,
)
from queenright.core.swarm.objects import Config, Network, Secret

NO_LISTS: Final[Mapping[str, tuple[Any, ...]]] = {}


ORDERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "nodes": attrgetter("name", "id"),
    "former_nodes": attrgetter("name", "id"),
    "services": attrgetter("value.name"),
    "tasks": attrgetter("id"),
    "networks": attrgetter("value.name", "id"),
    "secrets": attrgetter("value.name"),
    "configs": attrgetter("value.name"),
}
"""The order of each list."""


@dataclass(frozen=True)
class SwarmState:
    """One read of the whole swarm: a constant number of list calls."""

    engine: Engine
    nodes: tuple[Node, ...] = ()
    """One for each name."""
    services: tuple[LiveService, ...] = ()
    tasks: tuple[Task, ...] = ()
    networks: tuple[Live[Network], ...] = ()
    secrets: tuple[Live[Secret], ...] = ()
    configs: tuple[Live[Config], ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    """Objects that exist but are not in the lists; the operator does nothing for their owners."""
    former_nodes: tuple[Node, ...] = ()
    """The nodes whose names others of the list have (see ``node_names``)."""
    is_in_order: bool = field(default=False, init=False, repr=False, compare=False)
    """True if the lists are sorted by name; a changed copy has to be sorted anew."""

    def in_order(self, sorted_before: Mapping[str, tuple[Any, ...]] = NO_LISTS) -> SwarmState:
        """Return the same state sorted by name: a plan must not depend on the order of the
        lists. ``sorted_before`` has those that are sorted already."""
        if self.is_in_order:
            return self
        lists: dict[str, Any] = {
            name: sorted_before[name]
            if name in sorted_before
            else tuple(sorted(getattr(self, name), key=key))
            for name, key in ORDERS.items()
        }
        found = dataclasses.replace(self, **lists)
        object.__setattr__(found, "is_in_order", True)
        return found

    @cached_property
    def index(self) -> SwarmIndex:
        """The lookup by labels, constraints, ports and the like."""
        return SwarmIndex(
            ReadLists(
                self.nodes, self.services, self.tasks, self.networks, self.secrets, self.configs
            )
        )

    @cached_property
    def answers(self) -> dict[tuple[object, ...], tuple[object, Any]]:
        """The facts that were derived from this reading (see ``answered_once``)."""
        return {}

    # A pass asks for the same few objects hundreds of times. Of two with one name the first counts.

    @cached_property
    def _nodes_by_name(self) -> dict[str, Node]:
        return {node.name: node for node in reversed(self.nodes)}

    @cached_property
    def _nodes_by_id(self) -> dict[str, Node]:
        return {node.id: node for node in reversed(self.nodes)}

    @cached_property
    def _former_nodes_by_id(self) -> dict[str, Node]:
        return {node.id: node for node in reversed(self.former_nodes)}

    @cached_property
    def _services_by_name(self) -> dict[str, LiveService]:
        return {live.value.name: live for live in reversed(self.services)}

    @cached_property
    def _networks_by_name(self) -> dict[str, Live[Network]]:
        return {live.value.name: live for live in reversed(self.networks)}

    @cached_property
    def _secrets_by_name(self) -> dict[str, Live[Secret]]:
        return {live.value.name: live for live in reversed(self.secrets)}

    @cached_property
    def _configs_by_name(self) -> dict[str, Live[Config]]:
        return {live.value.name: live for live in reversed(self.configs)}

    @cached_property
    def _tasks_by_service(self) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {}
        for task in self.tasks:
            found.setdefault(task.service_id, []).append(task)
        return found

    def node(self, name: str) -> Node | None:
        return self._nodes_by_name.get(name)

    def node_by_id(self, node_id: str) -> Node | None:
        """Return the node of this id, also one whose name another has by now."""
        return self._nodes_by_id.get(node_id) or self._former_nodes_by_id.get(node_id)

    def service(self, name: str) -> LiveService | None:
        return self._services_by_name.get(name)

    def network(self, name: str) -> Live[Network] | None:
        return self._networks_by_name.get(name)

    def secret(self, name: str) -> Live[Secret] | None:
        return self._secrets_by_name.get(name)

    def config(self, name: str) -> Live[Config] | None:
        return self._configs_by_name.get(name)

    def tasks_of(self, service_id: str) -> Iterator[Task]:
        return iter(self._tasks_by_service.get(service_id, ()))

    def running_tasks(self, service_id: str) -> Iterator[Task]:
        """Yield the tasks that run for certain: alive, on a node that is not down."""
        return filter(self.is_running, self.tasks_of(service_id))

    def is_running(self, task: Task) -> bool:
        return task.state == "running" and self.runs(task)

    def possible_tasks(self, service_id: str) -> Iterator[Task]:
        """Yield the tasks that may hold a process (see ``task_states``), whatever their desired
        state: one that starts, that is being stopped, or that is on a node which swarm can't
        reach."""
        return (task for task in self.tasks_of(service_id) if self.may_run(task))

    def may_run(self, task: Task) -> bool:
        """Return True if the task may hold a process."""
        node = self.node_by_id(task.node_id)
        is_lost = node is not None and node.state != "ready"
        return may_hold_process(task.state, task.desired_state, is_node_lost=is_lost)

    def sole_task(self, service_id: str) -> Task | None:
        """Return the service's one task that runs for certain; None if there are others: one that
        starts, or one that is being stopped on a node that swarm can reach, or that may be another
        machine than the one that has its name by now."""
        counted = [
            task
            for task in self.tasks_of(service_id)
            if (task.is_alive and task.node_id)
            or (self.may_run(task) and (self.is_heard(task) or self.is_namesake(task.node_id)))
        ]
        is_alone = [task.state for task in counted] == ["running"]
        return counted[0] if is_alone and self.runs(counted[0]) else None

    def is_namesake(self, node_id: str) -> bool:
        """Return True for a former node that has not the address of the node that has its name:
        that one's being here is no sign that this machine is gone. Where it has, only one of the
        two can be at the address, and swarm hears the other."""
        former = self._former_nodes_by_id.get(node_id)
        present = self.node(former.name) if former is not None else None
        return former is not None and (present is None or present.address != former.address)

    def is_heard(self, task: Task) -> bool:
        """Return True unless swarm knows a reason why the task's node can't be reached."""
        node = self.node_by_id(task.node_id)
        return node is None or node.state == "ready"

    def runs(self, task: Task) -> bool:
        """Return True if a task can be running: swarm lists tasks on dead nodes as "running"
        (moby #31999), so the node's state decides first."""
        return task.is_alive and self.is_heard(task)
