"""Patroni's pause and the proxies' route pin: owner, desired value, and the next write.

Decides from the manifest, Patroni's settings, and the answers of every member and its Raft node.
Invariants: nothing is written unless every member's Raft node reports a quorum (a write without one
hangs, and may be applied later), but for a member that waits with a lost Raft log, or that is dead
beside a proven leader, which keep no pause from being lifted; a pause that the operator did not set
is never lifted; a pin is removed only from a leader that proves its lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from queenright.core.actions import PatchSettings, Switchover
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.maintenance.quorum import voters_for, why_not_affirmed
from queenright.core.kinds.postgres_cluster.patroni.config_keys import (
    PAUSE_KEY,
    ROUTE_KEY,
    Route,
    read_route,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.decision import decide_leader
from queenright.core.observed import Known
from queenright.core.planning.ages import certain_age

HANDED_BACK = timedelta(seconds=10)
"""Time for which an unneeded pin is kept: by then every proxy's own check has passed twice
in its interval of 3 s (spec: database-cluster §4.2)."""
CLOCKS_DIFFER = timedelta(seconds=1)
"""A pin from further in the future was written by another clock: its age is not known."""

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
    """Reason why a write that is due is not done now."""

    why: str
    recheck_at: datetime | None = None
    wants_attention: bool = False


def pause_owner(state: ClusterState) -> Owner:
    """Owner of Patroni's pause, by its settings; empty where it is not paused, or not known."""
    settings = state.known_settings
    if not settings.get("pause"):
        return ""
    match settings.get(PAUSE_KEY):
        case "maintenance":
            return "maintenance"
        case "promotion":
            return "promotion"
        case _:
            return "somebody else"


def pin_of(state: ClusterState) -> Route | None:
    """The pin in Patroni's settings."""
    route = read_route(state.known_settings)
    return route if route is not None and route.kind == "pin" else None


def maintained_members(state: ClusterState) -> tuple[DesiredMember, ...]:
    return tuple(m for m in state.desired.members if m.node in state.maintained)


def staying_members(state: ClusterState) -> tuple[DesiredMember, ...]:
    return tuple(m for m in state.desired.members if m.node not in state.maintained)


def keeps_quorum(state: ClusterState) -> bool:
    """True if the members that stay are a Raft majority of all."""
    return 2 * len(staying_members(state)) > len(state.desired.members)


def wants_pin(state: ClusterState) -> bool:
    """True if the leader has to be kept through a lost quorum.

    Only once the leader is on a node that stays: a pause before that would prevent the switchover.
    """
    leader = state.leader
    if state.replication.is_synchronous:
        return False  # without a quorum Patroni can't take a lost replica out: commits would wait
    return leader in staying_members(state) and not keeps_quorum(state)


def wanted_reason(state: ClusterState) -> Reason | None:
    """Reason for which Patroni should be paused now; None if it should not."""
    if wants_pin(state):
        return "maintenance"
    if state.desired.policy.promotion.is_paused(state.now):
        return "promotion"
    return None


def next_write(state: ClusterState) -> Write | None:
    """The next change of the pause and the pin, whether or not it may be done now.

    None when they are as they should be, or that is not known.
    """
    leader = state.leader
    if not isinstance(state.settings, Known):
        return None
    owner, reason = pause_owner(state), wanted_reason(state)
    if leader is None or not state.is_bootstrapped:
        unwanted = reason is None and not state.maintained
        if unwanted and owner in {"maintenance", "promotion"}:
            return resume(state, leader, owner)
        return None
    if reason is not None and owner not in {reason, "somebody else"}:
        return pause(state, leader, reason, owner)
    if reason == "maintenance":
        return None if pin_fits(state, leader) else pin(state, leader)
    if reason is None and owner in {"maintenance", "promotion"}:
        return resume(state, leader, owner)
    if not owner and state.known_settings.get(PAUSE_KEY) is not None:
        what, why = "remove the pause's reason", "Patroni is no longer paused"
        return Write("promotion", "resume", {PAUSE_KEY: None}, what, why)
    if pin_of(state) is not None:
        what = "remove the pin of port 5000"
        why = "the proxies' own checks see the leader"
        return Write("maintenance", "unpin", {ROUTE_KEY: None}, what, why)
    return None


def pin_fits(state: ClusterState, leader: DesiredMember) -> bool:
    route = pin_of(state)
    return (
        route is not None and route.member == leader.name and route.at <= state.now + CLOCKS_DIFFER
    )


def pause(state: ClusterState, leader: DesiredMember, reason: Reason, owner: Owner) -> Write:
    """Pause and reason in one write, so that neither is ever there for the other's sake."""
    patch: dict[str, Any] = {"pause": True, PAUSE_KEY: reason}
    if reason == "promotion":
        patch.update(handing_back(state, leader))
        why = "maintenance is over, and " if owner == "maintenance" else ""
        what = "pause Patroni"
        return Write(reason, "pause", patch, what, f"{why}the file pauses promotion")
    patch[ROUTE_KEY] = str(Route("pin", leader.name, state.now))
    what = f"pause Patroni and pin port 5000 to {leader.name}"
    return Write(reason, "pause", patch, what, why_pin(state))


def pin(state: ClusterState, leader: DesiredMember) -> Write:
    patch = {ROUTE_KEY: str(Route("pin", leader.name, state.now))}
    what = f"pin port 5000 to {leader.name}"
    return Write("maintenance", "pin", patch, what, why_pin(state))


def why_pin(state: ClusterState) -> str:
    nodes = ", ".join(dict.fromkeys(m.node for m in maintained_members(state)))
    return f"without {nodes} there is no quorum, and the leader would be demoted"


def resume(state: ClusterState, leader: DesiredMember | None, owner: Reason) -> Write:
    """Write that resumes Patroni.

    Due as soon as every member is back that is not dead, streaming or not: a paused Patroni starts
    no PostgreSQL, so the replicas of nodes that were off stay stopped until then; and so does a
    leader whose container ended meanwhile, so that no member leads before the pause is lifted.
    """
    patch = {"pause": None, PAUSE_KEY: None, **handing_back(state, leader)}
    if owner == "promotion":
        why = "the file no longer pauses promotion"
    elif leader is not None and leader.node in state.maintained:
        why = f"{leader.node} is in maintenance now, and a switchover comes first"
    elif state.maintained and not keeps_quorum(state):
        why = f"replication is {state.replication.mode}, so that no pause helps"
    elif state.maintained:
        why = "the members that stay have the quorum"
    else:
        why = "maintenance is over"
    return Write(owner, "resume", patch, "resume Patroni", why)


def handing_back(state: ClusterState, leader: DesiredMember | None) -> dict[str, str | None]:
    """Patch for a pin that nothing needs any more.

    A pin of the leader stays, with a new date, until the proxies' own checks have seen the leader;
    one of another member is removed.
    """
    route = pin_of(state)
    if route is None:
        return {}
    kept = leader is not None and route.member == leader.name
    return {ROUTE_KEY: str(Route("pin", route.member, state.now)) if kept else None}


def whom_to_ask(state: ClusterState) -> DesiredMember | None:
    """The member that is asked to write: the leader, or where nobody leads, one whose Raft node
    affirms the quorum."""
    if state.leader is not None:
        return state.leader
    for member in state.desired.members:
        if (status := state.raft_of(member)) is not None and status.has_quorum:
            return member
    return None


def why_not_write(state: ClusterState, write: Write) -> Obstacle | None:
    """Reason why a write may not be done now; None when it may."""
    return next(obstacles(state, write), None)


def obstacles(state: ClusterState, write: Write) -> Iterator[Obstacle]:
    voters = voters_for(state, write.aspect)
    for member in voters:
        status = state.status(member)
        if status is None:
            why = f"{member.name} does not answer ({state.why_unknown(member)})"
            yield Obstacle(why, wants_attention=True)
        elif member is not state.leader and status.role in {"primary", "master", "leader"}:
            yield Obstacle(
                f"{member.name} runs as primary without the leader lock", wants_attention=True
            )
    if no_quorum := why_not_affirmed(state, voters):
        yield Obstacle(no_quorum)
    if write.aspect == "pause" and write.concern == "maintenance":
        yield from (Obstacle(reason) for reason in state.unwell())
    if write.aspect in {"pause", "pin"}:
        settling = (state.why_unsettled(member) for member in state.desired.members)
        yield from (Obstacle(reason) for reason in settling if reason)
    if write.aspect != "resume" and (moving := why_moving(state)):
        yield Obstacle(moving)
    if write.aspect == "unpin":
        yield from unpin_obstacles(state)


def why_moving(state: ClusterState) -> str | None:
    """Reason of a switchover that has to go first; None when there is none.

    A pause would prevent it, or be overtaken by it.
    """
    if (move := state.annotations.move) is not None:
        return f"a switchover from {move.leader} to {move.candidate} is in progress"
    for step in decide_leader(state).steps:
        if isinstance(step, Switchover | PatchSettings):
            return step.reason
    return None


def unpin_obstacles(state: ClusterState) -> Iterator[Obstacle]:
    """Obstacles to the removal of a pin.

    A pin of the leader is kept until the pause is lifted everywhere and every proxy's own check has
    had the time to see the leader; one of another member has no effect.
    """
    route, leader = pin_of(state), state.leader
    if route is None or leader is None or route.member != leader.name:
        return
    if not pause_owner(state):
        for member in state.desired.members:
            status = state.status(member)
            if status is not None and status.paused:
                yield Obstacle(f"{member.name} still reports that Patroni is paused")
    age = certain_age(route.at, state.now, state.seen_setting(ROUTE_KEY))
    if abs(age) < HANDED_BACK:
        due = state.now + HANDED_BACK - age
        yield Obstacle(f"the proxies' own checks have to see {leader.name}", due)
