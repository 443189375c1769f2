"""What no plan may ever do, whatever a rule says: the last word before anything is touched.

Guards repeat on purpose what rules take care of, from the observation alone: what an action
disturbs they work out themselves, and do not take from the action's own word. Removing a volume or
a secret needs no guard: there is no such action.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    Action,
    AdjustService,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.diff import diff, disturbs
from queenright.core.observed import Known, LiveService, MemberStatus, Observed, SwarmState, Unknown
from queenright.core.plan import Guard, Plan, Refusal
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL


def one_disturbance(plan: Plan, observed: Observed) -> Refusal | None:
    """Never more than one service disturbed by one plan."""
    said = {action.disturbs for action in plan.actions if action.disturbs}
    disturbed = sorted(said | {live.value.name for live in disturbed_members(plan, observed)})
    if len(disturbed) > 1:
        return Refusal("one-disturbance", f"the plan disturbs {', '.join(disturbed)} at once")
    return None


def leader_is_safe(plan: Plan, observed: Observed) -> Refusal | None:
    """A service whose member holds the leader lock is never restarted, and none is while the
    holder of the lock is unknown."""
    for live in disturbed_members(plan, observed):
        match observed.members.get(live.value.name):
            case Known(status) if status.holds_lock:
                return Refusal("leader-is-safe", f"{live.value.name} holds the leader lock")
            case _:
                pass
        if not any(status.holds_lock for status in known_peers(plan, observed)):
            return Refusal("leader-is-safe", "no member is known to hold the leader lock")
    return None


def unknown_is_not_down(plan: Plan, observed: Observed) -> Refusal | None:
    """No member is disturbed while any member of its cluster is unknown."""
    for _ in disturbed_members(plan, observed):
        for peer in peers(plan, observed):
            match observed.members.get(peer.value.name):
                case Unknown(why):
                    return Refusal("unknown-is-not-down", f"{peer.value.name} is unknown: {why}")
                case None:
                    return Refusal("unknown-is-not-down", f"{peer.value.name} was not asked")
                case _:
                    pass
    return None


def others_are_well(plan: Plan, observed: Observed) -> Refusal | None:
    """No member is disturbed while another neither leads nor streams, or while Patroni is paused:
    a second one out would cost the quorum."""
    for live in disturbed_members(plan, observed):
        for peer in peers(plan, observed):
            match observed.members.get(peer.value.name):
                case Known(status) if status.paused:
                    return Refusal("others-are-well", "Patroni is paused")
                case Known(status) if peer.value.name != live.value.name and not status.is_well:
                    return Refusal("others-are-well", f"{peer.value.name} is {status.state}")
                case _ if peer.value.name != live.value.name and not runs_alone(peer, observed):
                    return Refusal("others-are-well", f"{peer.value.name} has no single task")
                case _:
                    pass
    return None


def removal_is_asked_for(plan: Plan, observed: Observed) -> Refusal | None:
    """Services and networks go only with a cluster that has no document, and configs only while
    no service refers to them."""
    for action in plan.actions:
        if isinstance(action, RemoveService | RemoveNetwork) and plan.desired_digest:
            return Refusal("removal-is-asked-for", f"{action.key} while its document is there")
        if isinstance(action, RemoveConfig) and is_in_use(action, observed):
            return Refusal("removal-is-asked-for", f"{action.name} is in use")
    return None


GUARDS: tuple[Guard, ...] = (
    one_disturbance,
    leader_is_safe,
    unknown_is_not_down,
    others_are_well,
    removal_is_asked_for,
)


def first_refusal(
    plan: Plan, observed: Observed, guards: tuple[Guard, ...] = GUARDS
) -> Refusal | None:
    """The first guard's refusal, or None when the plan may be carried out."""
    return next((found for guard in guards if (found := guard(plan, observed))), None)


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
    """Whether exactly one task of the service is alive, and it runs."""
    swarm = swarm_of(observed)
    alive = [task.state for task in swarm.tasks_of(live.id) if task.is_alive] if swarm else []
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
