"""A cluster whose document is gone: kept, until its owner had said ``deletionPolicy: remove``.

Decides from the labels on the swarm's objects alone. Invariant: volumes and secrets are never
removed, and the reasons name those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from queenright.core.actions import (
    Action,
    FieldChange,
    LabelConfig,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
)
from queenright.core.diff import ABSENT
from queenright.core.observed import Live, LiveService, Node, SwarmState
from queenright.core.plan import Hold
from queenright.core.resources import (
    CLUSTER_LABEL,
    DELETION_POLICY_LABEL,
    NODE_LABELS_LABEL,
    RETIRING_LABEL,
    ROLE_LABEL,
    Config,
    Service,
)

REMOVE = "remove"
ABSENCE = timedelta(seconds=60)


def owned_clusters(swarm: SwarmState) -> frozenset[str]:
    """The clusters that have a service or a config of ours in the swarm."""
    labels = [live.value.labels for live in swarm.services]
    labels += [live.value.labels for live in swarm.configs]
    return frozenset(name for found in labels if (name := found.get(CLUSTER_LABEL)))


def plan_retirement(
    cluster: str, swarm: SwarmState, now: datetime, claimed: frozenset[tuple[str, str]]
) -> Iterator[Action | Hold]:
    """The next steps for a cluster without a document: services, then the rest, then the anchor.

    ``claimed`` are the nodes and label keys that other documents want.
    """
    anchor = swarm.config(f"{cluster}_cluster")
    policy = anchor.value.labels.get(DELETION_POLICY_LABEL, "") if anchor else ""
    if policy != REMOVE:
        yield Hold(
            f"retire/{cluster}",
            f"cluster {cluster} is in the swarm, but no file describes it: it is kept as it is. "
            "Give its document back, or, to remove it, give it back with spec.deletionPolicy: "
            "remove, and then remove it again",
            wants_attention=True,
        )
        return
    if anchor is not None and (waiting := waiting_step(cluster, anchor, now, f"cluster {cluster}")):
        yield waiting
        return
    services = [live for live in swarm.services if owns(cluster, live.value)]
    if services:
        yield from remove_services(cluster, services)
        return
    yield from remove_labels(
        anchor.value.labels.get(NODE_LABELS_LABEL, "") if anchor else "", swarm, claimed
    )
    for network in swarm.networks:
        if network.value.labels.get(CLUSTER_LABEL) == cluster:
            yield RemoveNetwork(network.id, network.value.name, reason=retired(cluster))
    configs = [live for live in swarm.configs if live.value.labels.get(CLUSTER_LABEL) == cluster]
    for config in sorted(configs, key=lambda live: live is anchor):
        yield RemoveConfig(config.id, config.value.name, reason=retired(cluster))


def waiting_step(name: str, anchor: Live[Config], now: datetime, what: str) -> Action | Hold | None:
    """A document may be gone for a moment, while files are moved about: it counts as removed after
    ``ABSENCE``, which the anchor keeps."""
    noted = anchor.value.labels.get(RETIRING_LABEL, "")
    try:
        due = datetime.fromisoformat(noted) + ABSENCE
    except ValueError:
        labels = {**anchor.value.labels, RETIRING_LABEL: now.isoformat()}
        return LabelConfig(
            anchor.id,
            anchor.version,
            replace(anchor.value, labels=labels),
            reason=f"the document of {what} is gone: it is removed if it stays so",
        )
    if now < due:
        return Hold(f"retire/{name}", f"{what} is removed unless it is back", due)
    return None


def remove_services(cluster: str, services: list[LiveService]) -> Iterator[Action]:
    """The proxies first, so that no client is sent to a member that goes."""
    for live in sorted(
        services, key=lambda live: (live.value.labels.get(ROLE_LABEL) == "member", live.value.name)
    ):
        volumes = [mount.source for mount in live.value.mounts if mount.kind == "volume"]
        secrets = [reference.name for reference in live.value.secrets]
        stay = ", ".join(
            [f"volume {name}" for name in volumes] + [f"secret {name}" for name in secrets]
        )
        yield RemoveService(
            live.id,
            live.value.name,
            reason=retired(cluster) + (f"; these stay: {stay}" if stay else ""),
        )


def remove_labels(
    keys: str, swarm: SwarmState, claimed: frozenset[tuple[str, str]]
) -> Iterator[Action]:
    for node in swarm.nodes:
        present = [
            key for key in keys.split(",") if key in node.labels and (node.name, key) not in claimed
        ]
        if present:
            yield unlabel(node, present)


def unlabel(node: Node, keys: list[str]) -> Action:
    return LabelNode(
        node.name,
        node.id,
        node.version,
        dict.fromkeys(keys),
        reason="the cluster that these labels placed is removed",
        changes=tuple(FieldChange(f"labels[{key}]", node.labels[key], ABSENT) for key in keys),
    )


def owns(cluster: str, service: Service) -> bool:
    return service.labels.get(CLUSTER_LABEL) == cluster


def retired(cluster: str) -> str:
    return f"the document of cluster {cluster} is gone, and its deletionPolicy was remove"
