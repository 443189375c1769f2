"""Checks between cluster documents that are each valid but can't exist side by side.

Decides from all valid clusters at once. Two clusters may share nodes, but no port of a node, no
placement label, no network and no name; sharing a password is unwise, not impossible.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from queenright.core.kinds.postgres_cluster.checks.virtual_ip import (
    passwords_of,
    vips_apart,
    vrrp_secrets,
    vrrp_secrets_apart,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Clash, Document
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.port_claims import PortClaim
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.manifest.shared_objects import Marks, meeting, named, ports, ranges

PairCheck = Callable[[PostgresCluster, PostgresCluster, str], Iterator[Finding]]


def check_clusters_together(documents: Sequence[Document[PostgresCluster]]) -> Iterator[Clash]:
    """Findings between any two clusters, at the later one."""
    for earlier, later in meeting(documents, marks_of):
        whose = f"cluster {earlier.name} ({earlier.origin.file}:{earlier.origin.line})"
        for check in PAIR_CHECKS:
            for finding in check(earlier.resource, later.resource, whose):
                yield Clash(earlier, later, finding)


@lru_cache(maxsize=MOST_DOCUMENTS)
def marks_of(same: Identity[Document[PostgresCluster]]) -> Marks:
    """Everything in which a check below may find that two clusters meet."""
    cluster = same.value.resource
    spec = cluster.spec
    secrets = (spec.secrets.replication, spec.secrets.superuser, spec.secrets.rest_api)
    roles = (role.password_secret for role in spec.roles)
    passwords = (name for _, name in passwords_of(cluster))
    marks = (
        named("label", spec.node_labels.member, spec.node_labels.proxy)
        | ports(*port_claims(cluster))
        | named("network", spec.network.name)
        | ranges(spec.network.subnet)
        | named("secret", *secrets, *roles, *passwords, *vrrp_secrets(cluster))
        | named("address", *(member.address for member in spec.members))
    )
    if spec.vip is not None:
        marks |= named("address", spec.vip.address) | named("router", spec.vip.router_id)
    return marks.compact()


def _labels(earlier: PostgresCluster, later: PostgresCluster, whose: str) -> Iterator[Finding]:
    taken = {earlier.spec.node_labels.member, earlier.spec.node_labels.proxy}
    for field, key in (
        ("member", later.spec.node_labels.member),
        ("proxy", later.spec.node_labels.proxy),
    ):
        if key in taken:
            yield Finding(
                ("spec", "nodeLabels", field),
                f'"{key}" also places the tasks of {whose}, so that either could land on the '
                f'other\'s nodes; write another key such as "{key}-{later.metadata.name}"',
            )


def _ports(earlier: PostgresCluster, later: PostgresCluster, whose: str) -> Iterator[Finding]:
    taken: dict[tuple[str, int], str] = {
        (node, port): path[-1] for nodes, path, port in port_uses(earlier) for node in nodes
    }
    for nodes, path, port in port_uses(later):
        clashes = [node for node in nodes if (node, port) in taken]
        if clashes:
            yield Finding(
                path,
                f"{port} is also used by {whose} on {', '.join(sorted(clashes))}; write another "
                "port or use other nodes",
            )


def port_uses(cluster: PostgresCluster) -> Iterable[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Every port that a cluster has on nodes: the nodes, the field and the port."""
    spec = cluster.spec
    nodes = tuple(member.node for member in spec.members)
    proxies = ("spec", "proxies", "ports")
    volume = spec.backup.repository.volume if spec.backup is not None else None
    repository = ("spec", "backup", "repository", "volume", "port")
    return (
        (nodes, ("spec", "ports", "postgresql"), spec.ports.postgresql),
        (nodes, ("spec", "ports", "raft"), spec.ports.raft),
        (nodes, ("spec", "ports", "restApi"), spec.ports.rest_api),
        (spec.proxies.nodes, (*proxies, "primary"), spec.proxies.ports.primary),
        (spec.proxies.nodes, (*proxies, "replicas"), spec.proxies.ports.replicas),
        (spec.proxies.nodes, (*proxies, "statistics"), spec.proxies.ports.statistics),
        *(((volume.node,), repository, volume.port) for _ in range(volume is not None) if volume),
    )


def port_claims(cluster: PostgresCluster) -> Iterator[PortClaim]:
    """Every port that a cluster asks for."""
    for nodes, path, port in port_uses(cluster):
        yield PortClaim(path, port, frozenset(nodes))


def _network(earlier: PostgresCluster, later: PostgresCluster, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec.network, later.spec.network
    path: Path = ("spec", "network")
    if first.name == second.name:
        message = f'"{second.name}" is also the network of {whose}; write another name'
        yield Finding((*path, "name"), message)
    if first.subnet and second.subnet and first.subnet.overlaps(second.subnet):
        message = f"{second.subnet} overlaps the {first.subnet} of {whose}; write another range"
        yield Finding((*path, "subnet"), message)


def _secrets(earlier: PostgresCluster, later: PostgresCluster, whose: str) -> Iterator[Finding]:
    first, second = earlier.spec.secrets, later.spec.secrets
    taken = {first.replication, first.superuser, first.rest_api}
    for field, name in (
        ("replication", second.replication),
        ("superuser", second.superuser),
        ("restApi", second.rest_api),
    ):
        if name in taken:
            yield Finding(
                ("spec", "secrets", field),
                f"is also a secret of {whose}: who learns the one cluster's password has "
                f"the other's too; write another name, such as one that begins with "
                f"{later.metadata.name}_",
                "warning",
            )


def _role_secrets(
    earlier: PostgresCluster, later: PostgresCluster, whose: str
) -> Iterator[Finding]:
    """Passwords of roles: a secret is the swarm's, whichever cluster made it."""
    secrets = earlier.spec.secrets
    taken = {secrets.replication, secrets.superuser, secrets.rest_api}
    taken |= {role.password_secret for role in earlier.spec.roles if role.password_secret}
    for index, role in enumerate(later.spec.roles):
        if role.password_secret in taken:
            yield Finding(
                ("spec", "roles", index, "passwordSecret"),
                f"is also a secret of {whose}: who learns the one "
                "cluster's password has the other's too; write another name, such as one that "
                f"begins with {later.metadata.name}_",
                "warning",
            )


PAIR_CHECKS: tuple[PairCheck, ...] = (
    _labels,
    _ports,
    _network,
    _secrets,
    _role_secrets,
    vips_apart,
    vrrp_secrets_apart,
)
