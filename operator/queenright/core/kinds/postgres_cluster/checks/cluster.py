"""Checks of a cluster's document that need more than one field.

Decides from one valid `PostgresCluster`. Each check is independent and reports every place that it
finds; what destroys nothing but is likely a mistake is a warning.
"""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address

from queenright.core.kinds.postgres_cluster.checks.backup import BACKUP_CHECKS
from queenright.core.kinds.postgres_cluster.checks.databases import DATABASES_CHECKS
from queenright.core.kinds.postgres_cluster.checks.operations import OPERATIONS_CHECKS
from queenright.core.kinds.postgres_cluster.checks.replication import REPLICATION_CHECKS
from queenright.core.kinds.postgres_cluster.checks.restore import RESTORE_CHECKS
from queenright.core.kinds.postgres_cluster.checks.server import SERVER_CHECKS
from queenright.core.kinds.postgres_cluster.checks.virtual_ip import VIP_CHECKS
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.memory_checks import LEAST_LIMIT, memory_findings
from queenright.core.manifest.problems import Finding, Path, path_text
from queenright.core.manifest.quantities import GIBI, MEBI, format_duration, format_size

Check = Callable[[PostgresCluster], Iterator[Finding]]

SWARM_PORTS = {2377: "swarm management", 7946: "swarm node discovery"}
"""TCP ports that every node's engine uses (spec: database-cluster §2.6)."""

PROXY_NAME = "proxy"
"""Name of the proxies' service within the cluster, and their alias on its network."""

LEAST_MEMBER_MEMORY = 2 * GIBI
"""Memory that a member needs (spec: §7, §8)."""


def check_cluster(cluster: PostgresCluster) -> Iterator[Finding]:
    """Every finding of every check."""
    for check in CHECKS:
        yield from check(cluster)


def _members_differ(cluster: PostgresCluster) -> Iterator[Finding]:
    for field in ("name", "node", "address"):
        first: dict[str, int] = {}
        for index, member in enumerate(cluster.spec.members):
            value = getattr(member, field)
            if value is None:
                continue
            path: Path = ("spec", "members", index, field)
            if value in first:
                other: Path = ("spec", "members", first[value], field)
                why = "; each member needs a node of its own" if field == "node" else ""
                message = f'"{value}" is also the {field} of {path_text(other[:-1])}{why}'
                yield Finding(path, message, involves=(other,))
            first.setdefault(value, index)


def _members_odd(cluster: PostgresCluster) -> Iterator[Finding]:
    count = len(cluster.spec.members)
    if count == 0:
        yield Finding(("spec", "members"), "must have at least one entry, and better three")
    elif count % 2 == 0 and "evenMembers" not in cluster.spec.acknowledge:
        yield Finding(
            ("spec", "members"),
            f"has {count} members; write an odd number such as {count + 1}: {count} survive no "
            f"more failures than {count - 1} (acknowledge: [evenMembers] allows it)",
        )
    elif count == 1:
        message = "has 1 member, which nothing replaces when it fails; 3 survive one failure"
        yield Finding(("spec", "members"), message, "warning")


def _member_names_free(cluster: PostgresCluster) -> Iterator[Finding]:
    for index, member in enumerate(cluster.spec.members):
        if member.name == PROXY_NAME:
            message = f'"{PROXY_NAME}" is what the proxies\' service is called; write another name'
            yield Finding(("spec", "members", index, "name"), message)


def _addresses_in_lan(cluster: PostgresCluster) -> Iterator[Finding]:
    lan = cluster.spec.lan_subnet
    lan_path: Path = ("spec", "lanSubnet")
    for index, member in enumerate(cluster.spec.members):
        if member.address is None:
            continue
        address = IPv4Address(member.address)
        path: Path = ("spec", "members", index, "address")
        if address not in lan:
            message = f'"{address}" is outside lanSubnet {lan}'
            yield Finding(path, message, involves=(lan_path,))
        elif lan.prefixlen < 31 and address in {lan.network_address, lan.broadcast_address}:
            message = f'"{address}" is the network or broadcast address of {lan}, not a node\'s'
            yield Finding(path, message, involves=(lan_path,))


def _lan_bounded(cluster: PostgresCluster) -> Iterator[Finding]:
    if cluster.spec.lan_subnet.prefixlen == 0:
        message = (
            "is every address there is: whoever reaches a port may try passwords, and the last "
            "access rule rejects nobody; write the network of your nodes and clients"
        )
        yield Finding(("spec", "lanSubnet"), message, "warning")


def _networks_apart(cluster: PostgresCluster) -> Iterator[Finding]:
    subnet, lan = cluster.spec.network.subnet, cluster.spec.lan_subnet
    path: Path = ("spec", "network", "subnet")
    if subnet is not None and subnet.overlaps(lan):
        message = f'"{subnet}" overlaps lanSubnet {lan}; an overlay network needs its own range'
        yield Finding(path, message, involves=(("spec", "lanSubnet"),))


def _patroni_times(cluster: PostgresCluster) -> Iterator[Finding]:
    patroni = cluster.spec.patroni
    path: Path = ("spec", "patroni")
    need = patroni.loop_wait_s + 2 * patroni.retry_timeout_s
    if need > patroni.ttl_s:
        yield Finding(
            (*path, "ttl"),
            f"{format_duration(patroni.ttl_s)} is less than loopWait + 2 x retryTimeout = "
            f"{patroni.loop_wait_s}s + 2 x {patroni.retry_timeout_s}s = {need}s; a leader would "
            f"lose its lock while it still tries. Write {need}s or more, or lower the other two",
            involves=((*path, "loopWait"), (*path, "retryTimeout")),
        )


def _ports(cluster: PostgresCluster) -> Iterator[Finding]:
    spec = cluster.spec
    members = [("postgresql", spec.ports.postgresql), ("raft", spec.ports.raft)]
    members.append(("restApi", spec.ports.rest_api))
    proxies = [("primary", spec.proxies.ports.primary), ("replicas", spec.proxies.ports.replicas)]
    proxies.append(("statistics", spec.proxies.ports.statistics))
    member_ports: list[tuple[Path, int]] = [(("spec", "ports", n), port) for n, port in members]
    proxy_ports: list[tuple[Path, int]] = [
        (("spec", "proxies", "ports", n), port) for n, port in proxies
    ]
    for path, port in (*member_ports, *proxy_ports):
        if port in SWARM_PORTS:
            yield Finding(path, f"{port} is taken on every node by {SWARM_PORTS[port]}")
        elif port < 1024:
            message = f"{port} is a privileged port (below 1024), which nodes keep for themselves"
            yield Finding(path, message, "warning")
    nodes = {member.node for member in spec.members}
    shared = sorted(nodes & {*spec.proxies.nodes})
    together = (member_ports + proxy_ports,) if shared else (member_ports, proxy_ports)
    for group in together:
        for position, (path, port) in enumerate(group):
            for other, taken in group[:position]:
                if port == taken:
                    where = f" on {', '.join(shared)}" if path[1] != other[1] else ""
                    message = f"{port} is also {path_text(other)}{where}; write another port"
                    yield Finding(path, message, involves=(other, ("spec", "members")))


def _memory(cluster: PostgresCluster) -> Iterator[Finding]:
    vip = cluster.spec.vip
    parts = (
        (("spec", "memory"), cluster.spec.memory),
        (("spec", "proxies", "memory"), cluster.spec.proxies.memory),
        *(((("spec", "vip", "memory"), vip.memory),) if vip is not None else ()),
    )
    for path, memory in parts:
        yield from memory_findings(path, memory)
    limit_bytes = cluster.spec.memory.limit_bytes
    if LEAST_LIMIT <= limit_bytes < LEAST_MEMBER_MEMORY:
        message = (
            f"{format_size(limit_bytes)} is below 2G: the kernel kills such members (exit status "
            "137), above all during the first base backup"
        )
        yield Finding(("spec", "memory", "limit"), message, "warning")


def _sizes_positive(cluster: PostgresCluster) -> Iterator[Finding]:
    for path, part in (
        (("spec", "tmpfs"), cluster.spec.tmpfs),
        (("spec", "proxies", "tmpfs"), cluster.spec.proxies.tmpfs),
    ):
        for name, field in type(part).model_fields.items():
            if getattr(part, name) < MEBI:
                message = (
                    f"{format_size(getattr(part, name))} is too small to use; write 1M or more"
                )
                yield Finding((*path, field.alias or name), message)


def _times_positive(cluster: PostgresCluster) -> Iterator[Finding]:
    spec = cluster.spec
    timeouts, check, health = spec.proxies.timeouts, spec.proxies.check, spec.health_check
    proxies: Path = ("spec", "proxies")
    for path, seconds in (
        ((*proxies, "timeouts", "connect"), timeouts.connect_s),
        ((*proxies, "timeouts", "client"), timeouts.client_s),
        ((*proxies, "timeouts", "server"), timeouts.server_s),
        ((*proxies, "timeouts", "check"), timeouts.check_s),
        ((*proxies, "check", "interval"), check.interval_s),
        ((*proxies, "statistics", "refresh"), spec.proxies.statistics.refresh_s),
        (("spec", "healthCheck", "interval"), health.interval_s),
        (("spec", "healthCheck", "timeout"), health.timeout_s),
    ):
        if seconds <= 0:
            yield Finding(path, "must be more than 0")
    if timeouts.check_s > check.interval_s:
        message = (
            f"{format_duration(timeouts.check_s)} is longer than check.interval "
            f"{format_duration(check.interval_s)}, so a dead member is noticed later"
        )
        path = (*proxies, "timeouts", "check")
        yield Finding(path, message, "warning", ((*proxies, "check", "interval"),))
    passes, delay = check.interval_s * check.rise, spec.proxies.update.delay_s
    if delay < passes:
        message = (
            f"{format_duration(delay)} is less than interval x rise of check = "
            f"{format_duration(passes)}: the next proxy would be replaced before this one routes"
        )
        path = (*proxies, "update", "delay")
        yield Finding(path, message, "warning", ((*proxies, "check"),))
    if health.start_period_s == 0:
        message = "0 is to Docker what the image says (30s): write 1s for next to none"
        yield Finding(("spec", "healthCheck", "startPeriod"), message, "warning")
    if spec.stop_grace_period_s < 30:
        message = (
            f"{format_duration(spec.stop_grace_period_s)} may be too short for PostgreSQL's last "
            "checkpoint, after which it is killed and must recover; 30s or more is safer"
        )
        yield Finding(("spec", "stopGracePeriod"), message, "warning")


def _proxy_nodes(cluster: PostgresCluster) -> Iterator[Finding]:
    nodes = cluster.spec.proxies.nodes
    path: Path = ("spec", "proxies", "nodes")
    if not nodes and cluster.spec.members:
        message = "must have at least one node; without the field, the members' nodes are taken"
        yield Finding(path, message)
    for index, node in enumerate(nodes):
        if node in nodes[:index]:
            yield Finding((*path, index), f'"{node}" is listed twice; remove one')


def _names_apart(cluster: PostgresCluster) -> Iterator[Finding]:
    labels, secrets = cluster.spec.node_labels, cluster.spec.secrets
    if labels.member == labels.proxy:
        other: Path = ("spec", "nodeLabels", "member")
        message = f'"{labels.proxy}" is also nodeLabels.member; a label has one value on a node'
        yield Finding(("spec", "nodeLabels", "proxy"), message, involves=(other,))
    seen: dict[str, str] = {}
    for field, name in (
        ("replication", secrets.replication),
        ("superuser", secrets.superuser),
        ("restApi", secrets.rest_api),
    ):
        if name in seen:
            message = (
                f"is also secrets.{seen[name]}: who learns the one password has the "
                "other too; use a secret of its own"
            )
            involved: Path = ("spec", "secrets", seen[name])
            yield Finding(("spec", "secrets", field), message, "warning", (involved,))
        seen.setdefault(name, field)


CHECKS: tuple[Check, ...] = (
    _members_differ,
    _members_odd,
    _member_names_free,
    _addresses_in_lan,
    _lan_bounded,
    _networks_apart,
    _patroni_times,
    _ports,
    _memory,
    _sizes_positive,
    _times_positive,
    _proxy_nodes,
    _names_apart,
    *SERVER_CHECKS,
    *REPLICATION_CHECKS,
    *BACKUP_CHECKS,
    *RESTORE_CHECKS,
    *OPERATIONS_CHECKS,
    *DATABASES_CHECKS,
    *VIP_CHECKS,
)
