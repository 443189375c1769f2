"""Failover to a named member where the quorum is well and nobody leads.

After the whole cluster lost power, Patroni may elect nobody: a former leader with more WAL on an
older timeline keeps the others from leading, and ``check_timeline`` keeps it from leading itself.
Decides from every member's own answer, its Raft node's, and Patroni's history of timelines.
Invariant: a failover is planned only where every member answers that has a service or a vote, so
that nothing that any of them has is lost; where one is missing, a person decides
(``accepted_loss``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta

from queenright.core.actions import Failover
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.losses.untold_ends import end_command
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.accepted_loss import (
    SETTINGS_UNKNOWN,
    accepted_failover,
    choices,
)
from queenright.core.kinds.postgres_cluster.switchover.decision import settle_time
from queenright.core.kinds.postgres_cluster.switchover.position import (
    Position,
    positions,
    why_not_compared,
)
from queenright.core.kinds.postgres_cluster.topology.settled import (
    counted_members,
    raft_address,
    unlisted_members,
)
from queenright.core.observed import LEADERLESS, UNLOCKED, Known
from queenright.core.planning.plan import Hold

ELECTS = timedelta(seconds=60)
"""Time in which Patroni elects a leader by itself, if it can, after all members have started."""


def decide_failover(state: ClusterState) -> Failover | Hold | None:
    """The failover, or why there is none yet; None while a member leads or Patroni is paused."""
    name = state.desired.name
    led = any(state.is_leader(member) for member in state.desired.members)
    is_asked = name in state.observed.history
    if led or not is_asked or not state.is_bootstrapped or is_halted(state):
        return None
    if wait := electing(state, LEADERLESS):
        return wait
    if obstacles := "; ".join(why_not_name(state)):
        accepted = accepted_failover(state)
        if isinstance(accepted, Failover):
            return electing(state, UNLOCKED) or accepted
        why = "; ".join(filter(None, (obstacles, accepted)))
        reason = (
            f"cluster {name}: nobody leads, and the operator names no leader ({why}); bring every "
            "member back, or accept the loss of what the others do not have: queenright failover "
            f"{name} --candidate and a member's name{choices(state)}{end_command(state)}"
        )
        return Hold(f"failover/{name}", reason, wants_attention=True)
    if wait := electing(state, UNLOCKED):
        return wait
    newest = max(positions(state), key=lambda position: position.rank)
    return Failover(
        **state.asked(newest.member),
        candidate=newest.member.name,
        reason=f"failover to {newest.member.name}: nobody leads, all members answer, and "
        f"{newest.member.name} has the newest data (timeline {newest.timeline}, WAL position "
        f"{newest.location})",
    )


def electing(state: ClusterState, since: str) -> Hold | None:
    """Return the wait for Patroni's own election, counted from ``LEADERLESS``, or from when the
    members began to say so (``UNLOCKED``): one that was silent may have led until then. None when
    it had the time."""
    name = state.desired.name
    seen_s = state.observed.seen_s_ago.get(f"{since}{name}", 0.0)
    left = max(ELECTS, settle_time(state)) - timedelta(seconds=seen_s)
    if left <= timedelta(0):
        return None
    reason = (
        f"cluster {name}: nobody leads (Patroni elects a leader by itself, if it can); after "
        "a minute the operator names the member with the newest data"
    )
    return Hold(f"failover/{name}", reason, state.now + left)


def is_halted(state: ClusterState) -> bool:
    """True if Patroni is paused, as far as anybody says: then it promotes nobody."""
    told = (state.status(member) for member in state.desired.members)
    return bool(state.known_settings.get("pause")) or any(s.paused for s in told if s is not None)


def why_not_name(state: ClusterState) -> Iterator[str]:
    """Reasons why no member may be named; none when the newest one may."""
    counted, unlisted = counted_members(state), unlisted_members(state)
    apart = [m for m in state.desired.members if m not in counted or m in unlisted]
    for member in counted:
        status = state.status(member)
        if status is None:
            yield f"{member.name} does not answer ({state.why_unknown(member)})"
        elif obstacle := why_not_compared(status):
            yield f"{member.name} {obstacle}"
        elif unsettled := state.why_unsettled(member):
            yield unsettled
    uncertain = state.why_no_quorum(without=apart) or why_raft_unsettled(state, apart)
    if uncertain := uncertain or state.why_stray():
        yield uncertain
    if not isinstance(state.settings, Known):
        yield SETTINGS_UNKNOWN
    match state.observed.history.get(state.desired.name):
        case Known(history):
            expected = max((end.timeline + 1 for end in history), default=1)
        case _:
            yield "Patroni's history of timelines is not known"
            return
    found = [*positions(state)]
    if found and len(found) >= len(counted):
        yield from why_not_newest(state, max(found, key=lambda one: one.rank), expected)


def why_not_newest(state: ClusterState, newest: Position, expected: int) -> Iterator[str]:
    """Reasons why the member with the newest data may not be named. ``expected`` is the timeline
    on which the cluster has been."""
    status = state.status(newest.member)
    if newest.timeline < expected:
        yield (
            f"the newest data is on timeline {newest.timeline} ({newest.member.name}), but the "
            f"cluster has been on timeline {expected}"
        )
    elif status is not None and status.tags.get("nofailover"):
        yield f"{newest.member.name} has the newest data and the tag nofailover"
    if newest.member in unlisted_members(state):
        yield f"{newest.member.name} has the newest data, and no vote"
    elif not newest.may_lead:
        yield (
            f"{newest.member.name} has the newest data, but is not in Patroni's /sync key, so it "
            "may lack acknowledged rows"
        )


def why_raft_unsettled(state: ClusterState, apart: Collection[DesiredMember]) -> str | None:
    """Reason why the Raft nodes but those ``apart`` do not all agree; None when they do. That they
    do not reach one that is apart counts for nothing: a power cut can bring the vote of a member
    back that is gone, but not its node."""
    voters = [member for member in state.desired.members if member not in apart]
    found = [raft for member in voters if (raft := state.raft_of(member))]
    away = frozenset(raft_address(state, member) for member in apart)
    if any(raft.unreachable - away for raft in found):
        return "not every Raft node reaches every other"
    if len({(raft.leader, raft.term) for raft in found}) > 1 or not all(r.leader for r in found):
        return "the Raft nodes do not agree on their leader"
    if any(raft.is_behind for raft in found):
        return "a Raft node has not applied its whole log"
    return None
