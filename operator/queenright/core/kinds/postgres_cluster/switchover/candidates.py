"""Candidates for the leadership: the preconditions of a switchover, each with its reason.

Decides from every member's own answer, its Raft node's, and the swarm. Invariant: an answer that is
missing, stale or contradicts another is a reason against.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.kinds.postgres_cluster.replication.standbys import confirms
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Unknown
from queenright.core.swarm.label_values import read_whole


def best_candidate(state: ClusterState) -> DesiredMember | str:
    """Best member for the leadership: ``primary`` where possible, else the freshest.

    The reasons, where no member can take over. One that leaves its place is none, but where all
    others do, and it comes back: it hands over again then.
    """
    obstacles: list[str] = []
    able: list[DesiredMember] = []
    topology = state.desired.topology
    rest = [member for member in state.desired.members if member is not state.leader]
    is_any_staying = any(member.name not in topology.leaving for member in rest)
    for member in rest:
        is_able = not is_any_staying and topology.comes_back(member.name)
        if member.name in topology.leaving and not is_able:
            obstacles.append(f"{member.name} {topology.why_leaving(member.name)}")
        elif member.node in state.maintained:
            obstacles.append(f"{member.name} is on {member.node}, which is in maintenance")
        elif obstacle := why_not_lead(state, member):
            obstacles.append(f"{member.name}: {obstacle}")
        else:
            able.append(member)
    if not able:
        return "; ".join(obstacles) or "there is no other member"
    return min(able, key=lambda member: rank(state, member))


def rank(state: ClusterState, member: DesiredMember) -> tuple[bool, bool, int, int, str]:
    """Sorts the better candidate first; a stand-in, which has to hand over again, last."""
    status = state.status(member)
    lag_bytes = status.lag_bytes if status and status.lag_bytes is not None else 1 << 62
    priority = read_whole(member.service.environment.get("FAILOVER_PRIORITY", "1")) or 0
    stands = member.name in state.desired.topology.standing
    return stands, member.name != state.desired.policy.primary, lag_bytes, -priority, member.name


def why_not_lead(state: ClusterState, candidate: DesiredMember) -> str | None:
    """Reason why the leadership may not go to this member now; None when it may."""
    return next(obstacles_to_lead(state, candidate), None)


def obstacles_to_lead(state: ClusterState, candidate: DesiredMember) -> Iterator[str]:
    leader = state.leader
    if leader is None:
        yield "no single member proves the leader lock"
        return
    if candidate is leader:
        yield f"{candidate.name} is the leader already"
    for member in state.desired.members:
        status = state.status(member)
        if status is None:
            yield f"{member.name} does not answer ({state.why_unknown(member)})"
        elif status.paused:
            yield "Patroni is paused"
        elif member is not leader and not status.is_streaming:
            yield f"{member.name} is {status.state}, not streaming"
        is_leader = member is leader  # a second task beside it, which can't start, is no obstacle
        if unsettled := (state.why_changing if is_leader else state.why_unsettled)(member):
            yield unsettled
    if isinstance(state.settings, Unknown):
        yield f"Patroni's settings are not known ({state.settings.why})"
    elif "maximum_lag_on_failover" not in state.known_settings:
        yield "Patroni's settings have no maximum_lag_on_failover"
    if too_far := state.why_too_far(candidate):
        yield too_far
    yield from tag_obstacles(state, candidate)
    yield from standby_obstacles(state, candidate)
    if uncertain := state.why_no_quorum() or state.why_stray():
        yield uncertain
    yield from filter(None, map(state.why_raft_stuck, state.desired.members))


def standby_obstacles(state: ClusterState, candidate: DesiredMember) -> Iterator[str]:
    """Patroni lets only members of its /sync key follow a leader that steps down."""
    mode = read_replication(state.known_settings).mode
    if mode == "asynchronous" or confirms(state.status(candidate)):
        return
    chosen = [m.name for m in state.desired.members if confirms(state.status(m))]
    why = f"{mode} replication"
    if chosen:
        why += (
            f"; Patroni has chosen {', '.join(chosen)}, and replication.mode quorum takes every one"
        )
    yield f"{candidate.name} is no synchronous standby ({why})"


def tag_obstacles(state: ClusterState, candidate: DesiredMember) -> Iterator[str]:
    status, leader = state.status(candidate), state.leader
    led = state.status(leader) if leader else None
    if status is None or led is None:
        return
    if status.tags.get("nofailover"):
        yield f"{candidate.name} has the tag nofailover"
    if status.timeline != led.timeline:
        yield f"{candidate.name} is on timeline {status.timeline}, the leader on {led.timeline}"
