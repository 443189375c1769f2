"""Clusters of which a member's node is dead, and the notes of its replacement."""

from __future__ import annotations

import dataclasses

from queenright.core.kinds.postgres_cluster.places import DeployedMember, encode_places
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    encode_replaced,
)
from queenright.core.observed import NODE_DOWN, Live, Observed, Unknown
from queenright.core.swarm.objects import CLUSTER_LABEL, MEMBERS_LABEL, Config
from tests.support.builders import swarm_of
from tests.support.changed import with_config_labels, with_member, with_node, with_swarm
from tests.support.topology_worlds import (
    deployed,
    raft_nodes,
    text_of,
    with_raft_nodes,
)

ASKED = "  replaceAfter: 30m\n  spareNodes: [node5, node6]\n"


TEXT = text_of(1, 2, 3, spec=ASKED)


MINE = Replaced("member-3", "node4", "node5")


def dead(seen_s: float = 1800.0, state: str = "down") -> Observed:
    """The third member's node has been gone for so long."""
    observed = with_node(deployed(1, 2, 3), "node4", state=state)
    observed = with_member(observed, "member-3", Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    seen = {**observed.seen_s_ago, f"{NODE_DOWN}id-node4": seen_s}
    return dataclasses.replace(observed, seen_s_ago=seen)


def reached(seen_s: float = 1800.0) -> Observed:
    """The managers do not hear the third member's node for so long, and the other members do."""
    nodes = {**raft_nodes([1, 2, 3]), "main_member-3": Unknown("timed out")}
    return with_raft_nodes(dead(seen_s), nodes)


def labels_of(observed: Observed) -> dict[str, str]:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return dict(found.value.labels)


def noted(observed: Observed, *notes: Replaced) -> Observed:
    labels = {**labels_of(observed), REPLACED_LABEL: encode_replaced(notes)}
    return with_config_labels(observed, "main_cluster", labels)


def with_another_cluster(observed: Observed, name: str, *notes: Replaced, on: str = "") -> Observed:
    """Beside the state config of another cluster, with a member on a node, and with notes."""
    places = [DeployedMember("db", on, "10.77.0.80")] if on else []
    labels = {
        CLUSTER_LABEL: name,
        MEMBERS_LABEL: encode_places(places),
        REPLACED_LABEL: encode_replaced(notes),
    }
    other = Live(f"id-{name}", 9, Config(f"{name}_cluster", b"", labels))
    return with_swarm(observed, configs=(*swarm_of(observed).configs, other))
