"""A note of the commits that a failover lost: what a former leader's rewind has removed.

Decides from the word of the member itself, which counts them beside the rewind. Nothing is
derived from positions: the recovery of a former leader ends with WAL of its own, and the rewind may
be over before the member is seen. Invariant: nothing waits for the note, which ends by time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import RemovedWal
from queenright.core.planning.plan import Hold
from queenright.core.postgres.wal import written

LASTS = timedelta(days=7)
"""The time for which the note is shown; the audit log keeps it."""


def removed_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield a note for each rewind that removed commits, or may have."""
    for member in state.desired.members:
        status = state.status(member)
        # Of several on one timeline, such as after clocks or files were changed, the last counts.
        found = {one.timeline: one for one in status.removed} if status is not None else {}
        for one in found.values():
            if one.at - LASTS <= state.now < one.at + LASTS:
                key = f"removed/{member.service.name}/{one.timeline}"
                told = words(state, member, one)
                yield Hold(key, told, is_informational=True, is_recorded=True)


def words(state: ClusterState, member: DesiredMember, removed: RemovedWal) -> str:
    begin, leader = written(removed.begin), next_leader(state, removed)
    rewind = f"member {member.name}: its rewind at {format_moment(removed.at)} removed"
    if removed.end is None or removed.commits is None:
        what = (
            f"WAL that {leader} never had (timeline {removed.timeline} from {begin} on; its "
            "commits could not be counted while the rewind ran, so their number is not known)"
        )
    else:
        commits = "1 commit" if removed.commits == 1 else f"{removed.commits} commits"
        what = (
            f"{removed.end - removed.begin} bytes of WAL with {commits} that {leader} never had "
            f"(timeline {removed.timeline} from {begin} to {written(removed.end)}; commits of "
            "PostgreSQL's own and of the canary count, too)"
        )
    return f"{rewind} {what}; {advice(state)}"


def next_leader(state: ClusterState, removed: RemovedWal) -> str:
    """Return the member that led on the next timeline, if it is noted."""
    last = state.annotations.leader
    is_next = last is not None and last.timeline == removed.timeline + 1
    return last.member if last is not None and is_next else "the next leader"


def advice(state: ClusterState) -> str:
    """Return what the present mode means for these commits, and what saves the next ones."""
    if not state.replication.is_synchronous:
        return (
            "what clients wrote in it is lost; replication: {mode: quorum} has a failover lose no "
            "acknowledged commit"
        )
    waited = "commits that waited for a replica were not acknowledged"
    if state.replication.strict:
        return f"{waited}; nothing to do"
    return f"{waited}; replication: {{strict: true}} has them wait without a replica, too"
