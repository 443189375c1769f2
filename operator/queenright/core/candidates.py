"""Who may take over the lead: the preconditions of a planned move, each named when it fails.

Decides from every member's own word, its Raft node's, and the swarm. Invariant: an answer that is
missing, stale or contradicts another is a reason against.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.desired import DesiredMember
from queenright.core.observed import Unknown
from queenright.core.situation import Situation


def best_candidate(situation: Situation) -> DesiredMember | str:
    """The member to which the lead should move: the wished one where it can, else the freshest;
    or, when nobody can, why."""
    obstacles: list[str] = []
    able: list[DesiredMember] = []
    for member in situation.desired.members:
        if member is situation.leader:
            continue
        if member.node in situation.maintained:
            obstacles.append(f"{member.name} is on {member.node}, which is in maintenance")
        elif obstacle := why_not_lead(situation, member):
            obstacles.append(f"{member.name}: {obstacle}")
        else:
            able.append(member)
    if not able:
        return "; ".join(obstacles) or "there is no other member"
    return min(able, key=lambda member: rank(situation, member))


def rank(situation: Situation, member: DesiredMember) -> tuple[bool, int, int, str]:
    """Sorts the better candidate first."""
    status = situation.status(member)
    lag_bytes = status.lag_bytes if status and status.lag_bytes is not None else 1 << 62
    priority = int(member.service.environment.get("FAILOVER_PRIORITY", "1"))
    return (member.name != situation.desired.policy.primary, lag_bytes, -priority, member.name)


def why_not_lead(situation: Situation, candidate: DesiredMember) -> str | None:
    """Why the lead may not be moved to this member now; None when it may."""
    return next(obstacles_to_lead(situation, candidate), None)


def obstacles_to_lead(situation: Situation, candidate: DesiredMember) -> Iterator[str]:
    leader = situation.leader
    if leader is None:
        yield "there is no leader that every observation agrees on"
        return
    if candidate is leader:
        yield f"{candidate.name} leads already"
    for member in situation.desired.members:
        status = situation.status(member)
        if status is None:
            yield f"{member.name} does not answer ({situation.why_unknown(member)})"
        elif status.paused:
            yield "Patroni is paused"
        elif member is not leader and not status.is_streaming:
            yield f"{member.name} is {status.state}, not streaming"
        is_leader = member is leader  # a second task beside it, which can't start, is no obstacle
        if unsettled := (situation.why_changing if is_leader else situation.why_unsettled)(member):
            yield unsettled
    if isinstance(situation.settings, Unknown):
        yield f"Patroni's settings are not known ({situation.settings.why})"
    elif "maximum_lag_on_failover" not in situation.known_settings:
        yield "Patroni's settings have no maximum_lag_on_failover"
    if too_far := situation.why_too_far(candidate):
        yield too_far
    yield from tag_obstacles(situation, candidate)
    if uncertain := situation.why_no_quorum() or situation.why_stray():
        yield uncertain


def tag_obstacles(situation: Situation, candidate: DesiredMember) -> Iterator[str]:
    status, leader = situation.status(candidate), situation.leader
    led = situation.status(leader) if leader else None
    if status is None or led is None:
        return
    if status.tags.get("nofailover"):
        yield f"{candidate.name} has the tag nofailover"
    if status.timeline != led.timeline:
        yield f"{candidate.name} is on timeline {status.timeline}, the leader on {led.timeline}"
