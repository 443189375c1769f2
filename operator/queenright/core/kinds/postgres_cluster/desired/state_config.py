"""Desired state config of a cluster: what the operator notes where the swarm does not show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.places import DeployedMember, encode_places, numbered
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    DELETION_POLICY_LABEL,
    MEMBERS_LABEL,
    NODE_LABELS_LABEL,
    Config,
)

STATE_CONFIG_TEXT = b"Queenright keeps its notes about this cluster in the labels of this config.\n"


def state_config_of(
    cluster: PostgresCluster,
    addresses: Mapping[str, str],
    numbers: Sequence[int],
    volumes: Mapping[str, str],
) -> Config:
    """The config whose labels keep what can't be derived from the swarm."""
    scope, spec = cluster.metadata.name, cluster.spec
    places = numbered(
        {
            number: DeployedMember(
                member.name,
                member.node,
                addresses[member.name],
                volumes=volumes.get(member.name, ""),
            )
            for number, member in zip(numbers, spec.members, strict=True)
        }
    )
    labels = {
        CLUSTER_LABEL: scope,
        DELETION_POLICY_LABEL: spec.deletion_policy,
        NODE_LABELS_LABEL: f"{spec.node_labels.member},{spec.node_labels.proxy}",
        MEMBERS_LABEL: encode_places(places),
    }
    return Config(state_config_name(scope), STATE_CONFIG_TEXT, labels)
