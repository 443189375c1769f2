"""The faults of a cluster's document on this swarm, as its nodes are now.

Decides from one valid document and the nodes that swarm lists. What the operator could never place
is an error; what works but is unwise, or passes by itself, a warning.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address

from queenright.core.kinds.postgres_cluster.checks.virtual_ip import vip_on_nodes
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.manifest.suggestions import did_you_mean
from queenright.core.observed import Node


def check_placement(
    cluster: PostgresCluster, nodes: Sequence[Node], places: Mapping[str, str] | None = None
) -> Iterator[Finding]:
    """The cluster's faults on these nodes; ``places`` are the nodes of deployed members by their
    numbers."""
    by_name = {node.name: node for node in nodes}
    yield from _members(cluster, by_name)
    yield from _proxies(cluster, by_name)
    yield from _drill(cluster, by_name)
    yield from _repository(cluster, by_name)
    numbers = {str(number): m.node for number, m in enumerate(cluster.spec.members, start=1)}
    yield from _labels(cluster, nodes, places or numbers)
    yield from vip_on_nodes(cluster, {node.name: node.address for node in nodes})


def _members(cluster: PostgresCluster, nodes: dict[str, Node]) -> Iterator[Finding]:
    lan = cluster.spec.lan_subnet
    reached: dict[str, str] = {}
    for index, member in enumerate(cluster.spec.members):
        path: Path = ("spec", "members", index, "node")
        node = nodes.get(member.node)
        if node is None:
            yield Finding(path, _no_node(member.node, nodes))
            continue
        address = member.address or node.address
        if member.address is None and not _within(address, cluster):
            yield Finding(
                path,
                f'swarm knows "{node.name}" by {address or "no address"}, outside lanSubnet {lan}; '
                "write the member's address, or the right subnet",
            )
        elif address in reached:
            message = f"{address} is also the address of {reached[address]}"
            yield Finding(path, message)
        reached.setdefault(address, member.name)
        if node.role == "manager":
            yield Finding(
                path,
                f'"{node.name}" is a manager; a worker is better, so that a busy database or its '
                "failing node does not shake the managers' quorum (spec: §1.7)",
                "warning",
            )
        yield from _readiness(path, node)


def _proxies(cluster: PostgresCluster, nodes: dict[str, Node]) -> Iterator[Finding]:
    members = {member.node for member in cluster.spec.members}
    for index, name in enumerate(cluster.spec.proxies.nodes):
        path: Path = ("spec", "proxies", "nodes", index)
        node = nodes.get(name)
        if node is None:
            if name not in members:
                yield Finding(path, _no_node(name, nodes))
        elif name not in members:
            yield from _readiness(path, node)


def _drill(cluster: PostgresCluster, nodes: dict[str, Node]) -> Iterator[Finding]:
    backup = cluster.spec.backup
    if backup is None or backup.drill is None:
        return
    path: Path = ("spec", "backup", "drill", "node")
    name = backup.drill.node
    if (node := nodes.get(name)) is None:
        yield Finding(path, _no_node(name, nodes))
    elif all(name != member.node for member in cluster.spec.members):
        yield from _readiness(path, node)


def _repository(cluster: PostgresCluster, nodes: dict[str, Node]) -> Iterator[Finding]:
    volume = cluster.spec.backup.repository.volume if cluster.spec.backup is not None else None
    if volume is None:
        return
    path: Path = ("spec", "backup", "repository", "volume", "node")
    if (node := nodes.get(volume.node)) is None:
        yield Finding(path, _no_node(volume.node, nodes))
        return
    address = volume.address or node.address
    if not volume.address and not _within(address, cluster):
        message = (
            f'swarm knows "{node.name}" by {address or "no address"}, outside lanSubnet '
            f"{cluster.spec.lan_subnet}; write the volume's address"
        )
        yield Finding(path, message, "warning")
    if all(volume.node != member.node for member in cluster.spec.members):
        yield from _readiness(path, node)


def _labels(
    cluster: PostgresCluster, nodes: Sequence[Node], places: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield foreign nodes with one of our labels, which would draw our tasks away from their data,
    or to where no proxy is wanted. The operator removes no label from a node that the file does not
    name."""
    labels = cluster.spec.node_labels
    for node in nodes:
        value = node.labels.get(labels.member, "")
        if value in places and places[value] != node.name:
            yield Finding(
                ("spec", "nodeLabels", "member"),
                f'node "{node.name}" already has the label {labels.member}={value}, which is to '
                f"mark {places[value]}; remove it (docker node update --label-rm {labels.member} "
                f"{node.name}), or write another key",
            )
        if node.labels.get(labels.proxy) == "true" and node.name not in cluster.spec.proxies.nodes:
            yield Finding(
                ("spec", "nodeLabels", "proxy"),
                f'node "{node.name}" has the label {labels.proxy}=true without being listed in '
                f"proxies.nodes, so a proxy runs there too; list it, or remove the label (docker "
                f"node update --label-rm {labels.proxy} {node.name})",
                "warning",
            )


def _readiness(path: Path, node: Node) -> Iterator[Finding]:
    if node.state != "ready":
        yield Finding(path, f'"{node.name}" is {node.state} now; nothing starts there', "warning")
    elif node.availability != "active":
        message = (
            f'"{node.name}" has availability {node.availability}; nothing starts there until '
            f"`docker node update --availability active {node.name}`"
        )
        yield Finding(path, message, "warning")


def _no_node(name: str, nodes: dict[str, Node]) -> str:
    meant = did_you_mean(name, nodes)
    known = f"; the nodes are {', '.join(sorted(nodes)[:10])}" if nodes and not meant else ""
    return f'no node of this swarm is called "{name}"{meant or known}'


def _within(address: str, cluster: PostgresCluster) -> bool:
    found = _address(address)
    return found is not None and found in cluster.spec.lan_subnet


@lru_cache(maxsize=MOST_TEXTS)
def _address(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except ValueError:
        return None
