"""The note of the members' places in the state config, written before and after a change.

Beside the places it names the members without a vote: those that have not joined yet, and those
that lost theirs, before their services go. So a member that does not run and has no vote is known
as such also while no Raft node has a quorum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from queenright.core.actions import NoteMembers
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_names,
    decode_places,
    encode_names,
    encode_places,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    certain_voters,
    is_newcomer,
    noted_voteless,
    raft_address,
)
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import MEMBERS_LABEL, VOTELESS_LABEL


def note_members(
    state: ClusterState,
    places: Sequence[DeployedMember],
    reason: str,
    voteless: Collection[str] = (),
) -> NoteMembers | None:
    """Return the action that notes these places, and who of them has no vote beside those that are
    noted so; None while there is no state config."""
    live = state.swarm.config(state.desired.state_config.name)
    if live is None:
        return None
    kept = {place.name for place in places} & ({*voteless} | noted_voteless(state))
    labels = with_voteless({**live.value.labels, MEMBERS_LABEL: encode_places(places)}, kept)
    wanted = dataclasses.replace(live.value, labels=labels)
    changes = diff(wanted, live.value)
    return NoteMembers(live.id, live.version, wanted, reason=reason, changes=changes)


def note_newcomer(state: ClusterState) -> NoteMembers | None:
    """Return the note of a member that is to be started, has no vote, and is not noted so: an
    earlier release noted its place, or its service was removed by hand."""
    for member in state.desired.members:
        is_known = member.name in {*state.desired.topology.leaving, *noted_voteless(state)}
        if is_known or certain_voters(state, {raft_address(state, member)}) is None:
            continue  # a node without a quorum may not know all voters
        if is_newcomer(state, member):
            return note_voteless(state, member)
    return None


def note_voteless(state: ClusterState, member: DesiredMember) -> NoteMembers | None:
    """Return the note of a member that has no vote; None while the places are not known."""
    live = state.swarm.config(state.desired.state_config.name)
    places = decode_places(live.value.labels.get(MEMBERS_LABEL, "")) if live is not None else ()
    reason = f"member {member.name} has no vote: that is noted before its service is made or goes"
    return note_members(state, places, reason, {member.name}) if places else None


def with_voteless(labels: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return a state config's labels with these members without a vote in place of its own."""
    kept = {label: value for label, value in labels.items() if label != VOTELESS_LABEL}
    return {**kept, VOTELESS_LABEL: encode_names(names)} if names else kept


def without_voters(state: ClusterState, labels: Mapping[str, str]) -> dict[str, str]:
    """Return a state config's labels that name nobody as without a vote who runs and votes, or has
    no place."""
    noted = decode_names(labels.get(VOTELESS_LABEL, ""))
    left = {m.name for m in state.desired.members if m.name in noted and not has_joined(state, m)}
    return with_voteless(labels, left) if left != noted else dict(labels)


def has_joined(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that has a service, and votes."""
    own = raft_address(state, member)
    is_there = state.swarm.service(member.service.name) is not None
    return is_there and own in (certain_voters(state, {own}) or frozenset())
