"""What no plan may ever do, whatever a rule says: the last word before anything is touched.

Guards repeat on purpose what rules take care of, from the observation alone: what an action
disturbs they work out themselves, and do not take from the action's own word. Removing a volume or
a secret needs no guard: there is no such action.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    LabelNode,
    PatchSettings,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    SwitchOver,
)
from queenright.core.app.guards import (
    is_dump,
    is_spare_edge,
    replicas_have_a_database,
    secrets_are_never_replaced,
)
from queenright.core.catalog_guards import sql_goes_to_the_leader
from queenright.core.consequences import (
    disturbed_members,
    is_in_use,
    known_peers,
    peers,
    runs_alone,
    stops,
    swarm_of,
)
from queenright.core.move_guards import failover_is_a_persons, move_is_safe, pauses_are_respected
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.plan import Guard, Plan, Refusal
from queenright.core.resources import ADDRESS_LABEL, APP_LABEL, CLUSTER_LABEL, ROLE_LABEL, VIP_ROLE


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


def quorum_is_certain(plan: Plan, observed: Observed) -> Refusal | None:
    """No member is disturbed unless the Raft node of every other one says itself that it has a
    quorum, the lead moves only if all say so, and Patroni is asked for a change of its settings
    only where the one that is asked does: what REST answers comes from local memory."""
    needed = {name for name, asked in whose_quorum(plan, observed) if asked}
    for name in sorted(needed):
        match observed.raft.get(name):
            case Known(status) if status.has_quorum:
                pass
            case Known():
                return Refusal("quorum-is-certain", f"the Raft node of {name} has no quorum")
            case _:
                return Refusal("quorum-is-certain", f"the Raft node of {name} is unknown")
    return None


def whose_quorum(plan: Plan, observed: Observed) -> Iterator[tuple[str, bool]]:
    """Each member's service, and whether its Raft node has to affirm the quorum for this plan."""
    spared = {live.value.name for live in disturbed_members(plan, observed)}
    moves = any(isinstance(action, SwitchOver) for action in plan.actions)
    asked = {action.address for action in plan.actions if isinstance(action, PatchSettings)}
    for peer in peers(plan, observed):
        name, address = peer.value.name, peer.value.labels.get(ADDRESS_LABEL, "")
        yield name, moves or address in asked or (bool(spared) and name not in spared)


def removal_is_asked_for(plan: Plan, observed: Observed) -> Refusal | None:
    """Services and networks go only with a cluster that has no document, and configs only while
    no service refers to them. keepalived's service holds nothing, and may go by itself; so may
    an edge, once the replicas are published without it: its certificates stay in its volume."""
    for action in plan.actions:
        if isinstance(action, RemoveService) and (
            is_keepalived(action, observed)
            or is_dump(action, observed)
            or is_spare_edge(action, observed)
        ):
            continue
        if isinstance(action, RemoveService | RemoveNetwork) and plan.desired_digest:
            return Refusal("removal-is-asked-for", f"{action.key} while its document is there")
        if isinstance(action, RemoveConfig) and is_in_use(action, observed):
            return Refusal("removal-is-asked-for", f"{action.name} is in use")
    return None


def is_keepalived(action: RemoveService, observed: Observed) -> bool:
    """Whether the service is one that keeps the virtual address, and nothing on any volume."""
    match observed.swarm:
        case Known(swarm):
            found = [live.value for live in swarm.services if live.id == action.id]
            return bool(found) and all(
                CLUSTER_LABEL in service.labels
                and service.labels.get(ROLE_LABEL) == VIP_ROLE
                and not any(mount.kind != "tmpfs" for mount in service.mounts)
                for service in found
            )
        case _:
            return False


def labels_place_ones_own(plan: Plan, observed: Observed) -> Refusal | None:
    """No node label is changed by which a task of another cluster or application may be running."""
    swarm = swarm_of(observed)
    for action in plan.actions:
        for live in swarm.services if swarm and isinstance(action, LabelNode) else ():
            labels = live.value.labels
            owner = labels.get(CLUSTER_LABEL) or labels.get(APP_LABEL) or plan.cluster
            if owner != plan.cluster and stops(action, live, observed):
                why = f"{action.key} would stop {live.value.name}, which is {owner}'s"
                return Refusal("labels-place-ones-own", why)
    return None


GUARDS: tuple[Guard, ...] = (
    one_disturbance,
    leader_is_safe,
    unknown_is_not_down,
    others_are_well,
    quorum_is_certain,
    move_is_safe,
    failover_is_a_persons,
    pauses_are_respected,
    sql_goes_to_the_leader,
    removal_is_asked_for,
    labels_place_ones_own,
    replicas_have_a_database,
    secrets_are_never_replaced,
)


def first_refusal(
    plan: Plan, observed: Observed, guards: tuple[Guard, ...] = GUARDS
) -> Refusal | None:
    """The first guard's refusal, or None when the plan may be carried out."""
    return next((found for guard in guards if (found := guard(plan, observed))), None)
