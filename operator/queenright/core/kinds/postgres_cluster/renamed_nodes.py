"""Nodes that have another hostname than the places of their members note.

A place notes its node by name, and a machine may start under another one, with its id, labels and
volumes. Decides from the places, the file's lines, the members' services and the swarm's nodes.
Invariant: a place takes another name for its node only where no node has the former one, a line of
the file has the other with the same address, and the label that places the member is there alone:
it is the same machine, and nothing has to be stopped or copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from queenright.core.kinds.postgres_cluster.places import DeployedMember
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.observed import SwarmState


def with_present_names(
    places: Sequence[DeployedMember], cluster: PostgresCluster, swarm: SwarmState
) -> tuple[DeployedMember, ...]:
    """Return the places, those whose nodes have the names in the file by now under these."""
    return tuple(with_present_name(place, cluster, swarm) for place in places)


def with_present_name(
    place: DeployedMember, cluster: PostgresCluster, swarm: SwarmState
) -> DeployedMember:
    if swarm.node(place.node) is not None:
        return place
    live = swarm.service(f"{cluster.metadata.name}_{place.name}")
    found = swarm.index.nodes_meeting(live.value.constraints) if live is not None else []
    if len(found) != 1:
        return place
    (node,) = found
    lines = ((line.node, line.address or node.address) for line in cluster.spec.members)
    is_same = (node.name, place.address) in lines
    return replace(place, node=node.name) if is_same else place
