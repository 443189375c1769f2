"""How far a maintenance is, in words: what may be powered off, and what is waited for.

Decides from the nodes in maintenance, who leads, the pause and the pin. Invariant: nodes are called
safe to power off only while what stays would go on without them, by every source's own word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from queenright.core.desired import DesiredMember
from queenright.core.observed import Unknown
from queenright.core.pausing import (
    Write,
    keeps_quorum,
    maintained_members,
    next_write,
    pause_owner,
    pin_of,
    staying_members,
    wants_pin,
    why_not_affirmed,
    why_not_write,
)
from queenright.core.plan import Hold
from queenright.core.published import Route
from queenright.core.situation import Situation

PIN_READ = timedelta(seconds=5)
"""How long every proxy may take to read a pin: they look once a second, and ask again when a member
does not answer."""


def maintenance_summary(situation: Situation) -> str:
    """One line for the status: what is safe to power off, or what is waited for; empty when there
    is no maintenance, and nothing is left of one."""
    return "; ".join(dict.fromkeys(hold.reason for hold in maintenance_holds(situation)))


def maintenance_holds(situation: Situation) -> Iterator[Hold]:
    """How the maintenance stands, then what a person should know of single nodes."""
    until = situation.desired.policy.maintenance.until
    found = (standing(situation), *memberless(situation), *managers(situation))
    for hold in found:
        if hold is None:
            continue
        moments = [m for m in (hold.recheck_at, until) if m is not None and m > situation.now]
        yield replace(hold, recheck_at=min(moments, default=None))


def held(situation: Situation, reason: str, *, attention: bool = False) -> Hold:
    return Hold(f"maintenance/{situation.desired.name}", reason, wants_attention=attention)


def safe(situation: Situation, reason: str) -> Hold:
    """Everything is ready: it is the owner's turn."""
    return replace(held(situation, f"safe to power off: {reason}"), is_news=True)


def standing(situation: Situation) -> Hold | None:
    affected = maintained_members(situation)
    write = next_write(situation)
    due = write if write is not None and write.concern == "maintenance" else None
    if affected and not situation.is_bootstrapped:
        return held(situation, "maintenance waits until the cluster has been whole once")
    if affected and not staying_members(situation):
        return held(
            situation,
            f"every member is on a node in maintenance ({nodes(situation)}): none is left that "
            "could lead. Take at least one node out of maintenance.nodes",
            attention=True,
        )
    if due is not None and not wants_pin(situation):
        return handing_back(situation, due)
    if not affected:
        return left_over(situation)
    if (leader := situation.leader) is None:
        return without_leader(situation)
    if leader in affected:
        return lead_moves_first(situation, leader)
    if due is not None:
        return preparing(situation, due)
    if keeps_quorum(situation):
        return majority_stays(situation)
    return pinned(situation)


def left_over(situation: Situation) -> Hold | None:
    """A maintenance that is over, while no member proves the lock: nothing can be lifted then."""
    if situation.leader is None and (pause_owner(situation) == "maintenance" or pin_of(situation)):
        waits = "Patroni is resumed once a member proves the leader lock again"
        return held(situation, f"maintenance is over; {waits}: bring the nodes back")
    return None


def handing_back(situation: Situation, write: Write) -> Hold:
    obstacle = why_not_write(situation, write)
    if obstacle is None:
        return held(situation, f"{write.what}: {write.why}")
    reason = f"before {write.what} ({write.why}): {obstacle.why}"
    if write.aspect == "resume" and obstacle.wants_attention:
        reason += ". Bring its node back; or, if it never comes back, resume by hand"
    hold = held(situation, reason, attention=obstacle.wants_attention)
    return replace(hold, recheck_at=obstacle.recheck_at)


def preparing(situation: Situation, write: Write) -> Hold:
    obstacle = why_not_write(situation, write)
    if obstacle is None:
        return held(situation, f"not yet safe to power off {nodes(situation)}: {write.what} first")
    reason = f"not yet safe to power off {nodes(situation)}; before {write.what}: {obstacle.why}"
    if obstacle.wants_attention:
        reason += ". Patroni can only be paused while every member is there"
    hold = held(situation, reason, attention=obstacle.wants_attention)
    return replace(hold, recheck_at=obstacle.recheck_at)


def lead_moves_first(situation: Situation, leader: DesiredMember) -> Hold:
    reason = f"not yet safe to power off {nodes(situation)}: {leader.name} leads on {leader.node}"
    match pause_owner(situation):
        case "promotion":
            obstacle = "the file pauses promotion. Write promotion: active for as long as it takes"
        case "somebody else":
            obstacle = "somebody else has paused Patroni. Resume it by hand"
        case _:
            return held(situation, f"{reason}, and the lead moves to a member that stays first")
    return held(situation, f"{reason}, and can't be moved while {obstacle}", attention=True)


def without_leader(situation: Situation) -> Hold:
    """Without a quorum no member proves the lock; paused, the chosen one goes on all the same."""
    reason = f"{are(nodes(situation))} in maintenance"
    for member in staying_members(situation):
        status = situation.status(member)
        if status is None or not (status.paused and status.is_running):
            continue
        if status.role in {"primary", "master", "leader"}:
            route = pin_of(situation)
            if route is not None and route.member == member.name:
                return held(situation, in_maintenance(situation, route))
            return held(
                situation, f"{reason}; Patroni is paused, {member.name} goes on without a quorum"
            )
    unwell = "; ".join(situation.unwell())
    return held(situation, f"not safe to power off {nodes(situation)}: {unwell}", attention=True)


def majority_stays(situation: Situation) -> Hold:
    """Patroni goes on as ever, as long as every member that stays is well."""
    if why := why_not_rely(situation):
        return held(situation, f"not yet safe to power off {nodes(situation)}: {why}")
    there = [m.node for m in maintained_members(situation) if situation.status(m) is not None]
    if there:
        return safe(situation, ", ".join(dict.fromkeys(there)))
    return held(
        situation, f"{are(nodes(situation))} in maintenance; the members that stay have the quorum"
    )


def pinned(situation: Situation) -> Hold:
    """Pause and pin are set: whether that has reached every member and every proxy."""
    route, leader = pin_of(situation), situation.leader
    not_yet = f"not yet safe to power off {nodes(situation)}"
    if isinstance(situation.settings, Unknown) or route is None or leader is None:
        return held(situation, f"{not_yet}: Patroni's settings are not known")
    if why := why_not_rely(situation):
        return held(situation, f"{not_yet}: {why}")
    if any(situation.status(m) is None for m in maintained_members(situation)):
        return held(situation, in_maintenance(situation, route))
    for member in situation.desired.members:
        status = situation.status(member)
        if status is None or not status.paused:
            return held(situation, f"{not_yet}: {member.name} does not say yet that it is paused")
    ready_at = route.at + PIN_READ
    if situation.now < ready_at:
        hold = held(situation, f"{not_yet}: the proxies are reading that {leader.name} stays")
        return replace(hold, recheck_at=ready_at)
    reason = nodes(situation)
    if pause_owner(situation) == "somebody else":
        reason += " (as long as nobody lifts the pause, which somebody else has set)"
    return safe(situation, reason)


def in_maintenance(situation: Situation, route: Route) -> str:
    return (
        f"{are(nodes(situation))} in maintenance; Patroni is paused, "
        f"port 5000 is pinned to {route.member}"
    )


def why_not_rely(situation: Situation) -> str | None:
    """Why the members that stay can't be relied on: each has to be well and settled, and, where
    they are to go on by themselves, their Raft nodes have to affirm it among each other."""
    staying = staying_members(situation)
    if (move := situation.notes.move) is not None:
        return f"the lead is moving from {move.leader} to {move.candidate}"
    for member in staying:
        status = situation.status(member)
        if status is None:
            return f"{member.name}, which stays, does not answer ({situation.why_unknown(member)})"
        if not status.is_well:
            return f"{member.name}, which stays, is {status.state}, not streaming"
        if unsettled := situation.why_unsettled(member):
            return unsettled
    return why_not_affirmed(situation, staying) if keeps_quorum(situation) else None


def memberless(situation: Situation) -> Iterator[Hold]:
    """Nodes that the file names, and on which no member of this cluster runs."""
    placed = {member.node for member in situation.desired.members}
    for name in situation.maintained:
        key = f"maintenance/{situation.desired.name}/{name}"
        if situation.swarm.node(name) is None:
            reason = f"maintenance.nodes names {name}, and no node of the swarm has that name"
            yield Hold(key, reason, wants_attention=True)
        elif name not in placed:
            reason = f"safe to power off: {name}, as no member of this cluster runs there"
            proxied = name in situation.desired.proxy_nodes
            yield Hold(key, f"{reason}; its proxy goes with it" if proxied else reason)


def managers(situation: Situation) -> Iterator[Hold]:
    """The database may go on where the swarm does not."""
    all_managers = [node for node in situation.swarm.nodes if node.role == "manager"]
    leaving = [node.name for node in all_managers if node.name in situation.maintained]
    left = [n for n in all_managers if n.name not in leaving and n.state == "ready"]
    if leaving and 2 * len(left) <= len(all_managers):
        yield Hold(
            f"maintenance/{situation.desired.name}/managers",
            f"without {', '.join(leaving)} the swarm's managers have no majority: the database "
            "goes on, but nothing that fails is started again until they are back",
            wants_attention=True,
        )


def nodes(situation: Situation) -> str:
    return ", ".join(dict.fromkeys(member.node for member in maintained_members(situation)))


def are(names: str) -> str:
    return f"{names} are" if ", " in names else f"{names} is"
