"""Effects of a plan on the members, computed from the observation alone.

The guards depend on it, so an action's own statement counts for nothing here. Invariant: a task
that may be running counts as running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    LabelNode,
    RemoveConfig,
    RemoveService,
    RestartPostgres,
    RestartService,
    UpdateService,
)
from queenright.core.observed import Known, LiveService, MemberStatus, Observed, SwarmState
from queenright.core.observed.constraints import loses_place
from queenright.core.planning.plan import Plan
from queenright.core.swarm.diff import diff, disrupts
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, Service


def removes_only(
    action: RemoveService, observed: Observed, suits: Callable[[Service], bool]
) -> bool:
    """Return True if what the action removes is known, and every service of its id suits."""
    swarm = swarm_of(observed)
    found = [live.value for live in swarm.index.services_with_id(action.id)] if swarm else []
    return bool(found) and all(map(suits, found))


def swarm_of(observed: Observed) -> SwarmState | None:
    match observed.swarm:
        case Known(swarm):
            return swarm
        case _:
            return None


def disrupted_members(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    """Yield the cluster's member services whose possibly running task the plan stops."""
    for live in peers(plan, observed):
        if any(stops(action, live, observed) for action in plan.actions):
            yield live


def stops(action: AnyAction, live: LiveService, observed: Observed) -> bool:
    """Return True if the action stops a task of this service that may be running."""
    swarm = swarm_of(observed)
    tasks = list(swarm.possible_tasks(live.id)) if swarm else []
    match action:
        case UpdateService(service=service) if service.name == live.value.name:
            return bool(tasks) and (
                disrupts(diff(service, live.value)) or service.replicas < live.value.replicas
            )
        case AdjustService(service=service) if service.name == live.value.name:
            return bool(tasks) and service.replicas < live.value.replicas
        case RestartService(service=service) if service.name == live.value.name:
            return bool(tasks)
        case RestartPostgres(cluster=cluster, member=member):
            return live.value.name == f"{cluster}_{member}"
        case LabelNode(node_id=node_id, labels=labels):
            node = swarm.node_by_id(node_id) if swarm else None
            present = node.labels if node else {}
            after = {k: v for k, v in {**present, **labels}.items() if v is not None}
            is_moved = loses_place(live.value.constraints, present, after)
            return is_moved and any(task.node_id == node_id for task in tasks)
        case _:
            return False


def runs_alone(live: LiveService, observed: Observed) -> bool:
    """Return True if exactly one task of the service is alive on a node, and it runs."""
    swarm = swarm_of(observed)
    return swarm is not None and swarm.sole_task(live.id) is not None


def is_member(live: LiveService, cluster: str, observed: Observed) -> bool:
    """Return True for a member by its labels, or by its name if a person removed those."""
    name, labels = live.value.name, live.value.labels
    labelled = labels.get(CLUSTER_LABEL) == cluster and labels.get(ROLE_LABEL) == "member"
    return labelled or (name in observed.members and name.startswith(f"{cluster}_"))


def peers(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    """Yield the member services of the plan's cluster."""
    swarm = swarm_of(observed)
    for live in swarm.index.services_of(CLUSTER_LABEL, plan.cluster) if swarm else ():
        if is_member(live, plan.cluster, observed):
            yield live


def known_peers(plan: Plan, observed: Observed) -> Iterator[MemberStatus]:
    for peer in peers(plan, observed):
        match observed.members.get(peer.value.name):
            case Known(status):
                yield status
            case _:
                pass


def is_in_use(action: RemoveConfig, observed: Observed) -> bool:
    swarm = swarm_of(observed)
    return swarm is None or action.name in swarm.index.configs_in_use
