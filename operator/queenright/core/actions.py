"""Everything that the operator can do to the world, as values.

An action carries what its execution needs and what its audit line says: a key that names the
deed and its object, a reason, the fields it changes, and whom it disturbs. There is deliberately
no action that removes a volume, a data directory or a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict

from queenright.core.app.database_url import UrlTemplate
from queenright.core.deeds import Deed, FieldChange
from queenright.core.resources import Config, Network, Secret, Service
from queenright.core.sql_actions import (
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    CreateRole,
    SqlAction,
    SqlDeed,
)

# fmt: off
__all__ = (
    "Action", "AdjustService", "AlterDatabase", "AlterRole", "Asked", "CreateConfig",
    "CreateDatabase", "CreateExtension", "CreateNetwork", "CreateRole", "CreateSecret",
    "CreateService", "CreateUrlSecret", "Deed", "FailOver", "FieldChange", "LabelConfig",
    "LabelNode", "PatchSettings", "PatroniAction", "PatroniDeed", "RemoveConfig",
    "RemoveNetwork", "RemoveService", "RestartPostgres", "RestartService", "SqlAction",
    "SqlDeed", "SwarmAction", "SwitchOver", "UpdateService",
)
# fmt: on


@dataclass(frozen=True, slots=True)
class LabelNode(Deed):
    """Set (or, with None, remove) labels on a node; other labels stay as they are."""

    node: str
    node_id: str
    version: int
    labels: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"label-node/{self.node}"


@dataclass(frozen=True, slots=True)
class CreateNetwork(Deed):
    network: Network

    @property
    def key(self) -> str:
        return f"create-network/{self.network.name}"


@dataclass(frozen=True, slots=True)
class RemoveNetwork(Deed):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-network/{self.name}"


@dataclass(frozen=True, slots=True)
class CreateSecret(Deed):
    """Create a secret from 32 random bytes, base64 (spec: §2.3); the value is never seen here."""

    secret: Secret

    @property
    def key(self) -> str:
        return f"create-secret/{self.secret.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUrlSecret(Deed):
    """Create a secret out of a connection string and the password in another secret; neither the
    whole string nor the password is ever seen here."""

    secret: Secret
    url: UrlTemplate
    password_secret: str

    @property
    def key(self) -> str:
        return f"create-secret/{self.secret.name}"


@dataclass(frozen=True, slots=True)
class CreateConfig(Deed):
    config: Config

    @property
    def key(self) -> str:
        return f"create-config/{self.config.name}"


@dataclass(frozen=True, slots=True)
class LabelConfig(Deed):
    """Replace a config's labels: the only part of a config that swarm lets change."""

    id: str
    version: int
    config: Config

    @property
    def key(self) -> str:
        return f"label-config/{self.config.name}"


@dataclass(frozen=True, slots=True)
class RemoveConfig(Deed):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-config/{self.name}"


@dataclass(frozen=True, slots=True)
class CreateService(Deed):
    service: Service

    @property
    def key(self) -> str:
        return f"create-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class UpdateService(Deed):
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
class AdjustService(Deed):
    """Write a service's labels, replica count and update policies, and nothing else: its task
    template stays to the byte as it is, so that no task is restarted."""

    id: str
    version: int
    service: Service

    @property
    def key(self) -> str:
        return f"adjust-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class RestartService(Deed):
    """Start a service's tasks again after swarm itself has given up on them."""

    id: str
    version: int
    service: Service
    force_update: int

    @property
    def key(self) -> str:
        return f"restart-service/{self.service.name}"


@dataclass(frozen=True, slots=True)
class RemoveService(Deed):
    id: str
    name: str

    @property
    def key(self) -> str:
        return f"remove-service/{self.name}"


class Asked(TypedDict):
    """Whom a verb of Patroni's asks: the fields that ``PatroniDeed`` adds, by name."""

    cluster: str
    address: str
    port: int
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatroniDeed(Deed):
    """What the REST API's verbs share: whom to ask. ``secret`` names the swarm secret with the
    REST API's password; empty where it has none."""

    cluster: str
    address: str
    port: int
    secret: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchSettings(PatroniDeed):
    """Merge ``patch`` into Patroni's cluster-wide settings, if they still are as ``expected``: the
    same keys, with the values that were observed (None: absent). ``aspect`` names what it is for,
    since several rules write here."""

    aspect: str
    patch: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def key(self) -> str:
        return f"{self.aspect}/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOver(PatroniDeed):
    """A planned change of leader, asked for once: what comes of it is observed. ``timeline`` is
    the former leader's; ``disturbs`` is its service."""

    leader: str
    candidate: str
    timeline: int

    @property
    def key(self) -> str:
        return f"switchover/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOver(PatroniDeed):
    """An emergency change of leader, which may lose data: only ever asked for by a person."""

    candidate: str

    @property
    def key(self) -> str:
        return f"failover/{self.cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPostgres(PatroniDeed):
    """Restart PostgreSQL in a member whose settings wait for it; its container goes on.
    ``disturbs`` is its service."""

    member: str

    @property
    def key(self) -> str:
        return f"restart-postgres/{self.cluster}_{self.member}"


SwarmAction: TypeAlias = (
    LabelNode
    | CreateNetwork
    | RemoveNetwork
    | CreateSecret
    | CreateConfig
    | LabelConfig
    | RemoveConfig
    | CreateService
    | UpdateService
    | AdjustService
    | RestartService
    | RemoveService
)
PatroniAction: TypeAlias = PatchSettings | SwitchOver | FailOver | RestartPostgres
Action: TypeAlias = SwarmAction | CreateUrlSecret | PatroniAction | SqlAction
