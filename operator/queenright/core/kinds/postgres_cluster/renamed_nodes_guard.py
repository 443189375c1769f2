"""Guard of members on nodes that have another hostname than their places note.

As ``guards``: from the observation alone, and on purpose a second check beside the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.actions import LabelConfig, LabelNode
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.in_place.note import RESTORED_LABEL
from queenright.core.kinds.postgres_cluster.places import DeployedMember, decode_places, numbers_of
from queenright.core.observed import Observed, SwarmState
from queenright.core.observed.constraints import meets
from queenright.core.planning.disruption import peers, stops, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import MEMBERS_LABEL


def renamed_nodes_keep_members(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to take a label from under a member whose noted node is not in the swarm, and to note
    another node for a deployed member, unless it is the same machine under another name."""
    swarm = swarm_of(observed)
    live = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if swarm is None or live is None:
        return None
    before = places_in(live.value.labels)
    for action in plan.actions:
        why = ""
        if isinstance(action, LabelNode):
            why = next(uprooted(action, before, plan, observed), "")
        elif (
            isinstance(action, LabelConfig)
            and action.id == live.id
            and same_restore(live.value.labels, action.config.labels)
        ):
            why = next(wrong_nodes(before, places_in(action.config.labels), plan, swarm), "")
        if why:
            return Refusal("renamed-nodes-keep-members", f"{action.key}: {why}")
    return None


def places_in(labels: Mapping[str, str]) -> dict[str, tuple[int, DeployedMember]]:
    """Return the noted places by their members' names, each with its number."""
    places = decode_places(labels.get(MEMBERS_LABEL, ""))
    return {p.name: (n, p) for n, p in zip(numbers_of(places), places, strict=True)}


def same_restore(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return False for the labels with which a cluster begins anew, whose members are stopped
    (``restores_are_asked_for`` judges them)."""
    return before.get(RESTORED_LABEL) == after.get(RESTORED_LABEL)


def uprooted(
    action: LabelNode,
    places: Mapping[str, tuple[int, DeployedMember]],
    plan: Plan,
    observed: Observed,
) -> Iterator[str]:
    """Yield the members that the change of a label stops, and whose noted nodes are gone."""
    swarm = swarm_of(observed)
    for peer in peers(plan, observed):
        _, place = places.get(peer.value.name.removeprefix(f"{plan.cluster}_"), (0, None))
        is_lost = place is not None and swarm is not None and swarm.node(place.node) is None
        if place is not None and is_lost and stops(action, peer, observed):
            yield f"{action.node} may be {place.node} of {place.name}, which the swarm has no more"


def wrong_nodes(
    before: Mapping[str, tuple[int, DeployedMember]],
    after: Mapping[str, tuple[int, DeployedMember]],
    plan: Plan,
    swarm: SwarmState,
) -> Iterator[str]:
    """Yield the deployed members that get another node which is not theirs under a new name."""
    for name in sorted(before.keys() & after.keys()):
        (number, old), (new_number, new) = before[name], after[name]
        live, node = swarm.service(f"{plan.cluster}_{name}"), swarm.node(new.node)
        if new.node == old.node or live is None:
            continue
        is_same = (number, old.address, old.volumes) == (new_number, new.address, new.volumes)
        if swarm.node(old.node) is not None:
            yield f"{old.node} of {name} is in the swarm"
        elif node is None or not meets(node, live.value.constraints):
            yield f"{new.node} has not the label that places {name}"
        elif not is_same:
            yield f"more of the place of {name} changes than its node's name"
