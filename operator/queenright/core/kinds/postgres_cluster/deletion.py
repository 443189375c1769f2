"""Cluster without a document: kept, unless its last one had ``deletionPolicy: remove``.

Decides from the labels on the swarm's objects alone. Invariant: volumes and secrets are never
removed, and the reasons name those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    AnyAction,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
)
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.observed import LiveService, SwarmState
from queenright.core.planning.deletion import (
    REMOVE,
    Absence,
    ClaimedLabels,
    owners,
    remove_labels,
    waiting_step,
)
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    DELETION_POLICY_LABEL,
    NODE_LABELS_LABEL,
    ROLE_LABEL,
    Service,
)


def owned_clusters(swarm: SwarmState) -> frozenset[str]:
    """The clusters that have a service or a config of ours in the swarm."""
    return owners(CLUSTER_LABEL, swarm)


def plan_retirement(
    cluster: str, swarm: SwarmState, absence: Absence, claimed: ClaimedLabels
) -> Iterator[AnyAction | Hold]:
    """Steps for a cluster without a document: services, then the rest, then the state config.

    ``claimed`` are the nodes and label keys that other documents use.
    """
    state_config = swarm.config(state_config_name(cluster))
    policy = state_config.value.labels.get(DELETION_POLICY_LABEL, "") if state_config else ""
    if policy != REMOVE:
        yield Hold(
            f"retire/{cluster}",
            f"cluster {cluster}: is in the swarm, but no file describes it, so it is kept as it "
            "is; write its document again, or, to remove the cluster, write it with "
            "spec.deletionPolicy: remove, and then delete it",
            wants_attention=True,
        )
        return
    what = f"cluster {cluster}"
    if state_config is not None and (waiting := waiting_step(cluster, state_config, absence, what)):
        yield waiting
        return
    services = [*swarm.index.services_labelled(CLUSTER_LABEL, cluster)]
    if services:
        yield from remove_services(cluster, services)
        return
    yield from remove_labels(
        state_config.value.labels.get(NODE_LABELS_LABEL, "") if state_config else "", swarm, claimed
    )
    for network in swarm.index.networks_labelled(CLUSTER_LABEL, cluster):
        yield RemoveNetwork(network.id, network.value.name, reason=retired(cluster))
    configs = swarm.index.configs_labelled(CLUSTER_LABEL, cluster)
    for config in sorted(configs, key=lambda live: live is state_config):
        yield RemoveConfig(config.id, config.value.name, reason=retired(cluster))


def remove_services(cluster: str, services: list[LiveService]) -> Iterator[AnyAction]:
    """The proxies first, so that no client is sent to a member that goes."""
    for live in sorted(
        services, key=lambda live: (live.value.labels.get(ROLE_LABEL) == "member", live.value.name)
    ):
        mounts = live.value.mounts
        volumes = [mount.source for mount in mounts if mount.kind == "volume" and mount.source]
        secrets = [reference.name for reference in live.value.secrets]
        stay = ", ".join(
            [f"volume {name}" for name in volumes] + [f"secret {name}" for name in secrets]
        )
        yield RemoveService(
            live.id,
            live.value.name,
            reason=retired(cluster) + (f"; these stay: {stay}" if stay else ""),
        )


def owns(cluster: str, service: Service) -> bool:
    return service.labels.get(CLUSTER_LABEL) == cluster


def retired(cluster: str) -> str:
    return f"the document of cluster {cluster} is gone, and its deletionPolicy was remove"
