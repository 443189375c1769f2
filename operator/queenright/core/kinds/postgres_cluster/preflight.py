"""Checks before a cluster is first changed, with plain messages.

Pure: from the document and the observation. Invariant: while one of these holds exists, the
operator creates nothing for a cluster that is not deployed yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.checks.backup import REPOSITORY_NAME
from queenright.core.kinds.postgres_cluster.checks.virtual_ip import VIP_NAME
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.repository import volume_of
from queenright.core.kinds.postgres_cluster.desired.services import service_name
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.document import Document
from queenright.core.observed import LiveService, SwarmState
from queenright.core.planning.plan import Hold
from queenright.core.planning.preflight import describe_node, foreign_service, image_hold
from queenright.core.swarm.objects import CLUSTER_LABEL, Service


def foreign_service_holds(document: Document[PostgresCluster], swarm: SwarmState) -> Iterator[Hold]:
    """Yield holds for services under our names that somebody else deployed."""
    cluster = document.resource
    if swarm.config(state_config_name(document.name)) is not None:
        return
    names = [*(member.name for member in cluster.spec.members), "proxy"]
    names += [VIP_NAME] if cluster.spec.vip is not None else []
    names += [REPOSITORY_NAME] if volume_of(cluster) is not None else []
    for name in (service_name(document.name, found) for found in names):
        live = swarm.service(name)
        if live is not None and CLUSTER_LABEL not in live.value.labels:
            yield foreign_service(name, "cluster")


def label_holds(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Hold]:
    """Yield holds for nodes where one of our labels has another value than in the file: something
    else may be placed by it, so the operator overwrites none before the cluster is deployed."""
    wanted = {item.node: item.labels for item in desired.node_labels}
    for node in swarm.index.nodes_about((), (desired.member_label, desired.proxy_label)):
        for key in (desired.member_label, desired.proxy_label):
            value = node.labels.get(key)
            if value is not None and value != wanted.get(node.name, {}).get(key):
                yield Hold(
                    f"preflight/label/{node.name}/{key}",
                    f"node {node.name} already has the label {key}={value}: remove it (docker node "
                    f"update --label-rm {key} {node.name}), or write other keys in spec.nodeLabels",
                    wants_attention=True,
                )


def deployment_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield reasons against a first deployment: a node, an image or a port is not ready for it."""
    desired, swarm = state.desired, state.swarm
    stored = {desired.repository.node} if desired.repository is not None else set[str]()
    for name in sorted({*(m.node for m in desired.members), *desired.proxy_nodes} | stored):
        node = swarm.node(name)
        if node is not None and not node.is_ready:
            yield Hold(
                f"preflight/node/{name}",
                f"node {name} is {describe_node(node)}: the cluster is deployed when it is back",
                wants_attention=True,
            )
    for reference in sorted({service.image for service in desired.services}):
        if hold := image_hold(reference, state.images):
            yield hold
    yield from port_holds(desired, swarm)
    yield from label_holds(desired, swarm)


def port_holds(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Hold]:
    """Yield holds for ports that another service has: host-mode on our nodes, or ingress-mode."""
    placed = [*placed_services(desired)]
    ports = {port.published for service, _ in placed for port in service.ports}
    for live in swarm.index.services_publishing(ports):
        if live.value.labels.get(CLUSTER_LABEL) == desired.name:
            continue
        for service, nodes in placed:
            for port in taken_ports(service, live, nodes, swarm):
                yield Hold(
                    f"preflight/port/{port}",
                    f"port {port}, which {service.name} publishes, is taken by service "
                    f"{live.value.name}: change one of the two",
                    wants_attention=True,
                )


def placed_services(desired: DesiredCluster) -> Iterator[tuple[Service, frozenset[str]]]:
    for member in desired.members:
        yield member.service, frozenset({member.node})
    yield desired.proxy, frozenset(desired.proxy_nodes)
    if desired.repository is not None:
        yield desired.repository.service, frozenset({desired.repository.node})


def taken_ports(
    service: Service, other: LiveService, nodes: frozenset[str], swarm: SwarmState
) -> Iterator[int]:
    numbers = {(port.published, port.protocol) for port in service.ports}
    there = {
        node.name
        for task in swarm.tasks_of(other.id)
        if (task.is_alive or swarm.may_run(task)) and (node := swarm.node_by_id(task.node_id))
    }
    for port in other.value.ports:
        everywhere = port.mode == "ingress"
        if (port.published, port.protocol) in numbers and (everywhere or there & nodes):
            yield port.published
