"""Patroni's pause and the proxies' pin: whose they are, what they should be, and the next write.

Decides from the file's wishes, Patroni's settings, and the word of every member and its Raft node.
Invariants: nothing is written unless every member's Raft node affirms the quorum (a write without
one hangs, and may land later); a pause that the operator did not set is never lifted; a pin is
taken back only from a leader that proves its lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from queenright.core.actions import PatchSettings, SwitchOver
from queenright.core.desired import DesiredMember
from queenright.core.leadership import lead
from queenright.core.observed import Known
from queenright.core.published import PAUSE_KEY, ROUTE_KEY, Route, read_route
from queenright.core.situation import Situation

HANDED_BACK = timedelta(seconds=10)
"""How long a pin is kept once nothing needs it: by then every proxy's own check has passed twice
in its interval of 3 s (spec: database-cluster §4.2)."""
CLOCKS_DIFFER = timedelta(seconds=1)
"""A pin from further in the future was published by another clock, and its age says nothing."""

Reason = Literal["maintenance", "promotion"]
Owner = Literal["maintenance", "promotion", "somebody else", ""]


@dataclass(frozen=True, slots=True)
class Write:
    """A change of Patroni's settings that is due; ``why`` and ``what`` are for people."""

    concern: Reason
    aspect: Literal["pause", "resume", "pin", "unpin"]
    patch: Mapping[str, Any]
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a write that is due is not done now."""

    why: str
    recheck_at: datetime | None = None
    wants_attention: bool = False


def pause_owner(situation: Situation) -> Owner:
    """Whose Patroni's pause is, by its settings; empty where it is not paused, or not known."""
    settings = situation.known_settings
    if not settings.get("pause"):
        return ""
    match settings.get(PAUSE_KEY):
        case "maintenance":
            return "maintenance"
        case "promotion":
            return "promotion"
        case _:
            return "somebody else"


def pin_of(situation: Situation) -> Route | None:
    """The pin in Patroni's settings."""
    route = read_route(situation.known_settings)
    return route if route is not None and route.kind == "pin" else None


def maintained_members(situation: Situation) -> tuple[DesiredMember, ...]:
    return tuple(m for m in situation.desired.members if m.node in situation.maintained)


def staying_members(situation: Situation) -> tuple[DesiredMember, ...]:
    return tuple(m for m in situation.desired.members if m.node not in situation.maintained)


def keeps_quorum(situation: Situation) -> bool:
    """Whether the members that stay are a Raft majority of all."""
    return 2 * len(staying_members(situation)) > len(situation.desired.members)


def wants_pin(situation: Situation) -> bool:
    """Whether the leader has to be kept through a lost quorum. Before it has moved to a node that
    stays there is nothing to keep: a pause would only keep it from moving."""
    leader = situation.leader
    return leader in staying_members(situation) and not keeps_quorum(situation)


def wanted_reason(situation: Situation) -> Reason | None:
    """What Patroni should be paused for now."""
    if wants_pin(situation):
        return "maintenance"
    if situation.desired.policy.promotion.is_paused(situation.now):
        return "promotion"
    return None


def next_write(situation: Situation) -> Write | None:
    """The next change of the pause and the pin, whether or not it may be done now; None when they
    are as they should be, or nobody can tell."""
    leader = situation.leader
    if not isinstance(situation.settings, Known):
        return None
    owner, reason = pause_owner(situation), wanted_reason(situation)
    if leader is None or not situation.is_bootstrapped:
        unwanted = reason is None and not situation.maintained
        if unwanted and owner in {"maintenance", "promotion"}:
            return resume(situation, leader, owner)
        return None
    if reason is not None and owner not in {reason, "somebody else"}:
        return pause(situation, leader, reason, owner)
    if reason == "maintenance":
        return None if pin_fits(situation, leader) else pin(situation, leader)
    if reason is None and owner in {"maintenance", "promotion"}:
        return resume(situation, leader, owner)
    if not owner and situation.known_settings.get(PAUSE_KEY) is not None:
        what, why = "the reason of the pause is removed", "Patroni is not paused any more"
        return Write("promotion", "resume", {PAUSE_KEY: None}, what, why)
    if pin_of(situation) is not None:
        what = "port 5000 is handed back to the proxies' own checks"
        why = "the leader can be seen without the pin"
        return Write("maintenance", "unpin", {ROUTE_KEY: None}, what, why)
    return None


def pin_fits(situation: Situation, leader: DesiredMember) -> bool:
    route = pin_of(situation)
    return (
        route is not None
        and route.member == leader.name
        and route.at <= situation.now + CLOCKS_DIFFER
    )


def pause(situation: Situation, leader: DesiredMember, reason: Reason, owner: Owner) -> Write:
    """Pause and reason in one write, so that neither is ever there for the other's sake."""
    patch: dict[str, Any] = {"pause": True, PAUSE_KEY: reason}
    if reason == "promotion":
        patch.update(handing_back(situation, leader))
        why = "maintenance is over, and" if owner == "maintenance" else "as"
        what = "Patroni is paused"
        return Write(reason, "pause", patch, what, f"{why} the file pauses promotion")
    patch[ROUTE_KEY] = str(Route("pin", leader.name, situation.now))
    what = f"Patroni is paused and port 5000 pinned to {leader.name}"
    return Write(reason, "pause", patch, what, why_pin(situation))


def pin(situation: Situation, leader: DesiredMember) -> Write:
    patch = {ROUTE_KEY: str(Route("pin", leader.name, situation.now))}
    what = f"port 5000 is pinned to {leader.name}"
    return Write("maintenance", "pin", patch, what, why_pin(situation))


def why_pin(situation: Situation) -> str:
    nodes = ", ".join(dict.fromkeys(m.node for m in maintained_members(situation)))
    return f"without {nodes} there is no quorum, and the leader would be demoted"


def resume(situation: Situation, leader: DesiredMember | None, owner: Reason) -> Write:
    """Asked for as soon as every member is back, streaming or not: a paused Patroni starts no
    PostgreSQL, so the replicas of nodes that were off stay stopped until then; and so does a leader
    whose container ended meanwhile, so that nobody leads before the pause is lifted."""
    patch = {"pause": None, PAUSE_KEY: None, **handing_back(situation, leader)}
    if owner == "promotion":
        why = "the file does not pause promotion any more"
    elif leader is not None and leader.node in situation.maintained:
        why = f"the lead has to move away from {leader.node}, which is in maintenance now"
    elif situation.maintained:
        why = "the members that stay have the quorum"
    else:
        why = "maintenance is over"
    return Write(owner, "resume", patch, "Patroni is resumed", why)


def handing_back(situation: Situation, leader: DesiredMember | None) -> dict[str, str | None]:
    """What a pin becomes when nothing needs it any more: it stays, dated anew, until the proxies'
    own checks have seen the leader; one for another member is void already."""
    route = pin_of(situation)
    if route is None:
        return {}
    kept = leader is not None and route.member == leader.name
    return {ROUTE_KEY: str(Route("pin", route.member, situation.now)) if kept else None}


def whom_to_ask(situation: Situation) -> DesiredMember | None:
    """The member that is asked to write: the leader, or where nobody leads, one whose Raft node
    affirms the quorum."""
    if situation.leader is not None:
        return situation.leader
    for member in situation.desired.members:
        if (status := situation.raft_of(member)) is not None and status.has_quorum:
            return member
    return None


def why_not_write(situation: Situation, write: Write) -> Obstacle | None:
    """Why a write may not be done now; None when it may."""
    return next(obstacles(situation, write), None)


def obstacles(situation: Situation, write: Write) -> Iterator[Obstacle]:
    for member in situation.desired.members:
        status = situation.status(member)
        if status is None:
            why = f"{member.name} does not answer ({situation.why_unknown(member)})"
            yield Obstacle(why, wants_attention=True)
        elif member is not situation.leader and status.role in {"primary", "master", "leader"}:
            yield Obstacle(f"{member.name} runs as primary without the lock", wants_attention=True)
    if no_quorum := why_not_affirmed(situation, situation.desired.members):
        yield Obstacle(no_quorum)
    if write.aspect == "pause" and write.concern == "maintenance":
        yield from (Obstacle(reason) for reason in situation.unwell())
    if write.aspect in {"pause", "pin"}:
        settling = (situation.why_unsettled(member) for member in situation.desired.members)
        yield from (Obstacle(reason) for reason in settling if reason)
    if write.aspect != "resume" and (moving := why_moving(situation)):
        yield Obstacle(moving)
    if write.aspect == "unpin":
        yield from unpin_obstacles(situation)


def why_not_affirmed(situation: Situation, members: tuple[DesiredMember, ...]) -> str | None:
    """Why not every one of these members' Raft nodes affirms a quorum and reaches the others."""
    addresses = {m.name: f"{m.address}:{situation.desired.raft_port}" for m in members}
    for member in members:
        status = situation.raft_of(member)
        if status is None:
            return f"the Raft node of {member.name} does not answer"
        if not status.has_quorum:
            return f"the Raft node of {member.name} has no quorum"
        for other, address in addresses.items():
            if other != member.name and address not in status.reachable:
                return f"the Raft node of {member.name} does not reach {other} ({address})"
    if len(members) < len(situation.desired.members):
        return None
    for member in members:
        if (status := situation.raft_of(member)) and status.unreachable:
            stray = ", ".join(sorted(status.unreachable))
            return f"the Raft node of {member.name} does not reach {stray}"
    return None


def why_moving(situation: Situation) -> str | None:
    """A planned move goes first: a pause would keep it from being done, or be overtaken by it."""
    if (move := situation.notes.move) is not None:
        return f"the lead is moving from {move.leader} to {move.candidate}"
    for step in lead(situation).steps:
        if isinstance(step, SwitchOver | PatchSettings):
            return step.reason
    return None


def unpin_obstacles(situation: Situation) -> Iterator[Obstacle]:
    """A pin for the leader is kept until it is led by the rules again, and every proxy's own check
    has had the time to see it; one for another member is void."""
    route, leader = pin_of(situation), situation.leader
    if route is None or leader is None or route.member != leader.name:
        return
    if not pause_owner(situation):
        for member in situation.desired.members:
            status = situation.status(member)
            if status is not None and status.paused:
                yield Obstacle(f"{member.name} still says that Patroni is paused")
    if abs(situation.now - route.at) < HANDED_BACK:
        due = route.at + HANDED_BACK
        yield Obstacle(f"they have to see {leader.name} again", due)
