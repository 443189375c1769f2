"""What no plan may ever do, whatever a rule says: the last word before anything is touched.

Guards repeat on purpose what rules take care of, from the observation alone. Removing a volume or
a secret needs no guard: there is no such action.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    Action,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.desired import ROLE_LABEL
from queenright.core.observed import Known, LiveService, MemberStatus, Observed, SwarmState, Unknown
from queenright.core.plan import Guard, Plan, Refusal
from queenright.core.resources import CLUSTER_LABEL


def one_disturbance(plan: Plan, observed: Observed) -> Refusal | None:
    """Never more than one service disturbed by one plan."""
    disturbed = sorted({action.disturbs for action in plan.actions if action.disturbs})
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
    """Member services with a running task that the plan's updates, restarts or labels stop."""
    swarm = swarm_of(observed)
    if swarm is None:
        return
    for action in plan.actions:
        live = swarm.service(action.disturbs) if stops_tasks(action) else None
        if live and is_member(live, plan.cluster, observed):
            yield live


def stops_tasks(action: Action) -> bool:
    return isinstance(action, UpdateService | RestartService | LabelNode) and bool(action.disturbs)


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
