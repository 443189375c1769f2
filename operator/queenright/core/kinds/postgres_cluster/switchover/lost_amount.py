"""Words for what is lost where a member leads on, with the number of bytes as far as it is known.

What a member has that does not answer is bounded from below: the leader writes its WAL position
into Raft once in each ``loop_wait``, and what it wrote after its last note is not counted. Answers
only; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.position import Position
from queenright.core.kinds.postgres_cluster.topology.settled import counted_members
from queenright.core.observed import Known

LOOP_WAIT_S = 10
"""Patroni's own ``loop_wait``, where the settings do not say."""


def losses_told(state: ClusterState, left: Sequence[Position]) -> str:
    """Return the loss with each of these members as the leader, the newest data first, and where
    the number of bytes is from."""
    newest = sorted(left, key=lambda position: position.rank, reverse=True)
    told = "; ".join(
        f"with {p.member.name} (timeline {p.timeline}, WAL position {p.location}) "
        f"{loss_of(state, p, left)} is lost"
        for p in newest
    )
    return f"{told} ({explained(state, left)})" if missing_members(state, left) else told


def loss_of(state: ClusterState, chosen: Position, left: Sequence[Position]) -> str:
    """Return what is lost if this member of those that are left leads on."""
    lost = [
        f"{p.location - chosen.location} bytes of {p.member.name}"
        if p.timeline == chosen.timeline
        else f"what {p.member.name} wrote on timeline {p.timeline}"
        for p in left
        if p.member is not chosen.member
        and (p.timeline > chosen.timeline or p.location > chosen.location)
    ]
    if missing := missing_members(state, left):
        lost.append(only_missing(state, left, missing))
    return " and ".join(lost) or "nothing"


def missing_members(state: ClusterState, left: Sequence[Position]) -> list[str]:
    """Return the members that count and are not among those that are left."""
    known = {position.member.name for position in left}
    return [member.name for member in counted_members(state) if member.name not in known]


def noted_location(state: ClusterState) -> int | None:
    """Return the last leader's WAL position by Patroni's note; 0 where no member that answers is
    behind it, None where it is not known."""
    match state.observed.leader_locations.get(state.desired.name):
        case Known(location):
            return location
        case _:
            return None


def least_lost(state: ClusterState, left: Sequence[Position]) -> int:
    """Return how many bytes of the last leader's WAL are noted, and on none of these members; 0
    where that is not known."""
    noted = noted_location(state)
    if not noted or not left:
        return 0
    return max(0, noted - max(common_with_leader(state, position) for position in left))


def common_with_leader(state: ClusterState, position: Position) -> int:
    """Return the position up to which a member has, at the most, the last leader's WAL: that of a
    timeline that Patroni's history calls ended goes another way from there on."""
    match state.observed.history.get(state.desired.name):
        case Known(history):
            ends = [end.location for end in history if end.timeline == position.timeline]
            return min([position.location, *ends])
        case _:
            return position.location


def only_missing(state: ClusterState, left: Sequence[Position], missing: Sequence[str]) -> str:
    """Return what is lost with the members that are missing."""
    names = f"{', '.join(missing[:-1])} and {missing[-1]}" if missing[1:] else missing[0]
    least = least_lost(state, left)
    amount = f" (at least {least} bytes)" if least else ""
    return f"what only {names} {'have' if missing[1:] else 'has'}{amount}"


def explained(state: ClusterState, left: Sequence[Position]) -> str:
    """Return the words on where the number of bytes is from, or why there is none."""
    noted, found = noted_location(state), state.known_settings.get("loop_wait")
    every_s = found if isinstance(found, int) else LOOP_WAIT_S
    if noted is None:
        return "how many bytes are lost with those that can't be compared is not known"
    if least := least_lost(state, left):
        return (
            f"the {least} bytes are those up to WAL position {noted}, which Patroni noted of the "
            f"last leader; it notes one every {every_s} s, and what was written later is not "
            "counted"
        )
    return (
        "Patroni noted no WAL position of the last leader beyond these; it notes one every "
        f"{every_s} s, and how much was written later is not known"
    )
