"""Actions over Docker Swarm, as values: nodes, networks, secrets, configs and services.

Invariant: an action that changes an object names the version that was observed (of a node: the
values of its labels), and no action removes a secret or a volume.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from queenright.core.actions.action import Action
from queenright.core.postgres.connection_uri import UrlTemplate
from queenright.core.swarm.objects import Config, Network, Secret, Service


@dataclass(frozen=True, slots=True)
class LabelNode(Action):
    """Set (or, with None, remove) labels on a node; other labels stay as they are.

    ``before`` are the observed values of the same labels, None for one that is not there. A node's
    version also changes when it comes and goes, and with each other cluster's labels on it.
    """

    node: str
    node_id: str
    before: Mapping[str, str | None]
    labels: Mapping[str, str | None]

    @property
    def key(self) -> str:
        return f"label-node/{self.node}"


@dataclass(frozen=True, slots=True)
class CreateNetwork(Action):
    network: Network

    @property
    def key(self) -> str:
        return f"create-network/{self.network.name}"


@dataclass(frozen=True, slots=True)
class RemoveNetwork(Action):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-network/{self.name}"


@dataclass(frozen=True, slots=True)
class CreateSecret(Action):
    """Create a secret from 32 random bytes, base64 (spec: §2.3); this value never holds them."""

    secret: Secret

    @property
    def key(self) -> str:
        return f"create-secret/{self.secret.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUrlSecret(Action):
    """Create a secret from a connection string and the password in another secret; this value holds
    neither the whole string nor the password."""

    secret: Secret
    url: UrlTemplate
    password_secret: str

    @property
    def key(self) -> str:
        return f"create-secret/{self.secret.name}"


@dataclass(frozen=True, slots=True)
class CreateConfig(Action):
    config: Config

    @property
    def key(self) -> str:
        return f"create-config/{self.config.name}"


@dataclass(frozen=True, slots=True)
class LabelConfig(Action):
    """Replace a config's labels, the only part of a config that swarm lets change."""

    id: str
    version: int
    config: Config

    @property
    def key(self) -> str:
        return f"label-config/{self.config.name}"


@dataclass(frozen=True, slots=True)
class NoteMembers(Action):
    """Write other places of the members into the state config, at the version that was observed:
    before a member is created, and after its service and its vote are gone. ``config`` is the state
    config with all its labels."""

    id: str
    version: int
    config: Config

    @property
    def key(self) -> str:
        return f"note-members/{self.config.name}"


@dataclass(frozen=True, slots=True)
class RemoveConfig(Action):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-config/{self.name}"


@dataclass(frozen=True, slots=True)
class CreateService(Action):
    service: Service

    @property
    def key(self) -> str:
        return f"create-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class UpdateService(Action):
    """Replace a service's specification, at the version that was observed.

    ``force_update`` is swarm's own counter; one more than observed restarts the tasks.
    """

    id: str
    version: int
    service: Service
    force_update: int

    @property
    def key(self) -> str:
        return f"update-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class AdjustService(Action):
    """Write a service's labels, replica count and update policies, and nothing else: the task
    template keeps every byte, so that swarm restarts no task."""

    id: str
    version: int
    service: Service

    @property
    def key(self) -> str:
        return f"adjust-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class RestartService(Action):
    """Start a service's tasks again after swarm has stopped trying."""

    id: str
    version: int
    service: Service
    force_update: int

    @property
    def key(self) -> str:
        return f"restart-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class RemoveService(Action):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-service/{self.name}"


AnySwarmAction: TypeAlias = (
    LabelNode
    | CreateNetwork
    | RemoveNetwork
    | CreateSecret
    | CreateConfig
    | LabelConfig
    | NoteMembers
    | RemoveConfig
    | CreateService
    | UpdateService
    | AdjustService
    | RestartService
    | RemoveService
)
