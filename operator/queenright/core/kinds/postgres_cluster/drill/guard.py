"""Guard of drills: from the observation alone, beside what the rule asks.

One drill at a time, and none beside a base backup. Its job touches no member: no volume of anybody,
no network, no port, no password, and no secret but those of the repository.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.backup.guard import is_job as is_base_backup
from queenright.core.kinds.postgres_cluster.desired.drill import DRILL_ROLE, FILES
from queenright.core.observed import Observed
from queenright.core.planning.disruption import peers, removes_only, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, Service

NAME = "drills-touch-nothing"


def drills_touch_nothing(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to begin a drill beside another or beside a base backup, and one whose job could reach
    a member; and a base backup beside a drill."""
    made = [action.service for action in plan.actions if isinstance(action, CreateService)]
    begun = [service for service in made if is_drill(service) or is_base_backup(service)]
    if not begun:
        return None
    if len(begun) > 1:
        return Refusal(NAME, "two drills or base backups would begin at once")
    why = next(reasons(begun[0], plan, observed), None)
    return Refusal(NAME, why) if why else None


def is_drill(service: Service) -> bool:
    return service.labels.get(ROLE_LABEL) == DRILL_ROLE


def reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    swarm = swarm_of(observed)
    if swarm is None:
        yield "the swarm is unknown"
        return
    for live in swarm.index.services_labelled(CLUSTER_LABEL, plan.cluster):
        if is_drill(live.value) or (is_drill(job) and is_base_backup(live.value)):
            yield f"{live.value.name} is there already"
    if not is_drill(job):
        return
    if job.mode != "replicated-job" or job.replicas != 1:
        yield "the job could run more than once"
    if any(mount.kind != "tmpfs" for mount in job.mounts):
        yield "the job has a volume, or a directory of the node"
    if job.networks or job.ports or job.hosts:
        yield "the job is in a network, or publishes a port"
    if job.configs or job.capabilities_added or not job.resources.memory_limit_bytes:
        yield "the job has a config or a capability, or no limit of its memory"
    known = {file for peer in peers(plan, observed) for file in peer.value.secrets}
    if any(file.target not in FILES or file not in known for file in job.secrets):
        yield "the job has secrets that are not those of the repository"


def is_drill_job(action: RemoveService, observed: Observed) -> bool:
    """True if the service is a drill's job: its data are a copy that nobody needs."""
    return removes_only(
        action,
        observed,
        lambda service: (
            CLUSTER_LABEL in service.labels
            and is_drill(service)
            and service.mode == "replicated-job"
            and not any(mount.kind != "tmpfs" for mount in service.mounts)
        ),
    )
