"""Spare nodes that can take a member of a dead node.

Decides from the document, the places and notes of this cluster and of others, and the swarm's
nodes. Invariant: a node that has a member, or is promised to one, takes no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.places import DeployedMember, decode_places
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.fitting import why_not_here
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Spare,
    decode_replaced,
)
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival
from queenright.core.swarm.objects import CLUSTER_LABEL, MEMBERS_LABEL


def spares_for(state: ClusterState, member: str, present: str = "") -> Iterator[Spare]:
    """Yield the spare nodes that can take a member: the ``present`` one, then those after it, so
    that none is tried twice."""
    spares = state.desired.replacement.spares
    nodes = [spare.node for spare in spares]
    for spare in spares[nodes.index(present) if present in nodes else 0 :]:
        if why_not_there(state, member, spare, is_noted=spare.node == present) is None:
            yield spare


def misfits_of(state: ClusterState, member: str) -> Iterator[str]:
    for spare in state.desired.replacement.spares:
        yield f"{spare.node}: {why_not_there(state, member, spare)}"


def why_not_there(
    state: ClusterState, member: str, spare: Spare, *, is_noted: bool = False
) -> str | None:
    """Reason why a spare node can't take a member; None when it can."""
    if spare.wrong:
        return spare.wrong
    if spare.node in state.maintained:
        return "it is in maintenance"
    for other in state.desired.members:
        if other.name != member and other.node == spare.node:
            return f"{other.name} is on it"
    for note in state.desired.replacement.noted:
        if note.member != member and note.node == spare.node:
            return f"{note.member} is to be on it"
    if taken := why_taken(state, spare.node, is_noted=is_noted):
        return taken
    node = state.swarm.node(spare.node)
    if is_noted and state.member(member) is None and node is not None and node.is_ready:
        return None  # the label of its former place goes a moment later
    return why_not_here(with_places(state), Arrival(member, spare.node, spare.address))


def with_places(state: ClusterState) -> ClusterState:
    """Return the state with its places in the topology, which has none for a file that is
    reached."""
    topology = replace(state.desired.topology, places=places_of(state))
    return replace(state, desired=replace(state.desired, topology=topology))


def places_of(state: ClusterState) -> tuple[DeployedMember, ...]:
    """Return the places, as the topology has them, or the state config."""
    noted = state.desired.state_config.labels.get(MEMBERS_LABEL, "")
    return state.desired.topology.places or decode_places(noted)


def why_taken(state: ClusterState, node: str, *, is_noted: bool) -> str | None:
    """Reason why a node is another cluster's; None when it is not. Of two that have noted the same
    node in one pass, the first by name keeps it."""
    own = state.desired.name
    for config in state.swarm.configs:
        labels = config.value.labels
        scope = labels.get(CLUSTER_LABEL, "")
        if scope in {"", own} or config.value.name != state_config_name(scope):
            continue
        if any(place.node == node for place in decode_places(labels.get(MEMBERS_LABEL, ""))):
            return f"a member of cluster {scope} is on it"
        noted = decode_replaced(labels.get(REPLACED_LABEL, ""))
        if any(note.node == node for note in noted) and (not is_noted or scope < own):
            return f"a member of cluster {scope} is to be on it"
    return None
