"""Guard of the notes by which the operator replaces members on dead nodes by itself.

As ``guards``: from the observation alone, and on purpose a second check beside the rules. The file
is not known here, so the shortest time that a file may have counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.places import DeployedMember, decode_places
from queenright.core.kinds.postgres_cluster.topology.guard_readings import (
    holds_lock,
    is_silent,
    raft_of,
    raft_self,
    seatless,
)
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
)
from queenright.core.observed import NODE_DOWN, Known, Observed, SwarmState, raft_hears
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import MEMBERS_LABEL

LEAST_DOWN_S = 60.0
"""The shortest ``replaceAfter`` in seconds."""


def only_the_dead_are_replaced(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to note another node for a member unless swarm has called its own down for long, all
    others are well, no other one is being replaced, and the note keeps its volumes."""
    swarm = swarm_of(observed)
    live = swarm.config(state_config_name(plan.cluster)) if swarm is not None else None
    for action in plan.actions:
        if not isinstance(action, LabelConfig) or live is None or action.id != live.id:
            continue
        if why := why_not_noted(live.value.labels, action.config.labels, plan, observed):
            return Refusal("only-the-dead-are-replaced", f"{action.key}: {why}")
    return None


def why_not_noted(
    before: Mapping[str, str], after: Mapping[str, str], plan: Plan, observed: Observed
) -> str:
    """Reason why the notes may not change so; empty when they may."""
    swarm = swarm_of(observed)
    known = decode_replaced(before.get(REPLACED_LABEL, ""))
    wanted = decode_replaced(after.get(REPLACED_LABEL, ""))
    places = {place.name: place for place in decode_places(before.get(MEMBERS_LABEL, ""))}
    fresh = [note for note in wanted if note not in known and not is_home(note, places)]
    for note in fresh:
        if (kept := volumes_before(note, known, places)) not in {None, note.volumes}:
            return f"the volumes of {note.member} on {note.written} are {kept or 'the usual ones'}"
    fresh = [note for note in fresh if note.node != note.written]  # the others go nowhere
    if not fresh or swarm is None:
        return ""
    note = fresh[0]
    others = [old for old in known if old.member != note.member]
    begun = [old for old in others if old.member in places and not is_home(old, places)]
    if len(fresh) > 1 or begun:
        return "more than one member would be replaced"
    if any(old.node == note.node for old in others):
        return f"another member is to be on {note.node}"
    if why := why_not_target(note, places, swarm):
        return why
    place = places.get(note.member)
    return why_alive(place, plan, observed, swarm) if place is not None else ""


def volumes_before(
    note: Replaced, known: Sequence[Replaced], places: Mapping[str, DeployedMember]
) -> str | None:
    """Return the volumes of a member on the node in its line, as they are noted; None where they
    are not."""
    place = places.get(note.member)
    if place is not None and place.node == note.written:
        return place.volumes
    found = (old for old in known if (old.member, old.written) == (note.member, note.written))
    return next((old.volumes for old in found), None)


def is_home(note: Replaced, places: Mapping[str, DeployedMember]) -> bool:
    place = places.get(note.member)
    return place is not None and place.node == note.node


def why_not_target(note: Replaced, places: Mapping[str, DeployedMember], swarm: SwarmState) -> str:
    """Reason why nobody may be sent to a node; empty when somebody may."""
    node = swarm.node(note.node)
    if node is None or not node.is_ready:
        return f"{note.node} is not ready"
    noted = [config.value.labels.get(MEMBERS_LABEL, "") for config in swarm.configs]
    taken = {place.node for text in noted for place in decode_places(text)}
    return f"{note.node} has a member" if note.node in taken else ""


def why_alive(place: DeployedMember, plan: Plan, observed: Observed, swarm: SwarmState) -> str:
    """Reason why a member is not known to be dead beside others that are well; empty when it is."""
    node = swarm.node(place.node)
    if node is None or node.state != "down":
        return f"swarm does not call {place.node} down"
    seen_s = observed.seen_s_ago.get(f"{NODE_DOWN}{node.id}", 0.0)
    if seen_s < LEAST_DOWN_S:
        return f"{place.node} is down for {seen_s:.0f} s only"
    own = f"{plan.cluster}_{place.name}"
    known = [raft for peer in peers(plan, observed) if (raft := raft_of(peer, observed))]
    leads, spared = 0, seatless(known)
    voter = next((raft_self(p.value) for p in peers(plan, observed) if p.value.name == own), "")
    for peer in peers(plan, observed):
        if peer.value.name == own:
            if not is_silent(peer, observed):
                return f"{own} answers"
            continue
        status, raft = observed.members.get(peer.value.name), raft_of(peer, observed)
        if not isinstance(status, Known) or not status.value.is_well:
            return f"{peer.value.name} is not known to be well"
        if raft is None or (not raft.has_quorum and raft.address not in spared):
            return f"the Raft node of {peer.value.name} is not known to have a quorum"
        if raft_hears(raft, voter):
            return f"the Raft node of {peer.value.name} reaches {own}"
        leads += holds_lock(peer, observed)
    return "" if leads == 1 else "no single other member is known to lead"
