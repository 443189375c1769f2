"""Guards: the last check of every plan before anything is changed.

Guards repeat on purpose what rules take care of, from the observation alone: they derive themselves
what an action disrupts, and do not rely on the action's own fields. Removing a volume or a secret
needs no guard: there is no such action.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    CreateConfig,
    CreateService,
    Failover,
    PatchSettings,
    RemoveService,
    RestartService,
    Switchover,
    UpdateService,
)
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe
from queenright.core.kinds.postgres_cluster.backup.repository_guard import repository_stays
from queenright.core.kinds.postgres_cluster.databases.guards import sql_goes_to_the_leader
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import bootstraps
from queenright.core.kinds.postgres_cluster.desired.services import TEMPLATE_TARGET
from queenright.core.kinds.postgres_cluster.drill.guard import drills_touch_nothing
from queenright.core.kinds.postgres_cluster.in_place.guard import (
    restores_are_asked_for,
    unasked_disruptions,
)
from queenright.core.kinds.postgres_cluster.losses.data_end_guard import data_ends_are_read
from queenright.core.kinds.postgres_cluster.losses.raft_log_guard import (
    raft_logs_are_lost,
    service_after,
)
from queenright.core.kinds.postgres_cluster.losses.returning_guard import (
    rewinds_are_not_broken_off,
)
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.raft_guards import (
    raft_is_applied,
    raft_log_is_spared,
    reset_of,
)
from queenright.core.kinds.postgres_cluster.renamed_nodes_guard import renamed_nodes_keep_members
from queenright.core.kinds.postgres_cluster.replication.guard import commits_are_confirmed
from queenright.core.kinds.postgres_cluster.switchover.failover_guard import failover_loses_nothing
from queenright.core.kinds.postgres_cluster.switchover.guards import (
    move_is_safe,
    pauses_are_respected,
)
from queenright.core.kinds.postgres_cluster.topology.guard_readings import (
    raft_of,
    raft_self,
    seatless,
)
from queenright.core.kinds.postgres_cluster.topology.guards import (
    one_member_changes,
    only_empty_members_copy,
    votes_change_safely,
)
from queenright.core.kinds.postgres_cluster.topology.noting_guard import places_cover_what_runs
from queenright.core.kinds.postgres_cluster.topology.replacing_guard import (
    only_the_dead_are_replaced,
)
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.planning.disruption import (
    known_peers,
    peers,
    removes_only,
    runs_alone,
    swarm_of,
)
from queenright.core.planning.plan import Guard, Plan, Refusal
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    BOOTSTRAPPED_LABEL,
    CLUSTER_LABEL,
    ROLE_LABEL,
    VIP_ROLE,
)


def leader_is_safe(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to disrupt a service whose member holds the leader lock.

    Also while no member is known to hold it, but for a member that serves nobody
    (``raft_log_is_spared``).
    """
    for live in unasked_disruptions(plan, observed):
        if reset_of(plan, live) is not None:
            continue
        match observed.members.get(live.value.name):
            case Known(status) if status.holds_lock:
                return Refusal("leader-is-safe", f"{live.value.name} holds the leader lock")
            case _:
                pass
        if not any(status.holds_lock for status in known_peers(plan, observed)):
            return Refusal("leader-is-safe", "no member is known to hold the leader lock")
    return None


def unknown_is_not_down(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to disrupt a member while any member of its cluster is unknown.

    One that is to set its Raft log aside can't answer (``raft_log_is_spared`` judges that).
    """
    for live in unasked_disruptions(plan, observed):
        if reset_of(plan, live) is not None:
            continue
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
    """Refuse to disrupt a member while another one is not well, or while Patroni is paused.

    A second member out would cost the quorum. One that is to set its Raft log aside is out already.
    """
    for live in unasked_disruptions(plan, observed):
        is_out = reset_of(plan, live) is not None
        for peer in peers(plan, observed):
            match observed.members.get(peer.value.name):
                case Known(status) if status.paused and not (is_out and owns_pause(plan, observed)):
                    return Refusal("others-are-well", "Patroni is paused")
                case _ if is_out:
                    pass
                case Known(status) if peer.value.name != live.value.name and not status.is_well:
                    return Refusal("others-are-well", f"{peer.value.name} is {status.state}")
                case _ if peer.value.name != live.value.name and not runs_alone(peer, observed):
                    return Refusal("others-are-well", f"{peer.value.name} does not run as one task")
                case _:
                    pass
    return None


def owns_pause(plan: Plan, observed: Observed) -> bool:
    """True if Patroni is known to be paused by the operator."""
    match observed.settings.get(plan.cluster):
        case Known(settings):
            return bool(pause_reason(settings))
        case _:
            return False


def quorum_is_certain(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a disruption, switchover, failover or settings patch without a certain Raft quorum.

    A member is disrupted only if the Raft node of every other one reports a quorum, a switchover
    or failover needs the report of all (a failover only of those with a vote), and a patch of
    Patroni's settings that of the member that is asked: what REST answers comes from local memory.
    A failover whose loss the file accepts
    needs a quorum's, which ``failover_loses_nothing`` judges.
    """
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
    """Each member's service, and True if its Raft node has to report a quorum for this plan.

    Where a Raft log begins anew there is none (``raft_logs_are_lost`` judges that)."""
    spared = {
        live.value.name
        for live in unasked_disruptions(plan, observed)
        if service_after(plan, live) is None
    }
    moves = any(isinstance(action, Switchover) for action in plan.actions)
    names = any(isinstance(a, Failover) and a.accepted_timeline is None for a in plan.actions)
    known = [raft for peer in peers(plan, observed) if (raft := raft_of(peer, observed))]
    lone = seatless(known) if names else frozenset[str]()
    asked = {action.address for action in plan.actions if isinstance(action, PatchSettings)}
    for peer in peers(plan, observed):
        name, address = peer.value.name, peer.value.labels.get(ADDRESS_LABEL, "")
        is_asked = moves or address in asked or (bool(spared) and name not in spared)
        yield name, is_asked or (names and raft_self(peer.value) not in lone)


def initialised_once(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to start a member that may initialise a new cluster, once the cluster was healthy.

    If that member's data and Raft's state were lost, an empty database would lead, and the members
    with the data would exit. A member that is asked to set its Raft log aside is spared: it has
    the log from the others (``raft_log_is_spared``), in which the cluster is initialised.
    """
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if swarm is None or state_config is None:
        return None
    if BOOTSTRAPPED_LABEL not in state_config.value.labels:
        return None
    texts = {a.config.name: a.config.data for a in plan.actions if isinstance(a, CreateConfig)}

    def text_of(name: str) -> bytes:
        known = swarm.config(name)
        return texts.get(name, known.value.data if known is not None else b"")

    for action in plan.actions:
        if not isinstance(action, CreateService | UpdateService | RestartService):
            continue
        live = swarm.service(action.service.name)
        if live is not None and reset_of(plan, live) is action:
            continue
        for file in action.service.configs:
            if file.target == TEMPLATE_TARGET and bootstraps(text_of(file.name)):
                return Refusal(
                    "initialised-once", f"{action.service.name} would start with {file.name}"
                )
    return None


def is_keepalived(action: RemoveService, observed: Observed) -> bool:
    """True if the service is a cluster's keepalived, with nothing on any volume."""
    return removes_only(
        action,
        observed,
        lambda service: (
            CLUSTER_LABEL in service.labels
            and service.labels.get(ROLE_LABEL) == VIP_ROLE
            and not any(mount.kind != "tmpfs" for mount in service.mounts)
        ),
    )


CLUSTER_GUARDS: tuple[Guard, ...] = (
    leader_is_safe,
    unknown_is_not_down,
    others_are_well,
    rewinds_are_not_broken_off,
    quorum_is_certain,
    raft_is_applied,
    raft_log_is_spared,
    raft_logs_are_lost,
    move_is_safe,
    failover_loses_nothing,
    initialised_once,
    restores_are_asked_for,
    commits_are_confirmed,
    one_member_changes,
    votes_change_safely,
    places_cover_what_runs,
    renamed_nodes_keep_members,
    only_the_dead_are_replaced,
    only_empty_members_copy,
    pauses_are_respected,
    backups_are_safe,
    drills_touch_nothing,
    data_ends_are_read,
    repository_stays,
    sql_goes_to_the_leader,
)
