"""Desired state of a cluster: its document as Swarm objects.

Decides every property of every object from the document and the nodes' addresses alone. Invariant:
the same document and addresses give the same objects, so a converged cluster shows no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from queenright.core.kinds.postgres_cluster.desired.backup import archive_of, backup_files
from queenright.core.kinds.postgres_cluster.desired.base_backup import BackupPlan, backup_plan
from queenright.core.kinds.postgres_cluster.desired.databases import catalog_of
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import Way, render_haproxy_cfg
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import (
    dynamic_configuration,
    local_part,
    render_patroni_template,
)
from queenright.core.kinds.postgres_cluster.desired.policy import Policy, policy_of
from queenright.core.kinds.postgres_cluster.desired.repository import (
    DesiredRepository,
    RepositoryPlace,
    repository_of,
    volume_of,
    with_endpoint,
)
from queenright.core.kinds.postgres_cluster.desired.restore import (
    NO_RESTORE,
    DesiredRestore,
    restore_of,
)
from queenright.core.kinds.postgres_cluster.desired.route_lua import render_route_lua
from queenright.core.kinds.postgres_cluster.desired.services import (
    PROXY_LABEL_VALUE,
    member_service,
    proxy_service,
    secret_files,
)
from queenright.core.kinds.postgres_cluster.desired.state_config import state_config_of
from queenright.core.kinds.postgres_cluster.desired.virtual_ip import DesiredVip, vip_of
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.members import Member
from queenright.core.kinds.postgres_cluster.topology.replaced import NO_REPLACEMENT, Replacement
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED, Topology
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog, merge_catalogs
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    LOCAL_DIGEST_LABEL,
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


def addresses_of(cluster: PostgresCluster, nodes: Mapping[str, str]) -> dict[str, str]:
    """Each member's address by member name; ``nodes`` gives the nodes' own by node name.

    Raises KeyError for a node that is not there: placement is checked first.
    """
    return {member.name: member.address or nodes[member.node] for member in cluster.spec.members}


def desired_members(
    cluster: PostgresCluster,
    addresses: Mapping[str, str],
    templates: Mapping[str, Config],
    numbers: Sequence[int],
    volumes: Mapping[str, str],
    *,
    restored: str,
) -> Iterator[DesiredMember]:
    """Each member with its service; ``templates`` are those of each by name, ``restored`` is the
    one that begins the cluster from a backup."""
    for index, member in zip(numbers, cluster.spec.members, strict=True):
        mounted = templates[member.name]
        named = volumes.get(member.name, "")
        service = member_service(
            cluster, member, index, addresses, mounted.name, named,
            is_restored=member.name == restored,
        )  # fmt: skip
        yield DesiredMember(member.name, member.node, addresses[member.name], service)


def expand(
    cluster: PostgresCluster,
    nodes: Mapping[str, str],
    claims: DesiredCatalog = NO_CATALOG,
    deployed_ways: Iterable[Way] = (),
    *,
    was_whole: bool = False,
    numbers: Sequence[int] = (),
    volumes: Mapping[str, str] = MappingProxyType({}),
    repository: RepositoryPlace | None = None,
) -> DesiredCluster:
    """Desired state of a cluster.

    ``nodes`` maps node names to addresses, ``claims`` are the roles and databases that applications
    claim, ``deployed_ways`` the ports that members listen on now. ``was_whole`` is True if the
    cluster was healthy once: from then on no member may initialise a new, empty one. ``numbers``
    are the members', where not their positions; ``volumes`` names those of renamed ones.
    """
    cluster = with_endpoint(cluster, nodes, repository)
    scope, spec = cluster.metadata.name, cluster.spec
    numbers = numbers or range(1, len(spec.members) + 1)
    addresses = addresses_of(cluster, nodes)
    owned = {CLUSTER_LABEL: scope}
    text = render_patroni_template(cluster)
    template, follower_template = (
        patroni_config(scope, found, owned) for found in (text, local_part(text))
    )
    ports = spec.ports
    ways = tuple(sorted({Way(ports.postgresql, ports.rest_api), *deployed_ways}))
    haproxy, route = proxy_configs(cluster, addresses, owned, ways)
    first = "" if was_whole else preferred_member(cluster).name
    templates = {m.name: template if m.name == first else follower_template for m in spec.members}
    members = tuple(
        desired_members(cluster, addresses, templates, numbers, volumes, restored=first)
    )
    restore = restore_of(cluster, was_whole=was_whole)
    vip = vip_of(cluster, nodes)
    return DesiredCluster(
        name=scope,
        members=members,
        proxy=proxy_service(cluster, haproxy.name, route.name),
        proxy_nodes=tuple(spec.proxies.nodes),
        network=Network(spec.network.name, subnet=str(spec.network.subnet or ""), labels=owned),
        secrets=(*(Secret(name, owned) for name, _ in secret_files(cluster)), *vip_secrets(vip)),
        data_secrets=frozenset({spec.secrets.replication, spec.secrets.superuser}),
        template=template,
        follower_template=follower_template,
        haproxy=haproxy,
        route=route,
        state_config=state_config_of(cluster, addresses, numbers, volumes),
        node_labels=tuple(node_labels(cluster, numbers)),
        member_label=spec.node_labels.member,
        proxy_label=spec.node_labels.proxy,
        rest_api_port=spec.ports.rest_api,
        raft_port=spec.ports.raft,
        postgresql_port=spec.ports.postgresql,
        primary_port=spec.proxies.ports.primary,
        superuser_secret=spec.secrets.superuser,
        rest_secret=spec.secrets.rest_api if spec.rest_api.authentication != "none" else "",
        policy=policy_of(cluster),
        settings=dynamic_configuration(cluster),
        catalog=merge_catalogs(catalog_of(cluster), claims),
        vip=vip,
        ways=ways,
        given_secrets=given_secrets(cluster, restore),
        restore=restore,
        archive=archive_of(cluster),
        base_backups=backup_plan(cluster),
        repository=repository_of(cluster, nodes, repository),
    )


def vip_secrets(vip: DesiredVip | None) -> tuple[Secret, ...]:
    return (vip.secret,) if vip is not None and vip.secret is not None else ()


def given_secrets(cluster: PostgresCluster, restore: DesiredRestore) -> tuple[str, ...]:
    """Names of the secrets that somebody else makes."""
    volume = volume_of(cluster)
    certificate = {volume.certificate} if volume is not None and volume.certificate else set()
    return tuple(sorted({*(n for n, _ in backup_files(cluster)), *restore.secrets, *certificate}))


def preferred_member(cluster: PostgresCluster) -> Member:
    """The member that leads first (spec: §1.7): the highest failover priority, the first of equals.
    It alone has the bootstrap section, without which a member waits for a leader to follow; and it
    has it only until the cluster was healthy once."""
    return max(cluster.spec.members, key=lambda member: member.failover_priority)


def node_labels(cluster: PostgresCluster, numbers: Sequence[int] = ()) -> Iterable[NodeLabels]:
    """The labels of §2.7, one value a node: a member's number, and the mark of a proxy node."""
    keys = cluster.spec.node_labels
    wanted: dict[str, dict[str, str | None]] = {}
    numbers = numbers or range(1, len(cluster.spec.members) + 1)
    for index, member in zip(numbers, cluster.spec.members, strict=True):
        wanted.setdefault(member.node, {})[keys.member] = str(index)
    for node in cluster.spec.proxies.nodes:
        wanted.setdefault(node, {})[keys.proxy] = PROXY_LABEL_VALUE
    return (NodeLabels(node, labels) for node, labels in sorted(wanted.items()))


def patroni_config(scope: str, text: str, labels: Mapping[str, str]) -> Config:
    """A member's template, with the digest of what a running member reads again."""
    found = {**labels, LOCAL_DIGEST_LABEL: digest(local_part(text))}
    return Config(f"{scope}_patroni-{digest(text)}", text.encode(), found)


def proxy_configs(
    cluster: PostgresCluster,
    addresses: Mapping[str, str],
    labels: Mapping[str, str],
    ways: Sequence[Way],
) -> tuple[Config, Config]:
    """The proxies' configuration, and the script that it loads."""
    scope = cluster.metadata.name
    text = render_haproxy_cfg(cluster, addresses, ways)
    script = render_route_lua(cluster, has_several_ways=len(ways) > 1)
    return (
        Config(f"{scope}_haproxy-{digest(text)}", text.encode(), labels),
        Config(f"{scope}_route-{digest(script)}", script.encode(), labels),
    )
