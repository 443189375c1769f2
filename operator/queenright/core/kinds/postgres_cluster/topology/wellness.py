"""Reasons why the members that stay do not bear a change of the members now.

As ``ClusterState.why_not_disrupt``, for a change beside them: nobody among them is restarted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.restart_need import restart_need
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import is_newcomer, is_silent


def why_unwell(
    state: ClusterState, *apart: DesiredMember, beside_maintenance: bool = False
) -> str | None:
    """Reason why not all members but those ``apart`` are well; None when they are.

    A member that has to restart is well: its restart waits for a change of the members that has
    begun, so the change can't wait for the restart. A change that a maintenance waits for goes on
    ``beside_maintenance``, as long as all members are well, so that no node is off yet.
    """
    found = obstacles(state, apart)
    if not beside_maintenance and state.maintained:
        return next(found, f"{', '.join(state.maintained)} in maintenance")
    return next(found, None)


def why_not_at_rest(state: ClusterState) -> str | None:
    """Reason why no change of the members begins yet; None when all are well, and none of them has
    to restart first."""
    return why_unwell(state) or next(due_restarts(state), None)


def due_restarts(state: ClusterState) -> Iterator[str]:
    due = [(m, need) for m in state.desired.members if (need := restart_need(state, m))]
    waiting = [member for member, _ in due if needs_a_change(state, member)]
    for member, need in due:
        # The leader's restart comes after that of all others.
        if member not in waiting and not (waiting and state.is_leader(member)):
            yield f"{member.name} has to restart first ({need})"


def needs_a_change(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member whose restart has to wait for a change of the members: no replica
    could confirm commits meanwhile, or one that goes does not stream. The change can't wait for
    it."""
    leaving = state.desired.topology.leaving
    broken = (m for m in state.desired.members if m.name in leaving and serves_nobody(state, m))
    return any(m is not member for m in broken) or bool(state.why_no_standby(without=(member,)))


def obstacles(state: ClusterState, apart: Collection[DesiredMember]) -> Iterator[str]:
    if state.leader is None:
        yield "no single member proves the leader lock"
    if (move := state.annotations.move) is not None:
        yield f"a switchover from {move.leader} to {move.candidate} is in progress"
    if state.known_settings.get("pause"):
        yield "Patroni is paused"
    for member in state.desired.members:
        if member in apart or is_out(state, member):
            continue
        if found := why_not_relied_on(state, member):
            yield found
    if stray := state.why_stray():
        yield stray


def is_out(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member on which nothing rests: it has not begun, or it is to go and
    serves nobody; under another name it would return. Its vote counts all the same
    (``settled``)."""
    topology = state.desired.topology
    goes = member.name in topology.leaving and not topology.new_name_of(member.name)
    return (goes and serves_nobody(state, member)) or is_newcomer(state, member)


def serves_nobody(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that does not answer, or neither leads nor streams."""
    status = state.status(member)
    return is_silent(state, member) or (status is not None and not status.is_well)


def why_not_restart(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member may not be restarted beside the others that run; None when it may."""
    is_there = state.swarm.service(member.service.name) is not None
    if is_there and state.status(member) is None:
        return f"{member.name} does not answer ({state.why_unknown(member)})"
    return state.why_returning(member) or why_others_unwell(state, member)


def why_others_unwell(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why not all other members that run are well; None when they are. One that is to go is
    not needed, and counts here all the same: the guards do not know the file."""
    for other in state.desired.members:
        if other is member or state.swarm.service(other.service.name) is None:
            continue
        status = state.status(other)
        if status is None:
            return f"{other.name} does not answer ({state.why_unknown(other)})"
        if not status.is_well:
            return f"{other.name} is {status.state}, not streaming"
    return None


def why_not_relied_on(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why one member is not well; None when it is."""
    status = state.status(member)
    if status is None:
        return f"{member.name} does not answer ({state.why_unknown(member)})"
    if status.paused:
        return "Patroni is paused"
    if not status.is_well:
        return f"{member.name} is {status.state}, not streaming"
    if unsettled := state.why_unsettled(member) or state.why_raft_stuck(member):
        return unsettled
    return state.why_too_far(member) if status.is_streaming else None
