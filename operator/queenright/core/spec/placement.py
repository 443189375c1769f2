"""What is wrong with a document on this swarm, as its nodes are now.

Decides from one valid document and the nodes that swarm lists. What the operator could never place
is an error; what works but is unwise, or passes by itself, a warning.
"""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address

from queenright.core.observed import Node
from queenright.core.spec.app_placement import app_placement
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.problems import Document, Finding, Path, Problem
from queenright.core.spec.vip_checks import vip_on_nodes
from queenright.core.spec.wording import did_you_mean


def placement_problems(document: Document, nodes: Sequence[Node]) -> tuple[Problem, ...]:
    """The document's problems on these nodes, each at its line."""
    by_name = {node.name: node for node in nodes}
    findings: list[Finding] = []
    if document.is_cluster:
        findings += _members(document.cluster, by_name)
        findings += _proxies(document.cluster, by_name)
        findings += _labels(document.cluster, nodes)
        findings += vip_on_nodes(document.cluster, {node.name: node.address for node in nodes})
    elif document.is_app:
        findings += app_placement(document.app, nodes)
    return tuple(sorted({document.origin.problem(finding) for finding in findings}))


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


def _labels(cluster: PostgresCluster, nodes: Sequence[Node]) -> Iterator[Finding]:
    """A foreign node with one of our labels would draw our tasks: away from their data, or to
    where no proxy is wanted. The operator takes no label off a node that it was not told of."""
    labels = cluster.spec.node_labels
    places = {str(number): m.node for number, m in enumerate(cluster.spec.members, start=1)}
    for node in nodes:
        value = node.labels.get(labels.member)
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
    try:
        return IPv4Address(address) in cluster.spec.lan_subnet
    except ValueError:
        return False
