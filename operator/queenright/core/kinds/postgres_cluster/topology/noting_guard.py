"""Guard of the noted places: none is forgotten where something may run.

As ``guards``: from the observation alone, and on purpose a second check beside the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from queenright.core.actions import LabelConfig, NoteMembers
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.places import (
    decode_names,
    decode_places,
    generation_of,
    numbers_of,
)
from queenright.core.kinds.postgres_cluster.topology.guard_readings import (
    certain_voters,
    is_silent,
    raft_of,
    raft_self,
    why_occupied,
)
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    decode_replaced,
)
from queenright.core.observed import Observed
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import MEMBERS_LABEL, VOTELESS_LABEL


def places_cover_what_runs(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a note of the places that changes more than one, leaves out what may run, or forgets
    that a member has no vote."""
    for action in plan.actions:
        if isinstance(action, NoteMembers):
            for why in why_not_note(action, plan, observed):
                return Refusal("places-cover-what-runs", f"{action.key}: {why}")
        if isinstance(action, NoteMembers | LabelConfig) and (
            left := why_not_joined(action, plan, observed)
        ):
            return Refusal("places-cover-what-runs", f"{action.key}: {left}")
    return None


def why_not_note(action: NoteMembers, plan: Plan, observed: Observed) -> Iterator[str]:
    swarm = swarm_of(observed)
    live = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if live is None or live.id != action.id:
        yield "it is not the state config"
        return
    labels = live.value.labels
    before, after = (
        {
            place.name: (
                number,
                place.node,
                place.address,
                place.volumes or f"{plan.cluster}_{place.name}",
            )
            for number, place in zip(numbers_of(places), places, strict=True)
        }
        for places in (
            decode_places(found.get(MEMBERS_LABEL, "")) for found in (labels, action.config.labels)
        )
    )
    changed = before.items() ^ after.items()
    new = voteless_in(action.config.labels) - voteless_in(labels)
    # Under another name the same place: its number, node, address and volumes.
    is_renamed = len(changed) == 2 and len({found for _, found in changed}) == 1
    is_marked = not changed and len(new) == 1
    # At another address the same place: its name, number, node and volumes.
    kept = {(name, number, node, volumes) for name, (number, node, _, volumes) in changed}
    moved = {name for name, *_ in kept} if len(changed) == 2 and len(kept) == 1 else set[str]()
    is_one = len(changed) == 1 or is_renamed or is_marked or bool(moved)
    if not before or not after or not is_one:
        yield "more or less than one place changes"
    elif before.keys() & after.keys() not in (before.keys(), after.keys()) and not is_renamed:
        yield "a place is replaced"
    if without_notes(labels) != without_notes(action.config.labels):
        yield "other labels change too"
    if new - after.keys():
        yield "one without a vote has no place"
    added = after.keys() - before.keys()
    for name in sorted((added | moved) - voteless_in(action.config.labels)):
        yield f"{name} is not noted as without a vote"
    for name in sorted(added):
        ages = {generation_of(volumes) for *_, volumes in before.values()}
        if lost := volumes_left(name, after[name][1], ages, labels) - {after[name][3]}:
            yield f"{name} is there again without its volumes {min(lost)}"
    for peer in peers(plan, observed):
        if peer.value.name.removeprefix(f"{plan.cluster}_") not in after.keys() - moved:
            yield f"{peer.value.name} is deployed"
    for name in (before.keys() - after.keys()) | moved:
        yield from why_not_free(before[name][2], plan, observed)
        yield from why_occupied(before[name][1], swarm)


def volumes_left(
    name: str, node: str, ages: Collection[str], labels: Mapping[str, str]
) -> set[str]:
    """Return the volumes that a member without a place left on a node, by the note of what is to
    replace it; none of another generation than all other members have."""
    notes = decode_replaced(labels.get(REPLACED_LABEL, ""))
    own = {note.volumes for note in notes if (note.member, note.written) == (name, node)}
    return {volumes for volumes in own if volumes and ages == {generation_of(volumes)}}


def voteless_in(labels: Mapping[str, str]) -> frozenset[str]:
    return decode_names(labels.get(VOTELESS_LABEL, ""))


def without_notes(labels: Mapping[str, str]) -> dict[str, str]:
    noted = {MEMBERS_LABEL, VOTELESS_LABEL}
    return {label: value for label, value in labels.items() if label not in noted}


def why_not_joined(action: LabelConfig | NoteMembers, plan: Plan, observed: Observed) -> str:
    """Reason why the note may not go that a member has no vote: its place stays, and it is not
    known to run and to vote. Empty when none goes so."""
    swarm = swarm_of(observed)
    live = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if live is None or live.id != action.id:
        return ""
    labels = action.config.labels
    places = {place.name: place for place in decode_places(labels.get(MEMBERS_LABEL, ""))}
    found = [(peer, raft_of(peer, observed)) for peer in peers(plan, observed)]
    for name in sorted((voteless_in(live.value.labels) - voteless_in(labels)) & places.keys()):
        own = next((p for p, _ in found if p.value.name == f"{plan.cluster}_{name}"), None)
        words = [s for peer, s in found if s is not None and peer is not own]
        if own is None or raft_self(own.value) not in certain_voters(words):
            return f"{name} is not known to vote"
    return ""


def why_not_free(address: str, plan: Plan, observed: Observed) -> Iterator[str]:
    """Reasons why a member at this address may still have a vote."""
    found = [raft_of(peer, observed) for peer in peers(plan, observed)]
    if not any(status is not None and status.has_quorum for status in found):
        yield "no Raft node is known to have a quorum"
    for peer in peers(plan, observed):
        status = raft_of(peer, observed)
        if status is None and not is_silent(peer, observed):
            yield f"the Raft node of {peer.value.name} is unknown"
        elif status is not None and address in {
            voter.rpartition(":")[0] for voter in status.voters
        }:
            yield f"the Raft node of {peer.value.name} lists {address}"
