"""Guard of failovers: from the observation alone, and on purpose a second check beside the rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from queenright.core.actions import Failover
from queenright.core.kinds.postgres_cluster.annotations import read_annotations, state_config_name
from queenright.core.kinds.postgres_cluster.places import decode_names, decode_places
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.kinds.postgres_cluster.topology.guard_readings import (
    raft_of,
    raft_self,
    seatless,
)
from queenright.core.observed import (
    LEADERLESS,
    UNLOCKED,
    Known,
    MemberStatus,
    Observed,
    RaftStatus,
)
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import MEMBERS_LABEL, VOTELESS_LABEL

LEAST_S = 60.0
NO_DATA = (0, 0)


def failover_loses_nothing(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a failover that may lose data, or that Patroni could do without.

    It goes to the member with the newest timeline and, on it, the most WAL; while every member
    answers as a running replica that sees no lock, every Raft node reaches all others, and nobody
    has led for a minute. A member without a service is left out only if the note says that it has
    no vote. Where the file accepts a loss, that holds for the members that are left,
    which have to be a quorum. All others are a person's.
    """
    for action in plan.actions:
        if not isinstance(action, Failover):
            continue
        is_accepted = action.accepted_timeline is not None
        judge = why_not_accepted if is_accepted else why_not
        if why := judge(action, plan, observed):
            return Refusal("failover-loses-nothing", f"{action.key}: {why}")
    return None


def why_not(action: Failover, plan: Plan, observed: Observed) -> str | None:
    """Reason against a failover that no loss is accepted for: a member is unknown or not idle, or
    has newer data."""
    ends: dict[str, tuple[int, int]] = {}
    views: set[tuple[str, int]] = set()
    voteless: set[str] = set()
    for name, member in judged_members(plan, observed):
        if isinstance(member, str):
            return f"{name} {member}"
        status, raft = member
        ends[name] = (status.timeline or 0, status.location or 0)
        if raft is None:
            voteless.add(name)
        else:
            views.add((raft.leader, raft.term))
    for name in sorted(noted_voters(plan, observed) - ends.keys()):
        return f"{name} may have newer data, and has no service"
    candidate = f"{plan.cluster}_{action.candidate}"
    match observed.settings.get(plan.cluster), observed.history.get(plan.cluster):
        case Known(settings), Known(history):
            least = 1 + max((end.timeline for end in history), default=0)
        case _:
            return "Patroni's settings or its history are unknown"
    if settings.get("pause"):
        return "Patroni is paused"
    if early := why_too_early(plan, observed):
        return early
    if len(views) != 1 or any(not leader for leader, _ in views):
        return "the Raft nodes do not agree on one leader"
    if candidate in voteless or ends.get(candidate, NO_DATA) < max(*ends.values(), (least, 0)):
        return f"{action.candidate} has no vote, or not the newest data"
    if read_replication(settings).is_synchronous and (
        why := why_not_in_sync_key(candidate, ends[candidate][0], plan, observed)
    ):
        return f"{action.candidate} {why}"
    return None


def judged_members(
    plan: Plan, observed: Observed
) -> Iterator[tuple[str, str | tuple[MemberStatus, RaftStatus | None]]]:
    """Yield each member's service, with both answers, or the reason why these do not count. Of one
    that no node with a quorum lists, the Raft node counts for nothing."""
    deployed = [*peers(plan, observed)]
    lone = seatless([raft for peer in deployed if (raft := raft_of(peer, observed)) is not None])
    nodes = {raft_self(peer.value) for peer in deployed} - lone
    for peer in deployed:
        name = peer.value.name
        match observed.members.get(name), observed.raft.get(name):
            case Known(status), Known(raft) if raft.address in lone:
                yield name, why_member(status) or (status, None)
            case Known(status), Known(raft):
                yield name, why_member(status) or why_node(raft, nodes) or (status, raft)
            case _:
                yield name, "is unknown"


def why_not_accepted(action: Failover, plan: Plan, observed: Observed) -> str | None:
    """Reason against a failover whose loss the file accepts: those that are left do not agree, one
    of them has newer data, or somebody may still lead."""
    ends: dict[str, tuple[int, int]] = {}
    rafts: list[RaftStatus] = []
    for peer in peers(plan, observed):
        name = peer.value.name
        match observed.members.get(name), observed.raft.get(name):
            case Known(status), _ if status.holds_lock:
                return f"{name} leads"
            case Known(status), Known(raft) if why_member(status) is None:
                if raft.is_behind or not raft.has_quorum:
                    return f"{name} has a Raft node that is not well"
                ends[name] = (status.timeline or 0, status.location or 0)
                rafts.append(raft)
            case Known(status), _ if status.is_running:
                return f"{name} {why_member(status) or 'has an unknown Raft node'}"
            case _:
                pass
    match observed.settings.get(plan.cluster):
        case Known(settings) if not settings.get("pause"):
            pass
        case _:
            return "Patroni is paused, or its settings are unknown"
    if why := why_too_early(plan, observed):
        return why
    views = {(raft.leader, raft.term, raft.voters) for raft in rafts}
    if len(views) != 1 or not rafts[0].leader or 2 * len(rafts) <= len(rafts[0].voters):
        return "the Raft nodes that are left are no quorum that agrees"
    candidate = f"{plan.cluster}_{action.candidate}"
    if candidate not in ends or ends[candidate] < max(ends.values()):
        return f"{action.candidate} has not the newest data that is left"
    if ends[candidate][0] != action.accepted_timeline:
        return f"{action.candidate} is not on the accepted timeline"
    return None


def why_too_early(plan: Plan, observed: Observed) -> str:
    """Reason why Patroni may still elect a leader by itself; empty when it had the time for that.
    What counts is the time for which the members say that nobody leads: silent ones may lead."""
    ages_s = (observed.seen_s_ago.get(f"{k}{plan.cluster}", 0.0) for k in (LEADERLESS, UNLOCKED))
    return "nobody has led for less than a minute" if min(ages_s) < LEAST_S else ""


def why_not_in_sync_key(
    candidate: str, timeline: int, plan: Plan, observed: Observed
) -> str | None:
    """Reason why a member is not in Patroni's /sync key, by its own answer, or, if it is the last
    leader on its own timeline, by the operator's annotation; None if it is."""
    match observed.members.get(candidate):
        case Known(status) if status.synchronous:
            return None
        case _:
            pass
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    last = read_annotations(state_config.value.labels).leader if state_config else None
    if last and f"{plan.cluster}_{last.member}" == candidate and last.timeline == timeline:
        return None
    return "is not in Patroni's /sync key"


def why_member(status: MemberStatus) -> str | None:
    if status.holds_lock or not status.cluster_unlocked:
        return "sees a leader lock"
    if status.paused:
        return "is paused"
    if status.role != "replica" or not status.is_running:
        return f"is {status.role}, {status.state}"
    if status.timeline is None or status.location is None:
        return "does not tell where its data ends"
    return None


def noted_voters(plan: Plan, observed: Observed) -> frozenset[str]:
    """Return the services of the members that have a place, and are not noted as voteless."""
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    labels = state_config.value.labels if state_config else {}
    voteless = decode_names(labels.get(VOTELESS_LABEL, ""))
    places = decode_places(labels.get(MEMBERS_LABEL, ""))
    names = (place.name for place in places if place.name not in voteless)
    return frozenset(f"{plan.cluster}_{name}" for name in names)


def why_node(raft: RaftStatus, nodes: Collection[str]) -> str | None:
    """Reason against a Raft node's word; None if it has a quorum, reaches those of ``nodes``, the
    addresses of all deployed members, and has applied everything."""
    if not raft.has_quorum or not raft.unreachable.isdisjoint(nodes):
        return "has a Raft node that does not reach all others"
    if raft.is_behind:
        return "has a Raft node that has not applied its whole log"
    return None
