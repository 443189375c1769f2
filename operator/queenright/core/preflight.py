"""What must be in order before a cluster is first touched, in plain words.

Decides from the document and the observation. Invariant: while one of these holds stands, nothing
at all is created for a cluster that is not deployed yet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from queenright.core.desired import DesiredCluster
from queenright.core.observed import (
    Engine,
    ImageFound,
    ImageMissing,
    Known,
    LiveService,
    Node,
    Observed,
    SwarmState,
    Unknown,
)
from queenright.core.plan import Hold
from queenright.core.resources import APP_LABEL, CLUSTER_LABEL, Service
from queenright.core.services import service_name
from queenright.core.situation import Situation
from queenright.core.spec.placement import placement_problems
from queenright.core.spec.problems import Document
from queenright.core.spec.vip_checks import VIP_NAME


def engine_hold(engine: Engine) -> Hold | None:
    """Why the engine can't be worked with: not in a swarm, locked, or not a manager."""
    match engine.swarm_state:
        case "active" if engine.is_manager:
            return None
        case "active":
            why = "this node is a worker: run the operator on a manager (docker node promote)"
        case "locked":
            why = "the swarm is locked: unlock it with docker swarm unlock"
        case "inactive":
            why = "this engine is not part of a swarm: docker swarm init, or docker swarm join"
        case "pending":
            why = "this engine is still joining its swarm"
        case "error":
            why = f"this engine's swarm is in error: {engine.error}"
    return Hold("preflight/swarm", why, wants_attention=True)


def swarm_or_hold(observed: Observed) -> SwarmState | Hold:
    match observed.swarm:
        case Unknown(why):
            return Hold("preflight/swarm", f"the swarm was not read: {why}")
        case Known(swarm):
            return engine_hold(swarm.engine) or in_order(swarm)


def in_order(swarm: SwarmState) -> SwarmState:
    """The same state, listed by name: a plan must not depend on the order of the lists."""
    return dataclasses.replace(
        swarm,
        nodes=tuple(sorted(swarm.nodes, key=lambda node: (node.name, node.id))),
        services=tuple(sorted(swarm.services, key=lambda live: live.value.name)),
        tasks=tuple(sorted(swarm.tasks, key=lambda task: task.id)),
        networks=tuple(sorted(swarm.networks, key=lambda live: (live.value.name, live.id))),
        secrets=tuple(sorted(swarm.secrets, key=lambda live: live.value.name)),
        configs=tuple(sorted(swarm.configs, key=lambda live: live.value.name)),
    )


def foreign_app_services(
    name: str, services: Iterable[Service], anchor: str, swarm: SwarmState
) -> Iterator[Hold]:
    """Services under an application's names that somebody else has deployed, a stack of the same
    name, say: they are not taken over."""
    if swarm.config(anchor) is not None:
        return
    for service in services:
        live = swarm.service(service.name)
        if live is not None and live.value.labels.get(APP_LABEL) != name:
            yield Hold(
                f"preflight/service/{service.name}",
                f"service {service.name} is there already, and was not deployed by this operator: "
                "remove it, or give the application another metadata.name",
                wants_attention=True,
            )


LABEL_FIELDS = "spec.nodeLabels"


def placement_holds(document: Document, swarm: SwarmState, *, is_deployed: bool) -> Iterator[Hold]:
    """Errors of placement, each with file and line; warnings are the reader's business. Once the
    cluster is deployed, a label in a wrong place is drift, which a rule puts right."""
    for problem in placement_problems(document, swarm.nodes):
        drift = is_deployed and problem.field.startswith(LABEL_FIELDS)
        if problem.severity == "error" and not drift:
            yield Hold(f"preflight/{problem.field}", str(problem), wants_attention=True)


def foreign_service_holds(document: Document, swarm: SwarmState) -> Iterator[Hold]:
    """Services under our names that somebody else has deployed: they are not taken over."""
    cluster = document.cluster
    if swarm.config(f"{document.name}_cluster") is not None:
        return
    names = [*(member.name for member in cluster.spec.members), "proxy"]
    names += [VIP_NAME] if cluster.spec.vip is not None else []
    for name in (service_name(document.name, found) for found in names):
        live = swarm.service(name)
        if live is not None and CLUSTER_LABEL not in live.value.labels:
            yield Hold(
                f"preflight/service/{name}",
                f"service {name} is there already, and was not deployed by this operator: remove "
                "it, or give the cluster another metadata.name",
                wants_attention=True,
            )


def label_holds(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Hold]:
    """Nodes that already have one of our labels otherwise than the file says: something else may
    be placed by it, so nothing is taken from a node before the cluster is deployed."""
    wanted = {item.node: item.labels for item in desired.node_labels}
    for node in swarm.nodes:
        for key in (desired.member_label, desired.proxy_label):
            value = node.labels.get(key)
            if value is not None and value != wanted.get(node.name, {}).get(key):
                yield Hold(
                    f"preflight/label/{node.name}/{key}",
                    f"node {node.name} already has the label {key}={value}: remove it (docker node "
                    f"update --label-rm {key} {node.name}), or write other keys in spec.nodeLabels",
                    wants_attention=True,
                )


def deployment_holds(situation: Situation) -> Iterator[Hold]:
    """Why a first deployment does not begin: a node, an image or a port is not ready for it."""
    desired, swarm = situation.desired, situation.swarm
    for name in sorted({*(m.node for m in desired.members), *desired.proxy_nodes}):
        node = swarm.node(name)
        if node is not None and not node.is_ready:
            yield Hold(
                f"preflight/node/{name}",
                f"node {name} is {describe_node(node)}: the cluster is deployed when it is back",
                wants_attention=True,
            )
    for reference in sorted({service.image for service in desired.services}):
        if hold := image_hold(reference, situation.images):
            yield hold
    yield from port_holds(desired, swarm)
    yield from label_holds(desired, swarm)


def describe_node(node: Node) -> str:
    return node.state if node.state != "ready" else f"set to {node.availability}"


def image_hold(
    reference: str, images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown]
) -> Hold | None:
    key = f"preflight/image/{reference}"
    match images.get(reference):
        case Known(ImageMissing(why)):
            return Hold(
                key,
                f"image {reference} is not in its registry ({why}): push it, or correct the file",
                wants_attention=True,
            )
        case Unknown(why):
            return Hold(key, f"image {reference}: {why}", wants_attention=True)
        case _:
            return None


def port_holds(desired: DesiredCluster, swarm: SwarmState) -> Iterator[Hold]:
    """Host-mode ports that another service has on one of our nodes, or ingress-mode anywhere."""
    for live in swarm.services:
        if live.value.labels.get(CLUSTER_LABEL) == desired.name:
            continue
        for service, nodes in placed_services(desired):
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


def taken_ports(
    service: Service, other: LiveService, nodes: frozenset[str], swarm: SwarmState
) -> Iterator[int]:
    numbers = {(port.published, port.protocol) for port in service.ports}
    there = {
        node.name
        for task in swarm.tasks_of(other.id)
        if task.is_alive and (node := swarm.node_by_id(task.node_id))
    }
    for port in other.value.ports:
        everywhere = port.mode == "ingress"
        if (port.published, port.protocol) in numbers and (everywhere or there & nodes):
            yield port.published
