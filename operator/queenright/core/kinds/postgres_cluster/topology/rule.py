"""Rule for the members themselves: adds those of the file, removes those that it no longer has.

Decides from the places, what each Raft node lists, and every member's own answer; nothing of a
change is kept in memory, so any pass can go on from wherever the last one was killed. Invariant:
one change of Raft's voters at a time, each seen by all before the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.adding import begin_joining, finish_joining
from queenright.core.kinds.postgres_cluster.topology.choice import (
    Leaving,
    next_change,
    why_not_fewer,
    why_not_go,
)
from queenright.core.kinds.postgres_cluster.topology.noting import note_newcomer
from queenright.core.kinds.postgres_cluster.topology.partners import bring_up_to_date
from queenright.core.kinds.postgres_cluster.topology.removing import remove_member
from queenright.core.kinds.postgres_cluster.topology.replacing import decide_replacement
from queenright.core.kinds.postgres_cluster.topology.several import first_unfit
from queenright.core.kinds.postgres_cluster.topology.unknown_voters import (
    remove_unknown_voter,
    unknown_voters,
)
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED, Arrival
from queenright.core.kinds.postgres_cluster.topology.way import way_of
from queenright.core.planning.plan import Hold


def plan_topology(state: ClusterState) -> Iterator[AnyAction | Hold]:
    if not state.is_deployed:
        return
    if not state.is_bootstrapped:
        yield from waiting(state, "the cluster has to be healthy once first")
        return
    yield from held_places(state)
    yield from decide_replacement(state).holds
    if why_not_fewer(state) is None:
        yield from way_of(state)
    if unknown_voters(state):
        yield from remove_unknown_voter(state)
        yield from waiting(state, "a voter that is no member is removed first")
        return
    if step := note_newcomer(state):
        yield step
        yield from waiting(state, "another member is noted as one without a vote first")
        return
    if steps := [*finish_joining(state)]:
        yield from steps
        yield from waiting(state, "another member is not whole yet")
        return
    change = next_change(state)
    match change:
        case Arrival():
            yield begin_joining(state, change)
        case Leaving():
            yield remove_member(state, change)
        case None:
            pass
    yield from waiting(state, why_others_wait(state, change), change)
    yield from bring_up_to_date(state)


def why_others_wait(state: ClusterState, change: Arrival | Leaving | None) -> str:
    """Reason why the further members of the file wait."""
    if refused := why_not_fewer(state):
        return refused
    if change is None:
        return "another member is started first"
    name = change.name if isinstance(change, Arrival) else change.member.name
    if (unfit := first_unfit(state)) is not None and unfit[0] == change:
        return (
            f"nobody is added before {name} can be: an even number of members survives no more "
            "failures than one member fewer"
        )
    return f"one change at a time: {name} comes first"


def held_places(state: ClusterState) -> Iterator[Hold]:
    """Yield a hold for each place that can't be where the file has it."""
    for name, why in state.desired.topology.unfit:
        yield held(state, name, f"would move, and stays ({why})", refused=True)


def waiting(state: ClusterState, why: str, but: Arrival | Leaving | None = None) -> Iterator[Hold]:
    """Yield a hold for each further member that the file adds or takes away."""
    wanted = state.desired.topology
    if wanted == UNCHANGED:
        return
    refused = why_not_fewer(state) is not None
    for arrival in wanted.arriving:
        if arrival != but and arrival.name not in wanted.leaving:
            yield held(state, arrival.name, f"new in the file, and not added yet ({why})", refused)
    gone = but.member.name if isinstance(but, Leaving) else ""
    for name in sorted(wanted.leaving - {gone}):
        wrong = why_not_go(state, name)
        goes = wanted.why_leaving(name).removeprefix("is ")
        told = f"{goes}, and kept for now ({wrong or why})"
        yield held(state, name, told, refused or wrong is not None)


def held(state: ClusterState, name: str, reason: str, refused: bool) -> Hold:
    hold = Hold(f"membership/{state.desired.name}_{name}", f"member {name}: {reason}")
    return replace(hold, wants_attention=refused)
