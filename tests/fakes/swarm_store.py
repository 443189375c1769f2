"""The swarm's objects with the managers' own rules: versions, names, and what is in use.

Synchronous and without time: what swarm stores, and refuses to store. The texts of the errors are
Docker's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

from queenright.core.observed import NEVER, Engine, Live, LiveService, Node, SwarmState
from queenright.core.observed.node_names import by_name
from queenright.core.swarm.objects import (
    HOST_NETWORK,
    Config,
    Network,
    Secret,
    Service,
)
from queenright.ports.swarm import ConflictError, RejectedError, UnavailableError
from tests.fakes.service_templates import adjusted_service
from tests.fakes.tasks import FakeTask

T = TypeVar("T")
Role = Literal["manager", "worker"]

Changed = Callable[[str, str, str], None]
"""Called with a change: kind, name, and the kind of change."""


@dataclass
class SwarmStore:
    """The managers' store. Every change takes the next version index and is announced."""

    engine: Engine = field(default_factory=lambda: Engine(node_id="id-node1"))
    index: int = 10
    nodes: dict[str, Node] = field(default_factory=dict)
    services: dict[str, LiveService] = field(default_factory=dict)
    networks: dict[str, Live[Network]] = field(default_factory=dict)
    secrets: dict[str, Live[Secret]] = field(default_factory=dict)
    configs: dict[str, Live[Config]] = field(default_factory=dict)
    tasks: dict[str, FakeTask] = field(default_factory=dict)
    previous: dict[str, tuple[Service, int]] = field(default_factory=dict)
    """Each service before its last change, by its id: swarm's ``PreviousSpec``."""
    secret_values: dict[str, int] = field(default_factory=dict)
    secret_texts: dict[str, str] = field(default_factory=dict)
    """Values that were given, by name; others have one of the store's own."""
    listeners: list[Changed] = field(default_factory=list)
    now: Callable[[], datetime] = lambda: NEVER

    def next_index(self) -> int:
        self.index += 1
        return self.index

    def tell(self, kind: str, name: str, what: str) -> None:
        for listener in self.listeners:
            listener(kind, name, what)

    def state(self) -> SwarmState:
        """A consistent copy."""
        if self.engine.swarm_state != "active" or not self.engine.is_manager:
            return SwarmState(self.engine)
        nodes, former_nodes = by_name(self.nodes.values())
        return SwarmState(
            engine=self.engine,
            nodes=nodes,
            former_nodes=former_nodes,
            services=tuple(self.services.values()),
            tasks=tuple(task.snapshot() for task in self.tasks.values()),
            networks=tuple(self.networks.values()),
            secrets=tuple(self.secrets.values()),
            configs=tuple(self.configs.values()),
        )

    # Nodes

    def add_node(self, name: str, address: str, role: Role = "worker") -> None:
        made = Node(f"id-{name}", name, address, version=self.next_index())
        self.nodes[made.id] = dataclasses.replace(made, role=role)

    def node_named(self, name: str) -> Node:
        """Return the node that has this name now."""
        found, _ = by_name(node for node in self.nodes.values() if node.name == name)
        assert found, f"there is no node {name}"
        return found[0]

    def node_at(self, address: str) -> Node | None:
        """Return the machine with this address: of one that has joined again, its last entry."""
        there = (node for node in reversed(self.nodes.values()) if node.address == address)
        return next(there, None)

    def add_again(self, name: str) -> tuple[Node, Node]:
        """Add a node that has left under another id; return its entries, the former one first."""
        former, index = self.node_named(name), self.next_index()
        made = dataclasses.replace(
            former, id=f"id-{name}-{index}", state="ready", labels={}, version=index
        )
        self.nodes[made.id] = made
        self.tell("node", name, "create")
        return former, made

    def set_node(self, node_id: str, **fields: object) -> None:
        node = dataclasses.replace(self.nodes[node_id], version=self.next_index(), **fields)  # type: ignore[arg-type]
        self.nodes[node_id] = node
        self.tell("node", node.name, "update")

    def label_node(self, node_id: str, version: int, labels: Mapping[str, str | None]) -> None:
        node = self.nodes.get(node_id)
        if node is None:
            raise ConflictError(f"node {node_id} not found")
        check_version(node.version, version)
        merged: dict[str, str | None] = {**node.labels, **labels}
        self.set_node(node_id, labels={k: v for k, v in merged.items() if v is not None})

    def relabel_node(
        self, node_id: str, before: Mapping[str, str | None], labels: Mapping[str, str | None]
    ) -> None:
        """Label a node of any version, if these labels have the values of ``before``."""
        node = self.nodes.get(node_id)
        if node is None or any(node.labels.get(key) != value for key, value in before.items()):
            raise ConflictError(f"node {node_id} has changed since it was observed")
        self.label_node(node_id, node.version, labels)

    # Services

    def service_named(self, name: str) -> LiveService | None:
        return next((live for live in self.services.values() if live.value.name == name), None)

    def create_service(self, service: Service) -> str:
        if self.service_named(service.name):
            raise ConflictError(f"name conflicts with an existing object: service {service.name}")
        self._check_references(service)
        index = self.next_index()
        live = LiveService(f"svc{index}", index, service, self.now(), self.now())
        self.services[live.id] = live
        self.tell("service", service.name, "create")
        return live.id

    def update_service(self, service_id: str, version: int, service: Service, force: int) -> None:
        live = self._service(service_id)
        check_version(live.version, version)
        if live.value.mode != service.mode:
            raise RejectedError("service mode change is not allowed")
        if live.value.name != service.name:
            raise RejectedError("renaming services is not supported")
        self._check_references(service)
        self.previous[service_id] = (live.value, live.force_update)
        self.services[service_id] = dataclasses.replace(
            live,
            version=self.next_index(),
            value=service,
            updated_at=self.now(),
            force_update=force,
            update_state="",  # whatever was changed (swarmkit: controlapi UpdateService)
            previous_configs=frozenset(item.name for item in live.value.configs),
        )
        self.tell("service", service.name, "update")

    def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        live = self._service(service_id)
        adjusted = adjusted_service(live.value, service)
        self.update_service(service_id, version, adjusted, live.force_update)

    def set_update_state(self, service_id: str, state: str) -> None:
        """Swarm notes an update's progress in the service itself, which takes a new version."""
        live, now = self.services[service_id], self.now()
        self.services[service_id] = dataclasses.replace(
            live,
            version=self.next_index(),
            updated_at=now,
            update_state=state,
            update_started_at=now if state == "updating" else live.update_started_at,
        )
        self.tell("service", live.value.name, "update")

    def roll_back(self, service_id: str) -> None:
        """Swarm takes an update back: the service is what it was before its last change, which
        need not have been the update's (swarmkit: updater.rollbackUpdate)."""
        live = self.services[service_id]
        value, force = self.previous.pop(service_id)
        self.services[service_id] = dataclasses.replace(
            live,
            version=self.next_index(),
            value=value,
            force_update=force,
            updated_at=self.now(),
            update_state="rollback_started",
        )
        self.tell("service", value.name, "rollback")

    def remove_service(self, service_id: str) -> None:
        live = self._service(service_id)
        del self.services[service_id]
        self.tell("service", live.value.name, "remove")

    def _service(self, service_id: str) -> LiveService:
        if service_id not in self.services:
            raise ConflictError(f"service {service_id} not found")
        return self.services[service_id]

    def _check_references(self, service: Service) -> None:
        for kind, known, names in (
            (
                "network",
                self.networks,
                [item.network for item in service.networks if item.network != HOST_NETWORK],
            ),
            ("config", self.configs, [item.name for item in service.configs]),
            ("secret", self.secrets, [item.name for item in service.secrets]),
        ):
            for name in names:
                if not any(live.value.name == name for live in known.values()):
                    raise ConflictError(f"{service.name} refers to {kind} {name!r}, which is gone")

    # Networks, secrets and configs

    def create_network(self, network: Network) -> None:
        unused(network.name, self.networks, "network with name {} already exists")
        self.networks[network.name] = Live(f"net{self.next_index()}", 0, network)
        self.tell("network", network.name, "create")

    def remove_network(self, network_id: str) -> None:
        name = name_of(network_id, self.networks, "network")
        self._refuse_in_use("network", name)
        del self.networks[name]
        self.tell("network", name, "remove")

    def create_secret(self, secret: Secret, text: str | None = None) -> None:
        unused(secret.name, self.secrets, "secret {} already exists")
        index = self.next_index()
        self.secret_texts.pop(secret.name, None)
        if text is not None:
            self.secret_texts[secret.name] = text
        self.secrets[secret.name] = Live(f"sec{index}", index, secret)
        self.secret_values[secret.name] = index
        self.tell("secret", secret.name, "create")

    def remove_secret(self, name: str) -> None:
        """By hand only: the port has no such call."""
        self._refuse_in_use("secret", name)
        del self.secrets[name]
        self.tell("secret", name, "remove")

    def create_config(self, config: Config) -> None:
        unused(config.name, self.configs, "config {} already exists")
        index = self.next_index()
        self.configs[config.name] = Live(f"cfg{index}", index, config)
        self.tell("config", config.name, "create")

    def label_config(self, config_id: str, version: int, config: Config) -> None:
        name = name_of(config_id, self.configs, "config")
        live = self.configs[name]
        check_version(live.version, version)
        if live.value.data != config.data:
            raise RejectedError("only updates to Labels are allowed")
        self.configs[name] = Live(live.id, self.next_index(), config)
        self.tell("config", name, "update")

    def remove_config(self, config_id: str) -> None:
        name = name_of(config_id, self.configs, "config")
        self._refuse_in_use("config", name)
        del self.configs[name]
        self.tell("config", name, "remove")

    def _refuse_in_use(self, kind: str, name: str) -> None:
        users = [live.value.name for live in self.services.values() if name in refers(live, kind)]
        if users:
            raise UnavailableError(
                f"{kind} '{name}' is in use by the following service: {users[0]}"
            )


def refers(live: LiveService, kind: str) -> Iterator[str]:
    match kind:
        case "network":
            return (item.network for item in live.value.networks)
        case "config":
            return (item.name for item in live.value.configs)
        case _:
            return (item.name for item in live.value.secrets)


def check_version(present: int, given: int) -> None:
    if present != given:
        raise ConflictError("rpc error: code = Unknown desc = update out of sequence")


def unused(name: str, known: Mapping[str, object], text: str) -> None:
    if name in known:
        raise ConflictError(text.format(name))


def name_of(object_id: str, known: Mapping[str, Live[T]], kind: str) -> str:
    for name, live in known.items():
        if live.id == object_id:
            return name
    raise ConflictError(f"{kind} {object_id} not found")


def running_containers(store: SwarmStore) -> Iterator[tuple[LiveService, FakeTask]]:
    """Yield the containers that really run, whatever the managers believe."""
    for task in store.tasks.values():
        live = store.services.get(task.service_id)
        if live is not None and task.has_container:
            yield live, task
