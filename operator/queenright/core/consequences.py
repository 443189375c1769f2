"""What a plan would do to the members, worked out from the observation alone.

The guards rest on it: what an action says of itself counts for nothing here. Invariant: a task that
may be running, for all that is known, counts as running.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    Action,
    AdjustService,
    LabelNode,
    RemoveConfig,
    RestartPostgres,
    RestartService,
    UpdateService,
)
from queenright.core.diff import diff, disturbs
from queenright.core.observed import Known, LiveService, MemberStatus, Observed, SwarmState
from queenright.core.plan import Plan
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL


def swarm_of(observed: Observed) -> SwarmState | None:
    match observed.swarm:
        case Known(swarm):
            return swarm
        case _:
            return None


def disturbed_members(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    """Member services of the cluster whose task, running for all that is known, the plan stops."""
    for live in peers(plan, observed):
        if any(stops(action, live, observed) for action in plan.actions):
            yield live


def stops(action: Action, live: LiveService, observed: Observed) -> bool:
    """Whether the action stops a task of this service that may be running."""
    swarm = swarm_of(observed)
    tasks = list(swarm.possible_tasks(live.id)) if swarm else []
    match action:
        case UpdateService(service=service) if service.name == live.value.name:
            return bool(tasks) and (
                disturbs(diff(service, live.value)) or service.replicas < live.value.replicas
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
            changed = [key for key, value in labels.items() if present.get(key) != value]
            placed = {f"node.labels.{key}=={present[key]}" for key in changed if key in present}
            return bool(placed & set(live.value.constraints)) and any(
                task.node_id == node_id for task in tasks
            )
        case _:
            return False


def runs_alone(live: LiveService, observed: Observed) -> bool:
    """Whether exactly one task of the service is alive on a node, and it runs."""
    swarm = swarm_of(observed)
    tasks = [task for task in swarm.tasks_of(live.id) if task.is_alive] if swarm else []
    alive = [task.state for task in tasks if task.node_id]
    return alive == ["running"]


def is_member(live: LiveService, cluster: str, observed: Observed) -> bool:
    """By its labels, or, since a person may have removed those, by its name among those asked."""
    name, labels = live.value.name, live.value.labels
    labelled = labels.get(CLUSTER_LABEL) == cluster and labels.get(ROLE_LABEL) == "member"
    return labelled or (name in observed.members and name.startswith(f"{cluster}_"))


def peers(plan: Plan, observed: Observed) -> Iterator[LiveService]:
    """The member services of the plan's cluster."""
    swarm = swarm_of(observed)
    for live in swarm.services if swarm else ():
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
    return swarm is None or any(
        reference.name == action.name for live in swarm.services for reference in live.value.configs
    )
