"""Several additions of one edit, none of which begins before all of them can be made.

Decides from the document, the places, the swarm's nodes and the members' lists of partners.
Invariant: with an odd number in the file, no addition begins after which the operator would rest
at an even one; what replaces a member, or stands in for one, is no addition.
"""

from __future__ import annotations

from dataclasses import replace

from queenright.core.kinds.postgres_cluster.places import with_place
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.fitting import why_not_here
from queenright.core.kinds.postgres_cluster.topology.settled import partners, present
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival
from queenright.core.planning.service_context import answered_once


@answered_once
def first_unfit(state: ClusterState) -> tuple[Arrival, str] | None:
    """Return the first of several additions that can't be made, with the reason; None when all can,
    or when one of them has been made."""
    places, scope = state.desired.topology.places, state.desired.name
    for beside, arrival in enumerate(several(state), start=len(state.desired.members)):
        topology = replace(state.desired.topology, places=places)
        then = replace(state, desired=replace(state.desired, topology=topology))
        if wrong := why_not_here(then, arrival, beside):
            return arrival, wrong
        places = with_place(places, arrival.name, arrival.node, arrival.address, scope)
    return None


def why_not_added(state: ClusterState, arrival: Arrival) -> str | None:
    """Reason why a person has to act before this addition begins; None when nobody has to."""
    unfit = first_unfit(state)
    if unfit is not None and unfit[0] == arrival:
        return unfit[1]
    return why_not_here(state, arrival)


def several(state: ClusterState) -> tuple[Arrival, ...]:
    """Return the additions that lead to the file's odd number, while the next one would make an odd
    number of members even; none otherwise.

    A member that was replaced by a note counts as there, and a stand-in with a place not beside the
    one for which it stands. Where every replica's list of partners is longer than that, members
    have left, and those that arrive take their places (a leader's list may be that of former
    members)."""
    topology, note_of = state.desired.topology, state.desired.replacement.note_of
    new = tuple(arrival for arrival in topology.arriving if note_of(arrival.name) is None)
    doubled = sum(move.is_standing for move in topology.moving)
    count = len(state.desired.members) - doubled + len(topology.arriving) - len(new)
    replicas = (member for member, _ in present(state) if not state.is_leader(member))
    known = min((len(partners(state, replica)) for replica in replicas), default=0)
    is_odd = count % 2 == 1 and topology.written % 2 == 1
    if not is_odd or max(count, known + 1) >= topology.written:
        return ()
    return new[: topology.written - count]
