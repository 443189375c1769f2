"""Finds objects of one reading of the swarm by what a rule asks for, without a walk over all.

Each index is made once, when it is first asked for. Invariant: what is found, and its order, is
what a walk over the swarm's lists would find.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from queenright.core.observed.constraints import meets, read_constraint

if TYPE_CHECKING:
    from queenright.core.observed.known import Live
    from queenright.core.observed.swarm_objects import LiveService, Node, Task
    from queenright.core.swarm.objects import Config, Network, Secret

T = TypeVar("T")
K = TypeVar("K")
Index = Mapping[K, tuple[T, ...]]


def indexed(found: Iterable[T], keys: Callable[[T], Iterable[K]]) -> Index[K, T]:
    """Everything by each of its keys, in its order."""
    made: dict[K, list[T]] = {}
    for one in found:
        for key in {*keys(one)}:
            made.setdefault(key, []).append(one)
    return {key: tuple(values) for key, values in made.items()}


def scopes_of(name: str) -> Iterator[str]:
    """Everything that may be a document's name before one of a service's underscores."""
    at = name.find("_")
    while at >= 0:
        yield name[:at]
        at = name.find("_", at + 1)


class Lists(Protocol):
    """The lists of one reading of the swarm."""

    @property
    def nodes(self) -> tuple[Node, ...]: ...

    @property
    def services(self) -> tuple[LiveService, ...]: ...

    @property
    def tasks(self) -> tuple[Task, ...]: ...

    @property
    def networks(self) -> tuple[Live[Network], ...]: ...

    @property
    def secrets(self) -> tuple[Live[Secret], ...]: ...

    @property
    def configs(self) -> tuple[Live[Config], ...]: ...


@dataclass(frozen=True, eq=False, slots=True)
class ReadLists:
    """The lists of one reading, without the reading itself."""

    nodes: tuple[Node, ...]
    services: tuple[LiveService, ...]
    tasks: tuple[Task, ...]
    networks: tuple[Live[Network], ...]
    secrets: tuple[Live[Secret], ...]
    configs: tuple[Live[Config], ...]


LARGE = (
    "_services_by_id",
    "_services_by_label",
    "_services_by_scope",
    "_services_by_port",
    "_service_ids_by_node",
    "configs_in_use",
    "configs_to_keep",
    "_configs_by_label",
    "_networks_by_label",
    "_secrets_by_label",
    "secret_ids",
    "_nodes_by_label",
    "_nodes_by_name",
)


@dataclass(frozen=True, eq=False)
class SwarmIndex:
    """Of one reading of the swarm, which never changes. It knows the lists alone: where the reading
    and its index knew each other, both would stay until Python looks for circles of garbage."""

    swarm: Lists

    def making(self) -> Iterator[None]:
        """Make the large indexes, and yield between two of them: each walks over all of a list."""
        for name in LARGE:
            getattr(self, name)
            yield

    # Services

    @cached_property
    def _services_by_id(self) -> Index[str, LiveService]:
        return indexed(self.swarm.services, lambda live: (live.id,))

    @cached_property
    def _services_by_label(self) -> Index[tuple[str, str], LiveService]:
        return indexed(self.swarm.services, lambda live: live.value.labels.items())

    @cached_property
    def _services_by_scope(self) -> Index[str, LiveService]:
        return indexed(self.swarm.services, lambda live: scopes_of(live.value.name))

    @cached_property
    def _services_by_port(self) -> Index[int, LiveService]:
        return indexed(
            self.swarm.services, lambda live: [port.published for port in live.value.ports]
        )

    @cached_property
    def _places(self) -> Mapping[int, int]:
        """The position of each service, by identity."""
        return {id(live): place for place, live in enumerate(self.swarm.services)}

    def _in_order(self, *found: Iterable[LiveService]) -> list[LiveService]:
        """All of these services, each once, as they stand in the swarm's list."""
        each = {id(live): live for some in found for live in some}
        return sorted(each.values(), key=lambda live: self._places[id(live)])

    def services_with_id(self, service_id: str) -> tuple[LiveService, ...]:
        return self._services_by_id.get(service_id, ())

    def services_labelled(self, key: str, value: str) -> tuple[LiveService, ...]:
        """The services with this label."""
        return self._services_by_label.get((key, value), ())

    @cached_property
    def _services_of(self) -> dict[tuple[str, str], tuple[LiveService, ...]]:
        """By the labels and scopes that were asked for: each guard asks for the same ones."""
        return {}

    def services_of(self, key: str, scope: str) -> tuple[LiveService, ...]:
        """The services with this label, or with a name that begins with ``scope`` and ``_``."""
        found = self._services_of.get((key, scope))
        if found is None:
            labelled, named = self.services_labelled(key, scope), self._services_by_scope
            found = tuple(self._in_order(labelled, named.get(scope, ())))
            self._services_of[key, scope] = found
        return found

    def services_publishing(self, ports: Iterable[int]) -> list[LiveService]:
        """The services with one of these published ports."""
        return self._in_order(*(self._services_by_port.get(port, ()) for port in ports))

    @cached_property
    def _services_by_variable(self) -> dict[str, Index[str, LiveService]]:
        """By the variables that were asked for, then by their values."""
        return {}

    def services_with_variable(self, key: str, value: str) -> tuple[LiveService, ...]:
        """The services whose environment has this value; those without the variable for ``""``."""
        by_value = self._services_by_variable.get(key)
        if by_value is None:
            found = self.swarm.services
            by_value = indexed(found, lambda live: (live.value.environment.get(key, ""),))
            self._services_by_variable[key] = by_value
        return by_value.get(value, ())

    @cached_property
    def _service_ids_by_node(self) -> Index[str, str]:
        found = ((task.node_id, task.service_id) for task in self.swarm.tasks)
        by_node = indexed(dict.fromkeys(found), lambda pair: (pair[0],))
        return {node: tuple(pair[1] for pair in pairs) for node, pairs in by_node.items()}

    def services_on(self, node_id: str) -> list[LiveService]:
        """The services with a task, in whatever state, on a node."""
        ids = self._service_ids_by_node.get(node_id, ())
        return self._in_order(*(self.services_with_id(service_id) for service_id in ids))

    @cached_property
    def ownerless_tasks(self) -> tuple[Task, ...]:
        """The tasks of services that are not there any more."""
        known = self._services_by_id
        return tuple(task for task in self.swarm.tasks if task.service_id not in known)

    # Configs, networks, secrets

    @cached_property
    def configs_in_use(self) -> AbstractSet[str]:
        """The names of configs that a service refers to."""
        return frozenset(file.name for live in self.swarm.services for file in live.value.configs)

    @cached_property
    def configs_to_keep(self) -> AbstractSet[str]:
        """These, and those that a service would refer to after a rollback."""
        before = (live.previous_configs for live in self.swarm.services)
        return frozenset(self.configs_in_use).union(*before)

    @cached_property
    def _configs_by_label(self) -> Index[tuple[str, str], Live[Config]]:
        return indexed(self.swarm.configs, lambda live: live.value.labels.items())

    @cached_property
    def _networks_by_label(self) -> Index[tuple[str, str], Live[Network]]:
        return indexed(self.swarm.networks, lambda live: live.value.labels.items())

    @cached_property
    def _secrets_by_label(self) -> Index[tuple[str, str], Live[Secret]]:
        return indexed(self.swarm.secrets, lambda live: live.value.labels.items())

    def configs_labelled(self, key: str, value: str) -> tuple[Live[Config], ...]:
        return self._configs_by_label.get((key, value), ())

    def networks_labelled(self, key: str, value: str) -> tuple[Live[Network], ...]:
        return self._networks_by_label.get((key, value), ())

    def secrets_labelled(self, key: str, value: str) -> tuple[Live[Secret], ...]:
        return self._secrets_by_label.get((key, value), ())

    @cached_property
    def secret_ids(self) -> Mapping[str, str]:
        """Each secret's id by its name."""
        return {live.value.name: live.id for live in self.swarm.secrets}

    # Nodes

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        """Each node's address by its name."""
        return {node.name: node.address for node in self.swarm.nodes}

    @cached_property
    def managers(self) -> tuple[Node, ...]:
        return tuple(node for node in self.swarm.nodes if node.role == "manager")

    @cached_property
    def _nodes_by_label(self) -> Index[str, Node]:
        return indexed(self.swarm.nodes, lambda node: node.labels)

    @cached_property
    def _nodes_by_name(self) -> Index[str, Node]:
        return indexed(self.swarm.nodes, lambda node: (node.name,))

    @cached_property
    def _nodes_by_address(self) -> Index[str, Node]:
        return indexed(self.swarm.nodes, lambda node: (node.address,))

    @cached_property
    def _node_places(self) -> Mapping[int, int]:
        return {id(node): place for place, node in enumerate(self.swarm.nodes)}

    def nodes_labelled(self, key: str) -> tuple[Node, ...]:
        """The nodes with a label of this key, whatever its value."""
        return self._nodes_by_label.get(key, ())

    def nodes_with_address(self, address: str) -> tuple[Node, ...]:
        return self._nodes_by_address.get(address, ())

    def nodes_about(self, names: Iterable[str], keys: Iterable[str]) -> list[Node]:
        """The nodes of these names, and those with a label of one of these keys."""
        found = {
            id(node): node
            for some in (
                *(self._nodes_by_name.get(name, ()) for name in names),
                *(self.nodes_labelled(key) for key in keys),
            )
            for node in some
        }
        return sorted(found.values(), key=lambda node: self._node_places[id(node)])

    def nodes_for_check(
        self, names: Collection[str], keys: Iterable[str], address: str = ""
    ) -> tuple[Node, ...]:
        """The nodes that a check of a document's placement may speak of: all of them where one of
        its names is none of the swarm's, because the message names the others."""
        if not all(name in self._nodes_by_name for name in names):
            return self.swarm.nodes
        same = [node.name for node in self.nodes_with_address(address)] if address else []
        return tuple(self.nodes_about([*names, *same], keys))

    def nodes_meeting(self, constraints: Collection[str]) -> list[Node]:
        """The nodes that are known to meet every constraint."""
        among: Iterable[Node] = self.swarm.nodes
        for text in constraints:
            found = read_constraint(text)
            if found is not None and found.label and found.is_equal and found.value:
                among = self.nodes_labelled(found.label)
                break
        return [node for node in among if meets(node, constraints)]
