"""The note of the members' places in the state config, written before and after a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from queenright.core.actions import NoteMembers
from queenright.core.kinds.postgres_cluster.places import DeployedMember, encode_places
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import MEMBERS_LABEL


def note_members(
    state: ClusterState, places: Sequence[DeployedMember], reason: str
) -> NoteMembers | None:
    """Return the action that notes these places; None while there is no state config."""
    live = state.swarm.config(state.desired.state_config.name)
    if live is None:
        return None
    labels = {**live.value.labels, MEMBERS_LABEL: encode_places(places)}
    wanted = dataclasses.replace(live.value, labels=labels)
    changes = diff(wanted, live.value)
    return NoteMembers(live.id, live.version, wanted, reason=reason, changes=changes)
