"""Rule for voters of Raft that are no deployed member: each is removed.

A Raft node adds itself whenever it starts, so a member that was removed, and comes back with an old
container, votes again. Invariant: the address of a place, or of any service that may be a member,
is no ghost.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    dead_members,
    raft_address,
    raft_leader,
    seatless,
    silent_leavers,
    voters_of,
    why_not_settled,
    why_too_soon,
)
from queenright.core.kinds.postgres_cluster.topology.votes import remove_vote, why_no_majority
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.swarm.objects import MEMBERS_LABEL


def unknown_voters(state: ClusterState) -> frozenset[str]:
    """Return the voters that are no deployed member's; none while the places are not certain."""
    noted = state.noted_labels.get(MEMBERS_LABEL, "")
    if not decode_places(noted) or state.why_stray():
        return frozenset()
    members = {raft_address(state, member) for member in state.desired.members}
    deployed = state.swarm.index.services_with_variable
    strange = voters_of(state) - members
    return frozenset(voter for voter in strange if not deployed("RAFT_SELF", voter))


def remove_unknown_voter(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Yield the removal of one ghost, or why it is not removed now."""
    ghosts = unknown_voters(state)
    for ghost in sorted(ghosts)[:1]:
        key = f"ghost/{state.desired.name}/{ghost}"
        told = f"Raft lists {ghost}, which is no deployed member"
        leading = raft_leader(state, ghosts)
        if leading in ghosts:
            yield Hold(
                key,
                f"{told} and leads Raft; stop what runs there",
                state.now + SETTLES,
                wants_attention=True,
            )
            return
        # These wait for the ghost's removal themselves, as does what replaces the dead.
        dead = {raft_address(state, member) for member in dead_members(state)}
        apart = ghosts | silent_leavers(state) | seatless(state) | dead
        obstacle = why_not_settled(state, apart) or why_too_soon(state, apart)
        if obstacle := obstacle or why_no_majority(state, ghost, apart):
            yield Hold(key, f"{told}; removed later ({obstacle})", state.now + SETTLES)
            return
        reason = f"{told}: a member that was removed is back, or a Raft node of no member runs"
        yield remove_vote(state, ghost, apart, reason) or Hold(
            key, f"{told}; removed later (Raft's leader is silent)", state.now + SETTLES
        )
