"""Decision on a restore in place: why it does not begin, and the labels that it leaves.

Decides from the state alone. Invariant: nothing is stopped for a restore unless every member's node
is ready, so that no former member can run on beside the new ones: its Raft node would vote there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from queenright.core.kinds.postgres_cluster.annotations import NOTE_LABELS
from queenright.core.kinds.postgres_cluster.backup.note import LAST_BACKUP_LABEL
from queenright.core.kinds.postgres_cluster.backup.request import with_backup_request
from queenright.core.kinds.postgres_cluster.desired.base_backup import BACKUP_ROLE
from queenright.core.kinds.postgres_cluster.desired.drill import DRILL_ROLE
from queenright.core.kinds.postgres_cluster.in_place.note import (
    FORMER,
    Restored,
    RestoreRequest,
    WantedRestore,
    read_restored,
    with_request,
    with_restored,
)
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_places,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.replaced import REPLACED_LABEL
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED
from queenright.core.observed import LiveService
from queenright.core.swarm.objects import (
    BOOTSTRAPPED_LABEL,
    CLUSTER_LABEL,
    MEMBERS_LABEL,
    ROLE_LABEL,
    VOTELESS_LABEL,
)

FORGOTTEN = (*NOTE_LABELS, VOTELESS_LABEL, REPLACED_LABEL, LAST_BACKUP_LABEL, BOOTSTRAPPED_LABEL)
"""Labels about the former data and their leader."""
JOBS = {BACKUP_ROLE: "a base backup", DRILL_ROLE: "a backup drill"}


def why_not_begun(state: ClusterState, wanted: WantedRestore) -> str | None:
    """Reason why no member is stopped for a restore now; None where they may be."""
    return next(obstacles(state, wanted), None)


def obstacles(state: ClusterState, wanted: WantedRestore) -> Iterator[str]:
    desired = state.desired
    if wanted.is_back and (state.restored is None or not state.restored.former):
        yield "there are no former data: the cluster was not restored in place"
    if not wanted.is_back and desired.base_backups is None:
        yield "the file has no `backup`; write it again"
    if not state.is_bootstrapped and state.restored is None:
        yield "the cluster was never whole yet"
    if desired.topology != UNCHANGED or state.noted_labels.get(VOTELESS_LABEL):
        yield "its members are being changed, or are to be; finish that or undo the edit"
    if state.maintained:
        yield f"{', '.join(state.maintained)} in maintenance"
    if (move := state.annotations.move) is not None:
        yield f"a switchover from {move.leader} to {move.candidate} is in progress"
    for member in desired.members:
        node = state.swarm.node(member.node)
        if node is None or not node.is_ready:
            yield (
                f"node {member.node} of {member.name} is not ready, and the former member there "
                "could run on beside the new ones; bring the node back, or restore into a cluster "
                "of another name"
            )
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, desired.name):
        job = JOBS.get(live.value.labels.get(ROLE_LABEL, ""))
        if job and any(state.swarm.possible_tasks(live.id)):
            yield f"{job} is in progress"


def with_noted_request(state: ClusterState, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels with the request as begun, where nothing prevents it; without it where it
    is too old or can't be read."""
    request = state.restore_request
    if request is None or request.has_begun or state.is_paused:
        return with_request(labels, request)
    if why_not_begun(state, request.wanted) is not None:
        return with_request(labels, request)
    return with_request(labels, replace(request, has_begun=True))


def member_services(state: ClusterState) -> list[LiveService]:
    """The members' services that are there, those that were stopped included."""
    found = state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name)
    return [live for live in found if live.value.labels.get(ROLE_LABEL) == "member"]


def labels_anew(cluster: str, labels: Mapping[str, str], request: RestoreRequest) -> dict[str, str]:
    """Return a state config's labels with which the cluster begins anew: on volumes of its own, or
    on those from before the last restore."""
    wanted, before = request.wanted, read_restored(labels)
    kept = {name: value for name, value in labels.items() if name not in FORGOTTEN}
    kept = with_request(kept, None)
    present = decode_places(labels.get(MEMBERS_LABEL, ""))
    was_whole = BOOTSTRAPPED_LABEL in labels
    if wanted.target == FORMER and before is not None:
        kept = {**kept, MEMBERS_LABEL: encode_places(before.former), BOOTSTRAPPED_LABEL: "true"}
        # The restored data stay too: the same command goes forth to them again.
        left = replace(before, former=present, is_left=not before.is_left)
        return with_restored(kept, left if was_whole else None)
    kept = {**kept, MEMBERS_LABEL: encode_places(with_new_volumes(cluster, present, wanted))}
    former = present if was_whole or before is None else before.former
    return with_backup_request(with_restored(kept, Restored(wanted, former)), wanted.at)


def with_new_volumes(
    cluster: str, places: tuple[DeployedMember, ...], wanted: WantedRestore
) -> tuple[DeployedMember, ...]:
    """Return the places with volumes that nobody has: they are named after the request's moment."""
    stamp = f"{wanted.at:%Y%m%dt%H%M%S}"
    return tuple(replace(place, volumes=f"{cluster}_{place.name}-{stamp}") for place in places)
