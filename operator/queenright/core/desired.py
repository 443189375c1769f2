"""What a cluster's document means in the swarm's terms.

Decides every property of every object from the document and the nodes' addresses alone.
Invariant: the same document and addresses give the same objects, so a converged cluster shows no
difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from queenright.core.actions import Asked
from queenright.core.catalog import NO_CATALOG, DesiredCatalog, merged
from queenright.core.catalog_wishes import catalog_of
from queenright.core.digest import digest
from queenright.core.membership import Place, encode_places
from queenright.core.render.haproxy_cfg import render_haproxy_cfg
from queenright.core.render.patroni_yml import (
    dynamic_configuration,
    local_part,
    render_patroni_template,
)
from queenright.core.render.route_lua import render_route_lua
from queenright.core.resources import (
    CLUSTER_LABEL,
    DELETION_POLICY_LABEL,
    LOCAL_DIGEST_LABEL,
    MEMBERS_LABEL,
    NODE_LABELS_LABEL,
    Config,
    Network,
    NodeLabels,
    Secret,
    Service,
)
from queenright.core.services import (
    PROXY_LABEL_VALUE,
    member_service,
    proxy_service,
    secret_files,
)
from queenright.core.spec.operations import Canary, Failback, Maintenance, Pausing
from queenright.core.spec.postgres_cluster import Member, PostgresCluster
from queenright.core.vip import DesiredVip, vip_of

ANCHOR_TEXT = b"Queenright keeps its notes about this cluster in the labels of this config.\n"


@dataclass(frozen=True, slots=True)
class DesiredMember:
    """A database member: its service, and where others reach it."""

    name: str
    node: str
    address: str
    service: Service


@dataclass(frozen=True, slots=True)
class Policy:
    """What the owner asks of the running cluster, as it is written: moments are judged by rules.

    ``primary`` is a member's name, or empty for no wish.
    """

    primary: str
    failback: Failback
    fast_switchover: bool
    maintenance: Maintenance
    reconcile: Pausing
    promotion: Pausing
    canary: Canary


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
    """Names of the secrets with which the data was made."""
    template: Config
    follower_template: Config
    haproxy: Config
    route: Config
    anchor: Config
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
    """What Patroni keeps for the whole cluster, in the form of its ``/config``."""
    catalog: DesiredCatalog = NO_CATALOG
    """Roles and databases, the file's own and those that applications wish for."""
    vip: DesiredVip | None = None

    @property
    def configs(self) -> tuple[Config, ...]:
        followers = (self.follower_template,) if len(self.members) > 1 else ()
        vip = () if self.deployable_vip is None else (self.deployable_vip.config,)
        return (self.template, *followers, self.haproxy, self.route, *vip, self.anchor)

    @property
    def services(self) -> tuple[Service, ...]:
        vip = () if self.deployable_vip is None else (self.deployable_vip.service,)
        return (*(member.service for member in self.members), self.proxy, *vip)

    @property
    def deployable_vip(self) -> DesiredVip | None:
        """The virtual address, as far as all of its peers are known."""
        return self.vip if self.vip is not None and not self.vip.missing else None

    def asked(self, member: DesiredMember) -> Asked:
        """What an action needs that asks a member's REST API."""
        return Asked(
            cluster=self.name,
            address=member.address,
            port=self.rest_api_port,
            secret=self.rest_secret,
        )

    @cached_property
    def digest(self) -> str:
        return digest(self)


def addresses_of(cluster: PostgresCluster, nodes: Mapping[str, str]) -> dict[str, str]:
    """Each member's address by member name; ``nodes`` gives the nodes' own by node name.

    Raises KeyError for a node that is not there: placement is checked first.
    """
    return {member.name: member.address or nodes[member.node] for member in cluster.spec.members}


def expand(
    cluster: PostgresCluster, nodes: Mapping[str, str], wishes: DesiredCatalog = NO_CATALOG
) -> DesiredCluster:
    """The document in the swarm's terms; ``nodes`` maps node names to addresses, ``wishes`` are the
    roles and databases that applications need besides."""
    scope, spec = cluster.metadata.name, cluster.spec
    addresses = addresses_of(cluster, nodes)
    owned = {CLUSTER_LABEL: scope}
    text = render_patroni_template(cluster)
    template, follower_template = (
        Config(
            f"{scope}_patroni-{digest(found)}",
            found.encode(),
            {**owned, LOCAL_DIGEST_LABEL: digest(local_part(found))},
        )
        for found in (text, local_part(text))
    )
    preferred = preferred_member(cluster).name
    haproxy, route = proxy_configs(cluster, addresses, owned)
    members = tuple(
        DesiredMember(
            name=member.name,
            node=member.node,
            address=addresses[member.name],
            service=member_service(
                cluster,
                member,
                index,
                addresses,
                template.name if member.name == preferred else follower_template.name,
            ),
        )
        for index, member in enumerate(spec.members, start=1)
    )
    vip = vip_of(cluster, nodes)
    vip_secrets = (vip.secret,) if vip is not None and vip.secret is not None else ()
    return DesiredCluster(
        name=scope,
        members=members,
        proxy=proxy_service(cluster, haproxy.name, route.name),
        proxy_nodes=tuple(spec.proxies.nodes),
        network=Network(spec.network.name, subnet=str(spec.network.subnet or ""), labels=owned),
        secrets=(*(Secret(name, owned) for name, _ in secret_files(cluster)), *vip_secrets),
        data_secrets=frozenset({spec.secrets.replication, spec.secrets.superuser}),
        template=template,
        follower_template=follower_template,
        haproxy=haproxy,
        route=route,
        anchor=anchor_of(cluster, addresses),
        node_labels=tuple(node_labels(cluster)),
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
        catalog=merged(catalog_of(cluster), wishes),
        vip=vip,
    )


def anchor_of(cluster: PostgresCluster, addresses: Mapping[str, str]) -> Config:
    """The config whose labels keep what can't be derived from the swarm."""
    scope, spec = cluster.metadata.name, cluster.spec
    places = [Place(member.name, member.node, addresses[member.name]) for member in spec.members]
    labels = {
        CLUSTER_LABEL: scope,
        DELETION_POLICY_LABEL: spec.deletion_policy,
        NODE_LABELS_LABEL: f"{spec.node_labels.member},{spec.node_labels.proxy}",
        MEMBERS_LABEL: encode_places(places),
    }
    return Config(f"{scope}_cluster", ANCHOR_TEXT, labels)


def policy_of(cluster: PostgresCluster) -> Policy:
    spec = cluster.spec
    return Policy(
        primary=spec.primary or "",
        failback=spec.failback,
        fast_switchover=spec.fast_switchover,
        maintenance=spec.maintenance,
        reconcile=spec.reconcile,
        promotion=spec.promotion,
        canary=spec.canary,
    )


def preferred_member(cluster: PostgresCluster) -> Member:
    """The member that leads first (spec: §1.7): the highest failover priority, the first of equals.
    It alone has the bootstrap section, without which a member waits for a leader to follow."""
    return max(cluster.spec.members, key=lambda member: member.failover_priority)


def node_labels(cluster: PostgresCluster) -> Iterable[NodeLabels]:
    """The labels of §2.7, one value a node: a member's number, and the mark of a proxy node."""
    keys = cluster.spec.node_labels
    wanted: dict[str, dict[str, str | None]] = {}
    for index, member in enumerate(cluster.spec.members, start=1):
        wanted.setdefault(member.node, {})[keys.member] = str(index)
    for node in cluster.spec.proxies.nodes:
        wanted.setdefault(node, {})[keys.proxy] = PROXY_LABEL_VALUE
    return (NodeLabels(node, labels) for node, labels in sorted(wanted.items()))


def proxy_configs(
    cluster: PostgresCluster, addresses: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[Config, Config]:
    """The proxies' configuration, and the script that it loads."""
    scope = cluster.metadata.name
    text, script = render_haproxy_cfg(cluster, addresses), render_route_lua(cluster)
    return (
        Config(f"{scope}_haproxy-{digest(text)}", text.encode(), labels),
        Config(f"{scope}_route-{digest(script)}", script.encode(), labels),
    )
