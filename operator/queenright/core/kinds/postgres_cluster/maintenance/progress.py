"""Progress of a maintenance: nodes that may be powered off, and what is waited for.

Decides from the nodes in maintenance, the leader, the pause and the pin. Invariant: nodes are
reported as safe to power off only while the members that stay would go on without them, by every
source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.maintenance.pause import (
    Write,
    keeps_quorum,
    maintained_members,
    next_write,
    pause_owner,
    pin_of,
    staying_members,
    wants_pin,
    why_not_write,
)
from queenright.core.kinds.postgres_cluster.maintenance.quorum import why_not_affirmed
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY, Route
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Unknown
from queenright.core.planning.ages import certain_age
from queenright.core.planning.plan import Hold

PIN_READ = timedelta(seconds=5)
"""Time in which every proxy reads a pin: it checks once a second, and again when a member does not
answer."""


def maintenance_summary(state: ClusterState) -> str:
    """One line for the status: what is safe to power off, or what is waited for; empty when there
    is no maintenance, and nothing is left of one."""
    return "; ".join(dict.fromkeys(hold.reason for hold in maintenance_holds(state)))


def maintenance_holds(state: ClusterState) -> Iterator[Hold]:
    """Holds on the maintenance as a whole, then on single nodes."""
    until = state.desired.policy.maintenance.until
    found = (blocking_condition(state), *memberless(state), *managers(state))
    for hold in found:
        if hold is None:
            continue
        moments = [m for m in (hold.recheck_at, until) if m is not None and m > state.now]
        yield replace(hold, recheck_at=min(moments, default=None))


def held(state: ClusterState, reason: str, *, attention: bool = False) -> Hold:
    return Hold(f"maintenance/{state.desired.name}", reason, wants_attention=attention)


def safe(state: ClusterState, reason: str) -> Hold:
    """Hold for nodes that may be powered off: the operator waits for nothing."""
    return replace(held(state, f"safe to power off: {reason}"), is_informational=True)


def blocking_condition(state: ClusterState) -> Hold | None:
    affected = maintained_members(state)
    write = next_write(state)
    due = write if write is not None and write.concern == "maintenance" else None
    if affected and not state.is_bootstrapped:
        return held(state, "maintenance: not prepared yet (the cluster has not been healthy yet)")
    if affected and not staying_members(state):
        return held(
            state,
            f"maintenance.nodes: every member is on one of them ({nodes(state)}), so none is "
            "left to lead; take at least one node out",
            attention=True,
        )
    if affected and (why := why_commits_would_wait(state)):
        return held(state, f"not safe to power off {nodes(state)}: {why}", attention=True)
    if due is not None and not wants_pin(state):
        return handing_back(state, due)
    if not affected:
        return left_over(state)
    if (leader := state.leader) is None:
        return without_leader(state)
    if leader in affected:
        return lead_moves_first(state, leader)
    if due is not None:
        return preparing(state, due)
    if keeps_quorum(state):
        return majority_stays(state)
    return pinned(state)


def why_commits_would_wait(state: ClusterState) -> str | None:
    """Reason why the members that stay could not go on with synchronous replication; None if they
    can, or replication is asynchronous."""
    replication = state.replication
    if replication.is_synchronous and not keeps_quorum(state):
        return (
            f"replication is {replication.mode}, and without a quorum Patroni can't release the "
            "leader from replicas that are off, so commits would wait; take fewer nodes off at "
            "once, or write replication: {mode: asynchronous} until they are back"
        )
    return None


def left_over(state: ClusterState) -> Hold | None:
    """Hold for a maintenance that is over, while no member proves the leader lock."""
    if state.leader is None and (pause_owner(state) == "maintenance" or pin_of(state)):
        why = "no member proves the leader lock"
        text = f"maintenance is over, but Patroni is not resumed yet ({why}); bring the nodes back"
        return held(state, text)
    return None


def handing_back(state: ClusterState, write: Write) -> Hold:
    obstacle = why_not_write(state, write)
    if obstacle is None:
        return held(state, f"{write.what}: {write.why}")
    reason = f"{write.why}, but the operator can't {write.what} yet ({obstacle.why})"
    if write.aspect == "resume" and obstacle.wants_attention:
        reason += "; bring its node back, or, if it never comes back, resume by hand"
    hold = held(state, reason, attention=obstacle.wants_attention)
    return replace(hold, recheck_at=obstacle.recheck_at)


def preparing(state: ClusterState, write: Write) -> Hold:
    obstacle = why_not_write(state, write)
    if obstacle is None:
        first = f"the operator has to {write.what} first"
        return held(state, f"not yet safe to power off {nodes(state)}: {first}")
    why = f"the operator can't {write.what} yet ({obstacle.why})"
    reason = f"not yet safe to power off {nodes(state)}: {why}"
    if obstacle.wants_attention:
        reason += "; bring every member back, as Patroni can be paused only then"
    hold = held(state, reason, attention=obstacle.wants_attention)
    return replace(hold, recheck_at=obstacle.recheck_at)


def lead_moves_first(state: ClusterState, leader: DesiredMember) -> Hold:
    reason = f"not yet safe to power off {nodes(state)}: {leader.name} leads on {leader.node}"
    match pause_owner(state):
        case "promotion":
            obstacle = "(the file pauses promotion); write promotion: active until they are off"
        case "somebody else":
            obstacle = "(Patroni is paused, and not by the operator); resume it by hand"
        case _:
            return held(state, f"{reason}; a switchover to a member that stays comes first")
    return held(state, f"{reason}, and there can be no switchover {obstacle}", attention=True)


def without_leader(state: ClusterState) -> Hold:
    """Hold while no member proves the lock: paused, the pinned member goes on without a quorum."""
    reason = f"{are(nodes(state))} in maintenance"
    for member in staying_members(state):
        status = state.status(member)
        if status is None or not (status.paused and status.is_running):
            continue
        if status.role in {"primary", "master", "leader"}:
            route = pin_of(state)
            if route is not None and route.member == member.name:
                return held(state, in_maintenance(state, route))
            return held(
                state, f"{reason}; Patroni is paused, {member.name} goes on without a quorum"
            )
    unwell = "; ".join(state.unwell())
    return held(state, f"not safe to power off {nodes(state)}: {unwell}", attention=True)


def majority_stays(state: ClusterState) -> Hold:
    """Hold where the members that stay have the quorum: nothing needs a pause."""
    if why := why_not_rely(state):
        return held(state, f"not yet safe to power off {nodes(state)}: {why}")
    there = [m.node for m in maintained_members(state) if state.status(m) is not None]
    if there:
        return safe(state, ", ".join(dict.fromkeys(there)))
    return held(state, f"{are(nodes(state))} in maintenance; the members that stay have the quorum")


def pinned(state: ClusterState) -> Hold:
    """Hold while pause and pin are set: safe once they have reached every member and proxy."""
    route, leader = pin_of(state), state.leader
    not_yet = f"not yet safe to power off {nodes(state)}"
    if isinstance(state.settings, Unknown) or route is None or leader is None:
        return held(state, f"{not_yet}: Patroni's settings are not known")
    if why := why_not_rely(state):
        return held(state, f"{not_yet}: {why}")
    if any(state.status(m) is None for m in maintained_members(state)):
        return held(state, in_maintenance(state, route))
    for member in state.desired.members:
        status = state.status(member)
        if status is None or not status.paused:
            return held(state, f"{not_yet}: {member.name} does not report the pause yet")
    left = PIN_READ - certain_age(route.at, state.now, state.seen_setting(ROUTE_KEY))
    if left > timedelta(0):
        ready_at = state.now + left
        hold = held(state, f"{not_yet}: the proxies are reading the pin to {leader.name}")
        return replace(hold, recheck_at=ready_at)
    reason = nodes(state)
    if pause_owner(state) == "somebody else":
        reason += " (as long as nobody lifts Patroni's pause, which the operator did not set)"
    return safe(state, reason)


def in_maintenance(state: ClusterState, route: Route) -> str:
    return (
        f"{are(nodes(state))} in maintenance; Patroni is paused, "
        f"port 5000 is pinned to {route.member}"
    )


def why_not_rely(state: ClusterState) -> str | None:
    """Reason why the members that stay can't be relied on; None if they can.

    Each has to be well and settled, and, where they are to go on by themselves, their Raft nodes
    have to reach each other with a quorum.
    """
    staying = staying_members(state)
    if (move := state.annotations.move) is not None:
        return f"a switchover from {move.leader} to {move.candidate} is in progress"
    for member in staying:
        status = state.status(member)
        if status is None:
            return f"{member.name}, which stays, does not answer ({state.why_unknown(member)})"
        if not status.is_well:
            return f"{member.name}, which stays, is {status.state}, not streaming"
        if unsettled := state.why_unsettled(member):
            return unsettled
    if state.leader in staying and (alone := state.why_no_standby(maintained_members(state))):
        return alone
    return why_not_affirmed(state, staying) if keeps_quorum(state) else None


def memberless(state: ClusterState) -> Iterator[Hold]:
    """Nodes that the file names, and on which no member of this cluster runs."""
    placed = {member.node for member in state.desired.members}
    for name in state.maintained:
        key = f"maintenance/{state.desired.name}/{name}"
        if state.swarm.node(name) is None:
            reason = f"maintenance.nodes: the swarm has no node {name}; correct the name"
            yield Hold(key, reason, wants_attention=True)
        elif name not in placed:
            reason = f"safe to power off: {name}, as no member of this cluster runs there"
            proxied = name in state.desired.proxy_nodes
            yield Hold(key, f"{reason}; its proxy stops with it" if proxied else reason)


def managers(state: ClusterState) -> Iterator[Hold]:
    """Hold if the swarm's managers lose their majority: the database goes on, repairs do not."""
    all_managers = state.swarm.index.managers
    leaving = [node.name for node in all_managers if node.name in state.maintained]
    left = [n for n in all_managers if n.name not in leaving and n.state == "ready"]
    if leaving and 2 * len(left) <= len(all_managers):
        yield Hold(
            f"maintenance/{state.desired.name}/managers",
            f"swarm managers: no majority without {', '.join(leaving)} (the database goes on, but "
            "swarm starts nothing that fails until they are back); take fewer managers off at once",
            wants_attention=True,
        )


def nodes(state: ClusterState) -> str:
    return ", ".join(dict.fromkeys(member.node for member in maintained_members(state)))


def are(names: str) -> str:
    return f"{names} are" if ", " in names else f"{names} is"
