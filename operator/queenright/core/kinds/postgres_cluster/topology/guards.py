"""Guards of who the members are: Raft's votes, and members that start.

As ``guards``: from the observation alone, and on purpose a second check beside the rules.
"""

from __future__ import annotations

from queenright.core.actions import (
    AnyAction,
    CreateService,
    Failover,
    NoteMembers,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveService,
    RestartService,
    Switchover,
)
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.in_place.guard import unasked_disruptions
from queenright.core.kinds.postgres_cluster.places import decode_names, decode_places
from queenright.core.kinds.postgres_cluster.topology.guard_readings import (
    certain_voters,
    holds_lock,
    is_silent,
    partners_of,
    raft_of,
    raft_self,
    seatless,
    why_occupied,
)
from queenright.core.observed import Known, Observed, RaftStatus, hung_key, voters_key
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    BOOTSTRAPPED_LABEL,
    CLUSTER_LABEL,
    MEMBERS_LABEL,
    ROLE_LABEL,
    VOTELESS_LABEL,
    Service,
)

ON_DISK_S = 35.0
"""Seconds after which the kernel has written a committed change of the voters to disk."""
LONGEST_START_S = 60.0
"""The entry point's word counts for a member that was without data so soon after its start."""


def one_member_changes(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse more than one change of the members, or one beside a disruption or a switchover."""
    changes = [action for action in plan.actions if changes_members(action, plan, observed)]
    if not changes:
        return None
    names = {a.service.name for a in changes if isinstance(a, CreateService | RestartService)}
    stopped = {live.value.name for live in unasked_disruptions(plan, observed)} - names
    moves = any(isinstance(action, Switchover | Failover) for action in plan.actions)
    if len(changes) > 1 or stopped or moves:
        keys = ", ".join(action.key for action in changes)
        return Refusal("one-member-changes", f"{keys}: not alone in the plan")
    return None


def changes_members(action: AnyAction, plan: Plan, observed: Observed) -> bool:
    """Return True for a change of who the members are, while their document is there."""
    match action:
        case RaftRemove() | RaftTransfer() | Reinitialize() | NoteMembers():
            return True
        case CreateService(service=service) | RestartService(service=service):
            return joins(service, plan, observed)
        case RemoveService(id=service_id):
            return bool(plan.desired_digest) and any(
                live.id == service_id for live in peers(plan, observed)
            )
        case _:
            return False


def joins(service: Service, plan: Plan, observed: Observed) -> bool:
    """Return True for a member's service whose Raft node would be a new voter at its start."""
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if state_config is None or BOOTSTRAPPED_LABEL not in state_config.value.labels:
        return False
    labels, own = service.labels, raft_self(service)
    if labels.get(ROLE_LABEL) != "member" or labels.get(CLUSTER_LABEL) != plan.cluster:
        return False
    beside = [live for live in peers(plan, observed) if live.value.name != service.name]
    found = [status for live in beside if (status := raft_of(live, observed)) is not None]
    voteless = decode_names(state_config.value.labels.get(VOTELESS_LABEL, ""))
    if beside and service.name.removeprefix(f"{plan.cluster}_") in voteless:
        return own not in certain_voters(found)
    if found:
        return not any(own in status.voters for status in found)
    return bool(beside) and not any(own in partners_of(live.value) for live in beside)


def votes_change_safely(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a change of Raft's voters or leader unless the others agree, reach each other, have
    applied everything, and have listed the same voters for long."""
    for action in plan.actions:
        match action:
            case RaftRemove():
                why = why_not_remove(action, plan, observed)
            case RaftTransfer(voter=voter):
                well = {raft_self(live.value) for live in peers(plan, observed)}
                why = why_divided(plan, observed, frozenset())
                why = why or ("" if voter in well else f"{voter} is no member's")
            case CreateService(service=service) | RestartService(service=service):
                is_new = joins(service, plan, observed)
                why = why_not_join(service, plan, observed) if is_new else ""
            case _:
                why = ""
        if why:
            return Refusal("votes-change-safely", f"{action.key}: {why}")
    return None


def why_not_remove(action: RaftRemove, plan: Plan, observed: Observed) -> str:
    """Reason why a voter may not be removed; empty when it may."""
    deployed = {raft_self(live.value): live for live in peers(plan, observed)}
    known = [s for live in deployed.values() if (s := raft_of(live, observed)) is not None]
    listed = frozenset[str]().union(*(s.voters for s in known if s.address != action.voter))
    silent = {own for own, live in deployed.items() if is_silent(live, observed)}
    apart = (listed - deployed.keys()) | silent | {action.voter}
    if action.voter in silent or action.voter not in deployed:
        apart |= seatless(known)
    if why := why_divided(plan, observed, apart) or why_young(plan, observed, apart):
        return why
    well = [status for status in known if status.address not in apart]
    leader, left = well[0].leader, well[0].voters - {action.voter}
    if action.voter == leader:
        return "it leads Raft"
    if f"{action.address}:{action.port}" != leader:
        return f"{action.address}:{action.port} does not lead Raft"
    if 2 * len({status.address for status in well} & left) <= len(left):
        return "no majority of the voters that stay is known to be alive"
    holders = [raft_self(live.value) for live in deployed.values() if holds_lock(live, observed)]
    if action.voter in deployed and (len(holders) != 1 or action.voter in holders):
        return "no other member is known to be the one that holds the leader lock"
    return ""


def why_not_join(service: Service, plan: Plan, observed: Observed) -> str:
    """Reason why a new voter may not start; empty when it may."""
    swarm, own = swarm_of(observed), raft_self(service)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    noted = state_config.value.labels.get(MEMBERS_LABEL, "") if state_config is not None else ""
    places = {(f"{plan.cluster}_{place.name}", place.address) for place in decode_places(noted)}
    if (service.name, service.labels.get(ADDRESS_LABEL, "")) not in places:
        return "its place is not noted"
    if is_missed(service, plan, observed):
        return ""
    apart = frozenset({own})
    if why := why_divided(plan, observed, apart) or why_young(plan, observed, apart):
        return why
    beside = {raft_self(live.value): live for live in peers(plan, observed)}
    deployed = beside.keys()
    found = (raft_of(live, observed) for at, live in beside.items() if at not in apart)
    unknown = [v for s in found if s is not None for v in s.voters - deployed - apart]
    return f"the voter {unknown[0]} is no member's" if unknown else ""


def is_missed(service: Service, plan: Plan, observed: Observed) -> bool:
    """Return True for a voter without which the other members' Raft nodes have had no quorum for
    long, and with which they have one: they all list it, its place is noted as voteless, no other
    place but those is without a service, and none of its tasks may run."""
    swarm, beside = swarm_of(observed), [*peers(plan, observed)]
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if state_config is None:
        return False
    labels = state_config.value.labels
    nodes = [raft for live in beside if (raft := raft_of(live, observed)) is not None]
    places = decode_places(labels.get(MEMBERS_LABEL, ""))
    left = {place.name for place in places} - decode_names(labels.get(VOTELESS_LABEL, ""))
    node = next((p.node for p in places if f"{plan.cluster}_{p.name}" == service.name), "")
    lists = {raft.voters for raft in nodes}
    own = raft_self(service)
    return (
        left <= {live.value.name.removeprefix(f"{plan.cluster}_") for live in beside}
        and not any(holds_lock(live, observed) for live in beside)
        and not any(raft.has_quorum or raft.leader for raft in nodes)
        and len(lists) == 1
        and own in next(iter(lists))
        and 2 * (len(nodes) + 1) > len(next(iter(lists)))
        and 2 * len(nodes) > len(left)
        and not why_young(plan, observed, frozenset())
        and not any(why_occupied(node, swarm))
    )


def why_divided(plan: Plan, observed: Observed, apart: frozenset[str]) -> str:
    """Reason why the Raft nodes but those ``apart`` are not one quorum that has everything; empty
    when they are."""
    well: list[RaftStatus] = []
    for live in peers(plan, observed):
        if raft_self(live.value) in apart:
            continue
        status = raft_of(live, observed)
        if status is None or not status.has_quorum or status.is_behind:
            return f"the Raft node of {live.value.name} is not known to be well"
        if status.unreachable - apart:
            return f"the Raft node of {live.value.name} does not reach all"
        well.append(status)
    if len({(status.leader, status.term, status.voters) for status in well}) != 1:
        return "the Raft nodes do not agree, or none answers"
    says_so = {status.address for status in well if status.state == "leader"}
    return "" if says_so == {well[0].leader} - apart else "no single Raft node leads"


def why_young(plan: Plan, observed: Observed, apart: frozenset[str]) -> str:
    """Reason why an earlier change of the voters may not be on disk everywhere; empty if it is."""
    for live in peers(plan, observed):
        seen_s = observed.seen_s_ago.get(voters_key(live.value.name), 0.0)
        if raft_self(live.value) not in apart and seen_s < ON_DISK_S:
            return f"the voters that {live.value.name} lists are known for {seen_s:.0f} s only"
    return ""


def only_empty_members_copy(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to have a member's data replaced unless it is known to have none, while another
    leads. A member that the others know had data, unless the last copy of it was interrupted."""
    for action in plan.actions:
        if not isinstance(action, Reinitialize):
            continue
        own = f"{plan.cluster}_{action.member}"
        found = {live.value.name: live for live in peers(plan, observed)}
        reading = observed.members.get(own)
        leads = [name for name, live in found.items() if holds_lock(live, observed)]
        is_its = own in found and found[own].value.labels.get(ADDRESS_LABEL) == action.address
        is_empty = isinstance(reading, Known) and reading.value.is_empty
        if not is_its or not is_empty or len(leads) != 1 or own in leads:
            why = f"{action.member} is not known to be without data beside a leader"
            return Refusal("only-empty-members-copy", why)
        known = {a for name, live in found.items() if name != own for a in partners_of(live.value)}
        is_copy = isinstance(reading, Known) and reading.value.finding == "interrupted-copy"
        raft, seen_s = raft_of(found[own], observed), observed.seen_s_ago.get(hung_key(own), 0.0)
        is_new_word = raft is not None and raft.uptime_s - seen_s <= LONGEST_START_S
        if raft_self(found[own].value) in known and not (is_copy and is_new_word):
            return Refusal("only-empty-members-copy", f"{action.member} may have data of its own")
    return None


def is_left_member(action: RemoveService, observed: Observed) -> bool:
    """Return True for a member without a vote, by the note and by the word of every other member's
    Raft node, of a silent one without those that have no vote either; one of these members leads.
    Where a single voter is left, it has known so for long enough to have that on disk: with the
    former list it is no quorum."""
    swarm = swarm_of(observed)
    found = [live for live in swarm.services if live.id == action.id] if swarm else []
    if swarm is None or not found or found[0].value.labels.get(ROLE_LABEL) != "member":
        return False
    service = found[0].value
    own, cluster = raft_self(service), service.labels.get(CLUSTER_LABEL)
    beside = [
        live
        for live in swarm.services
        if live.value.labels.get(CLUSTER_LABEL) == cluster
        and live.value.labels.get(ROLE_LABEL) == "member"
        and live.id != action.id
    ]
    answering = [live for live in beside if not is_silent(live, observed)]
    if is_silent(found[0], observed):
        told = [raft for live in answering if (raft := raft_of(live, observed)) is not None]
        lone = seatless(told)
        answering = [live for live in answering if raft_self(live.value) not in lone]
    known = [raft_of(live, observed) for live in answering]
    votes = [s is not None and s.has_quorum and own not in s.voters for s in known]
    state_config = swarm.config(state_config_name(cluster or ""))
    noted = state_config.value.labels.get(VOTELESS_LABEL, "") if state_config is not None else ""
    if service.name.removeprefix(f"{cluster}_") not in decode_names(noted):
        return False
    ages_s = [observed.seen_s_ago.get(voters_key(live.value.name), 0.0) for live in answering]
    is_last = any(status is not None and len(status.voters) == 1 for status in known)
    if is_last and min(ages_s, default=0.0) < ON_DISK_S:
        return False
    led = [live for live in (*found, *beside) if holds_lock(live, observed)]
    return bool(own) and bool(votes) and all(votes) and len(led) == 1 and led[0] in beside
