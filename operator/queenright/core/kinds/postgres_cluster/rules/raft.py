"""Rule for a member whose Raft node can't apply its log, or votes by a list of former voters.

A node of the first kind holds every disruption (``ClusterState.why_raft_stuck``). One of the second
is that of a member that was removed and came back to its volumes. Where its Patroni waits for Raft,
and therefore does not answer, and all other Raft nodes are well and agree, its container is started
again with the request to set the log aside. The other members' databases need not be well: this one
serves nobody, and it may be the only one with whole data. Invariant: at most one log is set aside
at a time, and the others are a quorum that has everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction, UpdateService
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.losses.lone_raft import why_former_list
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.raft_reset import requests_in, with_request
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import LiveService
from queenright.core.planning.ages import likely_age
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import RAFT_RESET_VARIABLE

MOST_REQUESTS = 3
"""A member that has not obeyed so many is left as it is for long: a start every half a minute helps
nobody, and hides the words."""
LATELY = timedelta(hours=1)
BY_HAND = (
    "rename its .journal and .dump in the volume of /home/postgres/raft, on this "
    "member only, and restart it"
)


def plan_raft(state: ClusterState) -> Iterator[AnyAction | Hold]:
    for member in state.desired.members:
        stuck, former = state.why_raft_stuck(member), why_former_list(state, member)
        stuck, live = stuck or former, state.swarm.service(member.service.name)
        if stuck is None or live is None:
            continue
        # With a list of former voters Patroni may answer, and its replica serve reads.
        serves = former is not None and state.status(member) is not None
        obstacle = why_not_start_anew if serves else why_not_reset
        if why_not := obstacle(state, member):
            yield Hold(
                f"raft/{member.service.name}",
                f"{stuck}, and its log is not set aside now ({why_not}); if that lasts, {BY_HAND}",
                state.now + SETTLES,
                wants_attention=not any(map(state.why_changing, state.desired.members)),
            )
            continue
        before = requests_lately(state, live)
        if before >= MOST_REQUESTS:
            yield Hold(
                f"raft/{member.service.name}",
                f"{stuck}, and {before} starts with {RAFT_RESET_VARIABLE} have not helped (an "
                f"image from before 0.2.0 ignores it); write a newer image, or {BY_HAND}",
                wants_attention=True,
            )
            continue
        service = with_request(live, before)
        asked = requests_in(live.value) > 0
        again = " (asked before: an image from before 0.2.0 ignores it)" if asked else ""
        yield UpdateService(
            live.id,
            live.version,
            service,
            live.force_update,
            reason=f"{stuck}: {member.name} starts again, sets its log aside and has it from the "
            f"others{again}",
            changes=diff(service, live.value),
            disrupts=member.service.name,
        )


def requests_lately(state: ClusterState, live: LiveService) -> int:
    """Return how many requests in a row have been made; those of long ago do not count."""
    age = likely_age(live.updated_at, state.now, state.seen_s_ago.get(live.id))
    return requests_in(live.value) if age < LATELY else 0


def why_not_start_anew(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member that answers may not start again without its log; None when it may."""
    return state.why_not_disrupt(member) or why_not_agreed(state, member)


def why_not_reset(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member's Raft log may not be set aside now; None when it may."""
    if state.status(member) is not None:
        return f"the Patroni of {member.name} answers (it would wait, and not answer)"
    others = (state.status(other) for other in state.desired.members if other is not member)
    paused = any(status is not None and status.paused for status in others)
    if paused and not pause_reason(state.known_settings):
        return "Patroni is paused"  # by a person; a pause of the operator's own waits for this one
    return state.why_changing(member) or why_not_agreed(state, member)


def why_not_agreed(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why the other Raft nodes are no certain quorum with everything that was committed: a
    container that swarm is about to stop answers well until then."""
    others = [other for other in state.desired.members if other is not member]
    for other in others:
        if changing := state.why_changing(other):
            return changing
    found = {other.name: state.raft_of(other) for other in others}
    own = state.raft_of(member)
    views = set()
    for name, status in found.items():
        if status is None or own is None:
            return f"the Raft node of {name} does not answer"
        if status.is_behind:
            return f"the Raft node of {name} has not applied all"
        if away := status.unreachable - {own.address}:
            return f"the Raft node of {name} does not reach {', '.join(sorted(away))}"
        if not status.leader:
            return f"the Raft node of {name} knows no leader"
        views.add((status.leader, status.term, status.voters))
    if len(views) != 1:
        return "the other Raft nodes do not agree on their leader and voters"
    voters = next(iter(views))[2]
    if 2 * len(found) <= len(voters):
        return f"{len(found)} of {len(voters)} Raft nodes are no quorum without it"
    return None
