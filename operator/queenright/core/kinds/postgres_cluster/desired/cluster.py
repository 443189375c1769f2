"""Desired state of a cluster as values: its members, and all else that its document asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from queenright.core.kinds.postgres_cluster.desired.base_backup import BackupPlan
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import Way
from queenright.core.kinds.postgres_cluster.desired.policy import Policy
from queenright.core.kinds.postgres_cluster.desired.repository import (
    DesiredRepository,
)
from queenright.core.kinds.postgres_cluster.desired.restore import (
    NO_RESTORE,
    DesiredRestore,
)
from queenright.core.kinds.postgres_cluster.desired.virtual_ip import DesiredVip
from queenright.core.kinds.postgres_cluster.topology.replaced import NO_REPLACEMENT, Replacement
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED, Topology
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    Config,
    Network,
    NodeLabels,
    Secret,
    Service,
)


@dataclass(frozen=True, slots=True)
class DesiredMember:
    """A database member: its service, and where others reach it."""

    name: str
    node: str
    address: str
    service: Service


@dataclass(frozen=True, slots=True)
class RenamedSecret:
    """A field that names another secret than members run with; ``members`` maps those members'
    services to their secrets."""

    field: str
    desired: str
    members: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class DesiredCluster:
    """Everything that one document asks of the swarm."""

    name: str
    members: tuple[DesiredMember, ...]
    proxy: Service
    proxy_nodes: tuple[str, ...]
    network: Network
    secrets: tuple[Secret, ...]
    data_secrets: frozenset[str]
    """Names of the secrets whose passwords are in the database."""
    template: Config
    follower_template: Config
    haproxy: Config
    route: Config
    state_config: Config
    node_labels: tuple[NodeLabels, ...]
    member_label: str
    proxy_label: str
    rest_api_port: int
    policy: Policy
    raft_port: int
    postgresql_port: int
    primary_port: int
    """The proxies' read-write port (spec: §4.2)."""
    superuser_secret: str
    rest_secret: str
    """Name of the secret with the REST API's password; empty where it has none."""
    settings: Mapping[str, Any]
    """Patroni's settings for the whole cluster, in the form of its ``/config``."""
    catalog: DesiredCatalog = NO_CATALOG
    """Roles and databases: the file's own and those that applications claim."""
    vip: DesiredVip | None = None
    ways: tuple[Way, ...] = ()
    """All ports by which members may be reached while they are changed; one where they are not."""
    renamed_secrets: tuple[RenamedSecret, ...] = ()
    """Passwords for which the file names another secret than the members run with."""
    topology: Topology = UNCHANGED
    """The members that the file adds and takes away."""
    given_secrets: tuple[str, ...] = ()
    """Names of the secrets that somebody else makes: the repositories' credentials and CAs."""
    restore: DesiredRestore = NO_RESTORE
    """The backup that a new cluster begins with, by the file."""
    archive: str = ""
    """The place where the WAL is archived, for people; empty where it is not."""
    base_backups: BackupPlan | None = None
    """The schedule of base backups, and all that goes with it; None where none are made."""
    replacement: Replacement = NO_REPLACEMENT
    """The members that the operator sends to other nodes by itself, and those it may."""
    repository: DesiredRepository | None = None
    """The repository on a volume; None where the backups go elsewhere, or nowhere."""

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        mounted = {file.name for member in self.members for file in member.service.configs}
        templates = (self.template, self.follower_template)
        used = tuple(config for config in templates if config.name in mounted)
        vip = () if self.deployable_vip is None else (self.deployable_vip.config,)
        return (*used, self.haproxy, self.route, *vip, self.state_config)

    @property
    def rendered(self) -> tuple[Config, ...]:
        """The configs as they come from the document alone, whether they can be deployed or not."""
        vip = () if self.vip is None else (self.vip.config,)
        return (self.template, self.follower_template, self.haproxy, self.route, *vip)

    @cached_property
    def services(self) -> tuple[Service, ...]:
        vip = () if self.deployable_vip is None else (self.deployable_vip.service,)
        stored = () if self.repository is None else (self.repository.service,)
        return (*stored, *(member.service for member in self.members), self.proxy, *vip)

    @property
    def deployable_vip(self) -> DesiredVip | None:
        """The virtual address, as far as all of its peers are known."""
        return self.vip if self.vip is not None and not self.vip.missing else None

    @property
    def way(self) -> Way:
        """The ports by which each member is to be reached in the end."""
        return Way(self.postgresql_port, self.rest_api_port)

    @cached_property
    def digest(self) -> str:
        return digest(self)
