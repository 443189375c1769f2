"""Failover to the newest of the members that are left, where the owner accepts what is lost.

Decides as ``leaderless`` does, of those members that can be compared: the file names one of them
and its timeline, in ``acceptLoss``. Invariant: the members that answer are a quorum of Raft's
voters, none of them sees a leader lock, and none of them has newer data than the named one; an
acknowledgement of an earlier loss is of an earlier timeline, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from queenright.core.actions import Failover
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.lost_amount import loss_of, losses_told
from queenright.core.kinds.postgres_cluster.switchover.position import (
    Position,
    positions,
    why_not_compared,
)
from queenright.core.kinds.postgres_cluster.topology.settled import (
    unlisted_members,
)
from queenright.core.observed import Known

SETTINGS_UNKNOWN = "Patroni's settings are not known, nor whether it is paused"


def accepted_failover(state: ClusterState) -> Failover | str | None:
    """The failover that the file accepts, or why it is not done; None where it accepts none."""
    accepted = state.desired.policy.accept_loss
    if accepted is None:
        return None
    left = comparable(state)
    newest = max(named(state), key=lambda position: position.rank, default=None)
    if newest is None:
        return "acceptLoss: no member tells its timeline and WAL position"
    if (newest.member.name, newest.timeline) != (accepted.leader, accepted.timeline):
        return (
            f"acceptLoss names {accepted.leader} on timeline {accepted.timeline}, and the newest "
            f"data that answers is that of {newest.member.name} on timeline {newest.timeline}"
        )
    if obstacle := next(obstacles(state, left), None):
        return f"acceptLoss: {obstacle}"
    return Failover(
        **state.asked(newest.member),
        candidate=newest.member.name,
        accepted_timeline=newest.timeline,
        reason=f"failover to {newest.member.name}, whose timeline {newest.timeline} the file "
        f"accepts; lost: {loss_of(state, newest, left)}",
    )


def comparable(state: ClusterState) -> list[Position]:
    """The members that answer as running replicas, with the end of their data."""
    found = []
    for position in positions(state):
        status = state.status(position.member)
        if status is not None and not why_not_compared(status):
            found.append(position)
    return found


def named(state: ClusterState) -> list[Position]:
    """Those of them that can lead: the others have no vote."""
    unlisted = unlisted_members(state)
    return [position for position in comparable(state) if position.member not in unlisted]


def obstacles(state: ClusterState, left: Sequence[Position]) -> Iterator[str]:
    """Reasons why even an accepted loss has to wait: what is observed is not certain."""
    yield from chain(*(unsettled(state, position) for position in left))
    if not isinstance(state.settings, Known):
        yield SETTINGS_UNKNOWN
    names = {position.member.name for position in left}
    for member in state.desired.members:
        status = state.status(member)
        may_follow = status is not None and status.is_running and not status.cluster_unlocked
        if may_follow and member.name not in names:
            yield f"{member.name} still sees a leader lock"
    if stray := state.why_stray():
        yield stray
    voting = [position for position in left if position.member not in unlisted_members(state)]
    nodes = [raft for position in voting if (raft := state.raft_of(position.member)) is not None]
    views = {(raft.leader, raft.term, raft.voters) for raft in nodes}
    if len(nodes) < len(voting) or len(views) != 1 or not nodes[0].leader:
        yield "the Raft nodes that answer do not agree on their leader and voters"
    elif 2 * len(nodes) <= len(nodes[0].voters):
        yield f"{len(nodes)} of {len(nodes[0].voters)} Raft nodes are no quorum"


def unsettled(state: ClusterState, position: Position) -> Iterator[str]:
    member = position.member
    if changing := state.why_unsettled(member):
        yield changing
    raft, status = state.raft_of(member), state.status(member)
    is_well = raft is not None and raft.has_quorum and not raft.is_behind
    if not is_well and member not in unlisted_members(state):
        yield f"the Raft node of {member.name} is not known to be well"
    if status is not None and status.tags.get("nofailover"):
        yield f"{member.name} has the tag nofailover"


def choices(state: ClusterState) -> str:
    """Return the field that accepts the newest data, and what each choice of a leader would lose;
    empty where no member tells what it has."""
    left = sorted(comparable(state), key=lambda position: position.rank, reverse=True)
    if not left:
        return ""
    best = next((position for position in left if position in named(state)), left[0])
    field = f"acceptLoss: {{leader: {best.member.name}, timeline: {best.timeline}}}"
    return f", or {field} in the file; {losses_told(state, left)}"
