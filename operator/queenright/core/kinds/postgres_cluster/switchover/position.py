"""The end of each member's data, as far as it tells: its timeline and its WAL position.

Answers only; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.kinds.postgres_cluster.replication.standbys import confirms
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import unlisted_members
from queenright.core.observed import MemberStatus
from queenright.core.swarm.label_values import read_whole


@dataclass(frozen=True, slots=True)
class Position:
    """A member's data: its timeline, and the furthest WAL that it has received or replayed.
    ``may_lead`` is False where Patroni's /sync key does not name it, though it has to; ``stays`` is
    False for one that is to go, or has no vote."""

    member: DesiredMember
    timeline: int
    location: int
    may_lead: bool = True
    stays: bool = True

    @property
    def rank(self) -> tuple[int, int, bool, bool, int, str]:
        """Sorts the newest data last; among equals, one that may lead, then one that stays, then
        the higher failover priority."""
        priority = read_whole(self.member.service.environment.get("FAILOVER_PRIORITY", "1")) or 0
        own = self.may_lead, self.stays, priority, self.member.name
        return self.timeline, self.location, *own


def positions(state: ClusterState) -> Iterator[Position]:
    unlisted, leaving = unlisted_members(state), state.desired.topology.leaving
    for member in state.desired.members:
        status = state.status(member)
        if status is not None and status.timeline is not None and status.location is not None:
            may_lead = is_in_sync_key(state, member.name, status.timeline, status)
            stays = member not in unlisted and member.name not in leaving
            yield Position(member, status.timeline, status.location, may_lead, stays)


def is_in_sync_key(state: ClusterState, member: str, timeline: int, status: MemberStatus) -> bool:
    """Return True if a member is in Patroni's /sync key, or no member has to be.

    The key names its leader too, which no answer shows: it is the last leader, on its timeline.
    """
    if not read_replication(state.known_settings).is_synchronous or confirms(status):
        return True
    last = state.annotations.leader
    return last is not None and (last.member, last.timeline) == (member, timeline)


def why_not_compared(status: MemberStatus) -> str | None:
    """Reason why a member's data can't be compared with the others'; None if it can."""
    if status.role != "replica" or not status.is_running:
        return f"is {status.role} and {status.state}, not a running replica"
    if status.timeline is None or status.location is None:
        return "does not tell its timeline and WAL position"
    return None if status.cluster_unlocked else "still sees a leader lock"
