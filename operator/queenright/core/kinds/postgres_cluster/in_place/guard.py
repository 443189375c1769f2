"""Guard of restores in place: from the observation alone, beside what the rule asks.

A member is stopped for one, its service removed, and the notes of its data dropped, only for a
request that has begun; nothing starts before all that was is gone, and no empty database begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    CreateConfig,
    CreateService,
    LabelConfig,
    NoteMembers,
    RemoveService,
    UpdateService,
)
from queenright.core.kinds.postgres_cluster.annotations import noted_labels, state_config_name
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import bootstraps
from queenright.core.kinds.postgres_cluster.desired.restore import IN_PLACE_VARIABLE
from queenright.core.kinds.postgres_cluster.desired.services import TEMPLATE_TARGET
from queenright.core.kinds.postgres_cluster.in_place.note import (
    RESTORE_REQUEST_LABEL,
    RESTORED_LABEL,
)
from queenright.core.observed import Known, LiveService, Observed, SwarmState
from queenright.core.planning.disruption import disrupted_members, known_peers, peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, CLUSTER_LABEL, ROLE_LABEL, Service

NAME = "restores-are-asked-for"


def restores_are_asked_for(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to stop a member for good, or to drop the notes of its data, without a request."""
    swarm = swarm_of(observed)
    if swarm is None:
        return None
    labels, begun = noted_labels(plan.cluster, swarm), has_begun(plan.cluster, swarm)
    for action in plan.actions:
        for why in reasons(action, plan, observed, labels, begun=begun):
            return Refusal(NAME, f"{action.key}: {why}")
    return None


def reasons(
    action: AnyAction, plan: Plan, observed: Observed, labels: Mapping[str, str], *, begun: bool
) -> Iterator[str]:
    match action:
        case AdjustService(service=service) if not service.replicas and is_member(service, plan):
            if not begun:
                yield "no restore of this cluster has begun"
        case LabelConfig(config=config) | NoteMembers(config=config) if config.name == (
            state_config_name(plan.cluster)
        ):
            dropped = (BOOTSTRAPPED_LABEL, RESTORED_LABEL)
            is_anew = any(labels.get(key) and key not in config.labels for key in dropped)
            is_anew |= config.labels.get(RESTORED_LABEL, "") != labels.get(RESTORED_LABEL, "")
            if is_anew and not begun:
                yield "the notes of the data would go, and no restore has begun"
            if is_anew and any(peers(plan, observed)):
                yield "the notes of the data would go, and a member of the former data is there"
        case CreateService(service=service) | UpdateService(service=service) if is_member(
            service, plan
        ):
            if begun:
                yield "a restore has begun, and not all former members are gone"
            is_own = bool(service.environment.get(IN_PLACE_VARIABLE))
            if RESTORED_LABEL in labels and not is_own and begins(service, plan, observed):
                yield "it would begin an empty database in place of the one that is restored"
        case _:
            pass


def begins(service: Service, plan: Plan, observed: Observed) -> bool:
    """Return True if the service's member may initialise a cluster."""
    swarm = swarm_of(observed)
    texts = {a.config.name: a.config.data for a in plan.actions if isinstance(a, CreateConfig)}
    for file in service.configs:
        live = swarm.config(file.name) if swarm else None
        data = texts.get(file.name, live.value.data if live is not None else b"")
        if file.target == TEMPLATE_TARGET and bootstraps(data):
            return True
    return False


def unasked_disruptions(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    """Yield the member services whose running task the plan stops, but for those that a restore in
    place stops: that one stops them all, the leader too. And but for those that have no data yet,
    because their restore has failed."""
    swarm = swarm_of(observed)
    stopped = {
        action.id
        for action in plan.actions
        if isinstance(action, AdjustService) and not action.service.replicas
    }
    spared = stopped if swarm is not None and has_begun(plan.cluster, swarm) else set[str]()
    return (
        live
        for live in disrupted_members(plan, observed)
        if live.id not in spared and not begins_again(live, plan, observed)
    )


def begins_again(live: LiveService, plan: Plan, observed: Observed) -> bool:
    """Return True for a member that says that its last try to restore came to nothing, while nobody
    leads and the cluster was never whole: its container ends by itself, and it has no data."""
    swarm = swarm_of(observed)
    if swarm is None or BOOTSTRAPPED_LABEL in noted_labels(plan.cluster, swarm):
        return False
    if any(status.holds_lock for status in known_peers(plan, observed)):
        return False
    match observed.members.get(live.value.name):
        case Known(status):
            return bool(status.failed_restore) and not status.is_running
        case _:
            return False


def is_stopped_member(action: RemoveService, observed: Observed) -> bool:
    """Return True for the service of a member that a restore in place has stopped, and of which no
    task can be running."""
    swarm = swarm_of(observed)
    found = [*swarm.index.services_with_id(action.id)] if swarm else []
    return bool(found) and all(
        swarm is not None
        and live.value.labels.get(ROLE_LABEL) == "member"
        and not live.value.replicas
        and not any(swarm.possible_tasks(live.id))
        and has_begun(live.value.labels.get(CLUSTER_LABEL, ""), swarm)
        for live in found
    )


def has_begun(cluster: str, swarm: SwarmState) -> bool:
    """Return True if the cluster's state config has a request that has begun."""
    found = read_json(noted_labels(cluster, swarm).get(RESTORE_REQUEST_LABEL, ""))
    return isinstance(found, dict) and found.get("begun") is True


def is_member(service: Service, plan: Plan) -> bool:
    labels = service.labels
    return labels.get(ROLE_LABEL) == "member" and labels.get(CLUSTER_LABEL) == plan.cluster
