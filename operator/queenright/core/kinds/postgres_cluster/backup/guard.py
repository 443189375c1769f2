"""Guard of base backups and of lists: from the observation alone, beside what the rule asks.

One base backup at a time, beside a member that is well, in a cluster that is not paused; a list
beside any member that runs. The member's data are mounted read-only, and nothing in a job is secret
but files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from queenright.core.actions import (
    AnyAction,
    CreateService,
    Failover,
    LabelConfig,
    RemoveService,
    RestartPostgres,
    Switchover,
)
from queenright.core.kinds.postgres_cluster.annotations import (
    MOVE_LABEL,
    read_annotations,
    state_config_name,
)
from queenright.core.kinds.postgres_cluster.desired.base_backup import (
    BACKUP_ROLE,
    DATA_TARGET,
    LIST_ROLE,
)
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.observed import Known, LiveService, Observed
from queenright.core.planning.assemble import sorted_holds
from queenright.core.planning.disruption import peers, removes_only, runs_alone, swarm_of
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, Service

NAME = "backups-are-safe"


def backups_are_safe(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to begin a base backup that could run beside another, or disrupt the cluster, and a
    list that could write."""
    made = [action.service for action in plan.actions if isinstance(action, CreateService)]
    for service in made:
        if service.labels.get(ROLE_LABEL) == LIST_ROLE:
            found = list_reasons(service, plan, observed)
            if why := next(found, None):
                return Refusal(NAME, why)
    begun = [service for service in made if is_job(service)]
    if not begun:
        return None
    if len(begun) > 1:
        return Refusal(NAME, "two base backups would begin at once")
    why = next(reasons(begun[0], plan, observed), None)
    return Refusal(NAME, why) if why else None


def is_job(service: Service) -> bool:
    return service.labels.get(ROLE_LABEL) == BACKUP_ROLE


def reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    swarm = swarm_of(observed)
    if swarm is None:
        yield "the swarm is unknown"
        return
    for live in swarm.index.services_labelled(CLUSTER_LABEL, plan.cluster):
        if is_job(live.value):
            yield f"{live.value.name} is there already"
    anchor = swarm.config(state_config_name(plan.cluster))
    if anchor is None or read_annotations(anchor.value.labels).move is not None:
        yield "the leader may be moving, or nothing is noted of the cluster"
    if why := why_disturbed(plan.actions, observed):
        yield f"{why} is in the same plan"
    settings = observed.settings.get(plan.cluster)
    if isinstance(settings, Known) and pause_reason(settings.value):
        yield "Patroni is paused by the operator"
    yield from member_reasons(job, plan, observed)


def why_disturbed(actions: Iterable[AnyAction], observed: Observed) -> str:
    """Return what would end a backup that the same plan begins; empty where nothing would."""
    swarm = swarm_of(observed)
    for action in actions:
        if isinstance(action, Switchover | Failover | RestartPostgres):
            return "a change of the leader or a restart"
        if action.disrupts:
            return f"a disruption of {action.disrupts}"
        if isinstance(action, LabelConfig) and MOVE_LABEL in action.config.labels:
            live = swarm.config(action.config.name) if swarm else None
            if live is None or MOVE_LABEL not in live.value.labels:
                return "a move of the leader"
    return ""


def with_quiet_backups(plan: Plan, observed: Observed) -> Plan:
    """Return the plan without a base backup that its other actions would end."""
    begun = [a for a in plan.actions if isinstance(a, CreateService) and is_job(a.service)]
    others = tuple(action for action in plan.actions if action not in begun)
    why = why_disturbed(others, observed) if begun else ""
    if not why:
        return plan
    held = (Hold(action.key, f"waits: {why} comes first; {action.reason}") for action in begun)
    return replace(plan, actions=others, holds=sorted_holds((*plan.holds, *held)))


def member_reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    """Reasons in the members' own answers, and in what the job mounts of one."""
    is_led = False
    for peer in peers(plan, observed):
        reading = observed.members.get(peer.value.name)
        if isinstance(reading, Known):
            is_led |= reading.value.holds_lock
            if reading.value.paused:
                yield "Patroni is paused"
    if not is_led:
        yield "no member is known to hold the leader lock"
    yield from job_reasons(job, plan, observed)
    beside = member_beside(job, plan, observed)
    reading = observed.members.get(beside.value.name) if beside else None
    if beside and not (isinstance(reading, Known) and reading.value.is_well):
        yield f"{beside.value.name} is not known to be well"


def list_reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    swarm = swarm_of(observed)
    if swarm is None or swarm.service(job.name) is not None:
        yield f"{job.name} is there already, or the swarm is unknown"
    yield from job_reasons(job, plan, observed)


def job_reasons(job: Service, plan: Plan, observed: Observed) -> Iterator[str]:
    """Reasons in the job itself, and in the member that it mounts the data of."""
    if len(volumes_of(job)) != 1 or is_writing(job) or job.mode != "replicated-job":
        yield "the job could write to a volume, or run more than once"
    beside = member_beside(job, plan, observed)
    if beside is None or {*job.constraints} != {*beside.value.constraints}:
        yield "the job is not beside the member whose data it reads"
        return
    if not runs_alone(beside, observed):
        yield f"{beside.value.name} is not known to run"
    if not {*job.secrets} <= {*beside.value.secrets}:
        yield f"the job has secrets that {beside.value.name} has not"


def volumes_of(job: Service) -> set[str]:
    return {mount.source for mount in job.mounts if mount.kind != "tmpfs"}


def is_writing(job: Service) -> bool:
    return any(mount.kind != "tmpfs" and not mount.read_only for mount in job.mounts)


def member_beside(job: Service, plan: Plan, observed: Observed) -> LiveService | None:
    """Return the member whose data the job mounts."""
    for peer in peers(plan, observed):
        if {m.source for m in peer.value.mounts if m.target == DATA_TARGET} == volumes_of(job):
            return peer
    return None


def is_backup_job(action: RemoveService, observed: Observed) -> bool:
    """True if the service is the job of a base backup or of a list: what it has made is in the
    repository, and what is not finished is not listed there."""
    return removes_only(
        action,
        observed,
        lambda service: (
            CLUSTER_LABEL in service.labels
            and service.labels.get(ROLE_LABEL) in {BACKUP_ROLE, LIST_ROLE}
            and service.mode == "replicated-job"
            and not is_writing(service)
        ),
    )
