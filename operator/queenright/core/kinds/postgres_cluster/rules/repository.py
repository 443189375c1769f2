"""Rule for the repository on a volume: its service, deployed and kept on the node with the volume.

It is never moved: an empty volume on another node would be another repository. It goes when the
document has none any more and no member archives there; its volume stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, RemoveService
from queenright.core.kinds.postgres_cluster.desired.repository import (
    DATA_TARGET,
    REPOSITORY_ROLE,
    DesiredRepository,
    endpoint_at,
)
from queenright.core.kinds.postgres_cluster.port_changes import why_ports_taken
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import LiveService
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.planning.service_rollout import plan_service
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

ASPECT = "backup"


def plan_repository(state: ClusterState) -> Iterator[AnyAction | Hold]:
    wanted = state.desired.repository
    if wanted is None:
        yield from remove_unwanted(state)
        return
    if wanted.wanted != wanted.node:
        yield moved_hold(state.desired.name, wanted)
    if any(state.swarm.secret(file.name) is None for file in wanted.service.secrets):
        return  # the rule for secrets says so
    taken = why_ports_taken(state, wanted.service, {wanted.node})
    yield from plan_service(state, wanted.service, obstacle=taken)


def moved_hold(cluster: str, wanted: DesiredRepository) -> Hold:
    """Hold for a document that names another node than that with the backups."""
    name, field = wanted.service.name, "spec.backup.repository.volume.node"
    return Hold(
        f"{ASPECT}/{cluster}/node",
        f"{field}: {wanted.wanted} takes no effect, and {name} stays on {wanted.node} (the "
        f"backups are in its volume {wanted.volume} there, and would be left behind); write node: "
        f"{wanted.node} again. To move it: (1) add reconcile: paused to spec; (2) docker service "
        f"rm {name}; (3) copy the volume to one of the same name on {wanted.wanted}, with owners "
        "and extended attributes; (4) take reconcile: paused away",
        wants_attention=True,
    )


def remove_unwanted(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """The service of this cluster's repository, where the file has no volume any more."""
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if live.value.labels.get(ROLE_LABEL) != REPOSITORY_ROLE:
            continue
        volume = next((m.source for m in live.value.mounts if m.target == DATA_TARGET), "")
        if users := [*members_at(state, live)]:
            yield Hold(
                f"remove-service/{live.value.name}",
                f"{live.value.name}: is not removed yet ({' and '.join(users)} still archive "
                "there); ends with their update",
                state.now + SETTLES,
            )
        else:
            yield RemoveService(
                live.id,
                live.value.name,
                reason="the file no longer has a repository on a volume; this stays: volume "
                f"{volume}",
            )


def members_at(state: ClusterState, live: LiveService) -> Iterator[str]:
    """The members' services that are deployed with this repository."""
    endpoint = endpoint_at(live.value)
    for member in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if endpoint and member.value.environment.get("BACKUP_ENDPOINT") == endpoint:
            yield member.value.name
