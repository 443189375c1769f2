"""Guard of the repository on a volume: from the observation alone, beside what the rule asks.

A deployed repository keeps its node and its volume, and goes only when no member archives there.
"""

from __future__ import annotations

from queenright.core.actions import RemoveService, RestartService, UpdateService
from queenright.core.kinds.postgres_cluster.desired.repository import REPOSITORY_ROLE
from queenright.core.observed import Known, Observed
from queenright.core.planning.disruption import swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, Service

NAME = "repository-stays"


def repository_stays(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse an update after which a repository would be on another node or volume."""
    swarm = swarm_of(observed)
    for action in plan.actions:
        if not isinstance(action, UpdateService | RestartService):
            continue
        live = swarm.service(action.service.name) if swarm is not None else None
        if live is None or live.value.labels.get(ROLE_LABEL) != REPOSITORY_ROLE:
            continue
        if place(action.service) != place(live.value):
            return Refusal(NAME, f"{live.value.name} would leave its volume with the backups")
    return None


def place(service: Service) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Return the constraints and volumes of a service, by which its data are found."""
    volumes = {(m.target, m.source) for m in service.mounts if m.kind != "tmpfs"}
    return frozenset(service.constraints), frozenset(volumes)


def is_left_repository(action: RemoveService, observed: Observed) -> bool:
    """True if the service is a cluster's repository, and no member of it archives there."""
    match observed.swarm:
        case Known(swarm):
            found = [live.value for live in swarm.index.services_with_id(action.id)]
            return bool(found) and all(
                service.labels.get(ROLE_LABEL) == REPOSITORY_ROLE
                and not any(
                    archives_at(other.value, service)
                    for other in swarm.index.services_labelled(
                        CLUSTER_LABEL, service.labels.get(CLUSTER_LABEL, "")
                    )
                )
                for service in found
            )
        case _:
            return False


def archives_at(service: Service, repository: Service) -> bool:
    """Return True if a service archives at a port of this repository."""
    endpoint = service.environment.get("BACKUP_ENDPOINT", "")
    return any(endpoint.endswith(f":{port.published}") for port in repository.ports)
