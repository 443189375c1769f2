"""Guard of the jobs that find where members' data end: from the observation alone.

Such a job reads the data of one member and nothing else, on that member's node, also while the
cluster has no leader and no quorum, and while Patroni is paused.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.backup.guard import (
    is_writing,
    member_beside,
    volumes_of,
)
from queenright.core.kinds.postgres_cluster.desired.base_backup import data_volume
from queenright.core.kinds.postgres_cluster.desired.data_end import (
    DATA_END_ROLE,
    node_constraint,
)
from queenright.core.observed import Observed, SwarmState
from queenright.core.planning.disruption import removes_only, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, Service

NAME = "data-ends-are-read"


def data_ends_are_read(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a job that could do more than read the data of one member of this cluster."""
    made = [action.service for action in plan.actions if isinstance(action, CreateService)]
    for job in filter(is_data_end, made):
        if why := next(reasons(job, plan, observed), None):
            return Refusal(NAME, why)
    return None


def is_data_end(service: Service) -> bool:
    return service.labels.get(ROLE_LABEL) == DATA_END_ROLE


def reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    swarm = swarm_of(observed)
    if swarm is None or swarm.service(job.name) is not None:
        yield f"{job.name} is there already, or the swarm is unknown"
        return
    if is_writing(job) or job.mode != "replicated-job" or job.restart.condition != "none":
        yield "the job could write to a volume, or run more than once"
    if has_more(job):
        yield "the job has a secret, a config, a network, a port or a capability"
    yield from place_reasons(job, plan, observed, swarm)


def has_more(job: Service) -> bool:
    """Return True if the job has anything but files to read."""
    given = (job.secrets, job.configs, job.networks, job.ports, job.capabilities_added)
    return any(given) or job.capabilities_dropped != ("ALL",)


def place_reasons(job: Service, plan: Plan, observed: Observed, swarm: SwarmState) -> Iterator[str]:
    """Reasons in the data that the job mounts, and in its node. A member whose service is gone has
    its volume on its node all the same, where no other service may have it."""
    volume = data_volume(job)
    if volumes_of(job) != {volume} or not volume.startswith(f"{plan.cluster}_"):
        yield "the job mounts something else than the data of one member"
    if not any(node_constraint(node.id) in job.constraints for node in swarm.nodes):
        yield "the job is on no certain node"
    beside = member_beside(job, plan, observed)
    if beside is not None and not {*beside.value.constraints} <= {*job.constraints}:
        yield "the job is not beside the member whose data it reads"
    others = (live.value for live in swarm.services if volume in volumes_of(live.value))
    if beside is None and any(not is_data_end(other) for other in others):
        yield "the volume is another service's"


def is_data_end_job(action: RemoveService, observed: Observed) -> bool:
    """True if the service is such a job: it has written nothing."""
    return removes_only(
        action,
        observed,
        lambda service: (
            CLUSTER_LABEL in service.labels
            and is_data_end(service)
            and service.mode == "replicated-job"
            and not is_writing(service)
        ),
    )
