"""Expands a cluster's document into Swarm objects.

Decides every property of every object from the document and the nodes' addresses alone. Invariant:
the same document and addresses give the same objects, so a converged cluster shows no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from queenright.core.kinds.postgres_cluster.desired.backup import archive_of, backup_files
from queenright.core.kinds.postgres_cluster.desired.base_backup import backup_plan
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.desired.databases import catalog_of
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import Way, render_haproxy_cfg
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import (
    dynamic_configuration,
    local_part,
    render_patroni_template,
)
from queenright.core.kinds.postgres_cluster.desired.policy import policy_of
from queenright.core.kinds.postgres_cluster.desired.repository import (
    RepositoryPlace,
    repository_of,
    volume_of,
    with_endpoint,
)
from queenright.core.kinds.postgres_cluster.desired.restore import (
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
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog, merge_catalogs
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    LOCAL_DIGEST_LABEL,
    Config,
    Network,
    NodeLabels,
    Secret,
)
from queenright.core.swarm.one_object import one_data


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
    return Config(f"{scope}_patroni-{digest(text)}", one_data(text.encode()), found)


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
        Config(f"{scope}_haproxy-{digest(text)}", one_data(text.encode()), labels),
        Config(f"{scope}_route-{digest(script)}", one_data(script.encode()), labels),
    )
