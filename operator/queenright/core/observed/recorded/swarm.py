"""One reading of the swarm as a recorded input.

Invariant: nothing of the swarm is held here. What is not asked as one question below is found by
the real type's own code from what is, so that a new lookup is recorded before it is listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from queenright.core.observed.recorded.mapping import RecordedMapping, RecordedSet
from queenright.core.observed.recorded.record import Record
from queenright.core.observed.swarm import SwarmState
from queenright.core.observed.swarm_index import SwarmIndex

if TYPE_CHECKING:
    from queenright.core.observed.known import Live
    from queenright.core.observed.swarm_objects import LiveService, Node, Task
    from queenright.core.swarm.objects import Config, Network, Secret

SWARM, INDEX, ADDRESSES, SECRET_IDS = "swarm", "index", "addresses", "secret ids"
IN_USE, TO_KEEP = "configs in use", "configs to keep"
LISTS = (
    "engine",
    "nodes",
    "former_nodes",
    "services",
    "tasks",
    "networks",
    "secrets",
    "configs",
    "unreadable",
)
WHOLE = {name: attrgetter(name) for name in LISTS}


def swarm_sources(swarm: SwarmState) -> dict[str, Any]:
    """Return the inputs that ``RecordedSwarm`` asks."""
    index = swarm.index
    return {
        SWARM: swarm,
        INDEX: index,
        ADDRESSES: index.addresses,
        SECRET_IDS: index.secret_ids,
        IN_USE: index.configs_in_use,
        TO_KEEP: index.configs_to_keep,
    }


class RecordedSwarm(SwarmState):
    """The swarm, whose whole lists are questions like any other."""

    _record: Record
    _view: RecordedIndex

    def __init__(self, record: Record) -> None:
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "is_in_order", True)
        object.__setattr__(self, "_view", RecordedIndex(record))

    @property
    def index(self) -> SwarmIndex:
        return self._view

    def node(self, name: str) -> Node | None:
        return self._record.ask(SwarmState.node, SWARM, name)

    def node_by_id(self, node_id: str) -> Node | None:
        return self._record.ask(SwarmState.node_by_id, SWARM, node_id)

    def service(self, name: str) -> LiveService | None:
        return self._record.ask(SwarmState.service, SWARM, name)

    def network(self, name: str) -> Live[Network] | None:
        return self._record.ask(SwarmState.network, SWARM, name)

    def secret(self, name: str) -> Live[Secret] | None:
        return self._record.ask(SwarmState.secret, SWARM, name)

    def config(self, name: str) -> Live[Config] | None:
        return self._record.ask(SwarmState.config, SWARM, name)

    def tasks_of(self, service_id: str) -> Iterator[Task]:
        return iter(self._record.ask(all_tasks, SWARM, service_id))


class RecordedLists:
    """The whole lists, for the index: it does not know the swarm that knows it."""

    def __init__(self, record: Record) -> None:
        self._record = record


def asking(whole: Callable[[SwarmState], Any]) -> property:
    """Return a field of the real type as a question for the whole list. A property costs nothing
    where another attribute is read, as ``__getattribute__`` would."""
    return property(lambda view: view._record.ask(whole, SWARM))  # noqa: SLF001  # its own


for _name, _whole in WHOLE.items():
    setattr(RecordedSwarm, _name, asking(_whole))
    setattr(RecordedLists, _name, asking(_whole))


def all_tasks(swarm: SwarmState, service_id: str) -> tuple[Task, ...]:
    return tuple(swarm.tasks_of(service_id))


def publishing(index: SwarmIndex, ports: tuple[int, ...]) -> tuple[LiveService, ...]:
    return tuple(index.services_publishing(ports))


def on_node(index: SwarmIndex, node_id: str) -> tuple[LiveService, ...]:
    return tuple(index.services_on(node_id))


def about(index: SwarmIndex, names: tuple[str, ...], keys: tuple[str, ...]) -> tuple[Node, ...]:
    return tuple(index.nodes_about(names, keys))


def meeting(index: SwarmIndex, constraints: tuple[str, ...]) -> tuple[Node, ...]:
    return tuple(index.nodes_meeting(constraints))


class RecordedIndex(SwarmIndex):
    """The index's answers, each as one question; its own tables are made of recorded lists."""

    _record: Record

    def __init__(self, record: Record) -> None:
        object.__setattr__(self, "swarm", RecordedLists(record))
        object.__setattr__(self, "_record", record)

    def services_with_id(self, service_id: str) -> tuple[LiveService, ...]:
        return self._record.ask(SwarmIndex.services_with_id, INDEX, service_id)

    def services_labelled(self, key: str, value: str) -> tuple[LiveService, ...]:
        return self._record.ask(SwarmIndex.services_labelled, INDEX, key, value)

    def services_of(self, key: str, scope: str) -> tuple[LiveService, ...]:
        return self._record.ask(SwarmIndex.services_of, INDEX, key, scope)

    def services_publishing(self, ports: Iterable[int]) -> list[LiveService]:
        return [*self._record.ask(publishing, INDEX, tuple(ports))]

    def services_with_variable(self, key: str, value: str) -> tuple[LiveService, ...]:
        return self._record.ask(SwarmIndex.services_with_variable, INDEX, key, value)

    def services_on(self, node_id: str) -> list[LiveService]:
        return [*self._record.ask(on_node, INDEX, node_id)]

    @property
    def ownerless_tasks(self) -> tuple[Task, ...]:
        return self._record.ask(ownerless_in, INDEX)

    @property
    def configs_in_use(self) -> AbstractSet[str]:
        return RecordedSet(self._record, IN_USE)

    @property
    def configs_to_keep(self) -> AbstractSet[str]:
        return RecordedSet(self._record, TO_KEEP)

    def configs_labelled(self, key: str, value: str) -> tuple[Live[Config], ...]:
        return self._record.ask(SwarmIndex.configs_labelled, INDEX, key, value)

    def networks_labelled(self, key: str, value: str) -> tuple[Live[Network], ...]:
        return self._record.ask(SwarmIndex.networks_labelled, INDEX, key, value)

    def secrets_labelled(self, key: str, value: str) -> tuple[Live[Secret], ...]:
        return self._record.ask(SwarmIndex.secrets_labelled, INDEX, key, value)

    @property
    def secret_ids(self) -> Mapping[str, str]:
        return RecordedMapping(self._record, SECRET_IDS)

    @property
    def addresses(self) -> Mapping[str, str]:
        return RecordedMapping(self._record, ADDRESSES)

    @property
    def managers(self) -> tuple[Node, ...]:
        return self._record.ask(managers_of, INDEX)

    def nodes_labelled(self, key: str) -> tuple[Node, ...]:
        return self._record.ask(SwarmIndex.nodes_labelled, INDEX, key)

    def nodes_with_address(self, address: str) -> tuple[Node, ...]:
        return self._record.ask(SwarmIndex.nodes_with_address, INDEX, address)

    def nodes_about(self, names: Iterable[str], keys: Iterable[str]) -> list[Node]:
        return [*self._record.ask(about, INDEX, tuple(names), tuple(keys))]

    def nodes_for_check(
        self, names: Collection[str], keys: Iterable[str], address: str = ""
    ) -> tuple[Node, ...]:
        ordered, labels = tuple(sorted(names)), tuple(sorted(keys))
        return self._record.ask(SwarmIndex.nodes_for_check, INDEX, ordered, labels, address)

    def nodes_meeting(self, constraints: Collection[str]) -> list[Node]:
        return [*self._record.ask(meeting, INDEX, tuple(constraints))]


def ownerless_in(index: SwarmIndex) -> tuple[Task, ...]:
    return index.ownerless_tasks


def managers_of(index: SwarmIndex) -> tuple[Node, ...]:
    return index.managers
