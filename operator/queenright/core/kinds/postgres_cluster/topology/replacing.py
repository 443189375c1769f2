"""Replaces a member on a dead node by one on a spare node, as ``replaceAfter`` asks for.

Decides from the time for which this process has seen the node down without a break, from the other
members, which all have to be well, and from the spare nodes. All that it does is a note of the
node: with that, the member's line counts as edited, and ``choice`` does the rest. Invariant: one
such replacement at a time, and none of a node that swarm does not call down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.fitting import why_not_here
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    NO_REPLACEMENT,
    REPLACED_LABEL,
    Replaced,
    Spare,
    decode_replaced,
    encode_replaced,
)
from queenright.core.kinds.postgres_cluster.topology.settled import (
    is_reached,
    is_silent,
    raft_address,
    seatless,
    why_not_settled,
)
from queenright.core.kinds.postgres_cluster.topology.unknown_voters import unknown_voters
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival
from queenright.core.kinds.postgres_cluster.topology.wellness import (
    why_others_unwell,
    why_unwell,
)
from queenright.core.manifest.quantities import format_duration
from queenright.core.observed import NODE_DOWN
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES, answered_once
from queenright.core.swarm.objects import CLUSTER_LABEL, MEMBERS_LABEL


@dataclass(frozen=True, slots=True)
class Decision:
    """The notes as they should be from now on, and the holds for people."""

    notes: tuple[Replaced, ...] = ()
    holds: tuple[Hold, ...] = ()


@answered_once
def decide_replacement(state: ClusterState) -> Decision:
    """Return the replacements to note: those that go on, and at most one more."""
    found = state.desired.replacement
    if found == NO_REPLACEMENT or not state.is_bootstrapped:
        return Decision(found.noted)
    kept = tuple(note for old in found.noted if (note := still(state, old)) is not None)
    told: list[Hold] = [lives_elsewhere(state, note) for note in kept if is_done(state, note)]
    # One whose place is cut waits for all others to be well, and so for this one's replacement.
    here = (note for note in kept if state.member(note.member) is not None)
    begun = next((note.member for note in here if not is_done(state, note)), "")
    for member in state.desired.members if found.after_s and not begun else ():
        if not is_candidate(state, member):
            told += for_a_person(state, member)
            continue
        step = replaced_or_held(state, member)
        if isinstance(step, Hold):
            told.append(step)
            continue
        others = tuple(note for note in kept if note.member != member.name)
        return Decision((*others, step), tuple(told))
    return Decision(kept, tuple(told))


def is_done(state: ClusterState, note: Replaced) -> bool:
    """Return True for a member that has its place on its new node."""
    member = state.member(note.member)
    return member is not None and member.node == note.node


def still(state: ClusterState, note: Replaced) -> Replaced | None:
    """Return a note as it is from now on; None where the file has caught up with it, says something
    else, or the member is back on its former node."""
    member = state.member(note.member)
    if state.desired.replacement.line_of(note.member) != note.written:
        return None
    home = state.swarm.node(note.written)
    is_home_ready = home is not None and home.is_ready
    if member is not None and is_done(state, note):
        is_dead = may_begin(state, member) and left_s(state, member) <= 0
        has_spare = not is_dead or any(spares_for(state, note.member, note.node))
        return None if is_home_ready and not has_spare else note
    if member is not None and not may_begin(state, member):
        return None if member.node == note.written else replace(note, node=member.node)
    spare = next(spares_for(state, note.member, note.node), None)
    if spare is None and member is None and is_home_ready:
        return None
    if spare is None or spare.node == note.node:
        return note
    # Another spare is a new beginning, unless the member's place is cut already.
    if member is not None and (left_s(state, member) > 0 or why_not_replace(state, member)):
        return note
    return replace(note, node=spare.node)


def may_begin(state: ClusterState, member: DesiredMember) -> bool:
    """Return True while a noted member may be taken from its node."""
    node = state.swarm.node(member.node)
    is_gone = node is None or node.state == "down"
    return bool(state.desired.replacement.after_s) and is_gone and is_silent(state, member)


def is_candidate(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a silent member whose node swarm calls down, and that is where its line or
    its note has it: another one is changed by an edit already."""
    found, node = state.desired.replacement, state.swarm.node(member.node)
    note = found.note_of(member.name)
    home = note.node if note is not None else found.line_of(member.name)
    is_edited = home != member.node or member.name in state.desired.topology.leaving
    return node is not None and node.state == "down" and not is_edited and is_silent(state, member)


def for_a_person(state: ClusterState, member: DesiredMember) -> Iterator[Hold]:
    """Yield why a member on a dead node is not replaced by itself: the file gives it another name,
    or it stands in for one that moves there."""
    topology, node = state.desired.topology, state.swarm.node(member.node)
    line = topology.new_name_of(member.name)
    doing = f"it is to be named {line}"
    if member.name in topology.standing:
        moves = (move.to for move in topology.moving if move.to.node == member.node)
        line = next((to.name for to in moves), "")
        doing = f"it stands in for {line}, which moves there"
    is_down = node is not None and node.state == "down" and left_s(state, member) <= 0
    if line and is_down and is_silent(state, member):
        yield Hold(
            f"replace/{member.service.name}",
            f"member {member.name}: its node {member.node} is down, and it is not replaced, since "
            f"{doing}; write another node in the line of {line}",
            state.now + SETTLES,
            wants_attention=True,
        )


def left_s(state: ClusterState, member: DesiredMember) -> float:
    """Return for how many more seconds swarm has to call a member's node down before the member is
    replaced; the whole time where it does not."""
    after_s, node = state.desired.replacement.after_s, state.swarm.node(member.node)
    if node is None or node.state != "down":
        return after_s
    return after_s - state.seen_s_ago.get(f"{NODE_DOWN}{node.id}", 0.0)


def replaced_or_held(state: ClusterState, member: DesiredMember) -> Replaced | Hold:
    """Return the note of a member's new node, or why there is none yet."""
    found, key = state.desired.replacement, f"replace/{member.service.name}"
    told = f"member {member.name}: its node {member.node} is down"
    if (wait_s := left_s(state, member)) > 0:
        after = format_duration(found.after_s)
        reason = f"{told}; it is replaced on a spare node when that has lasted for {after}"
        return Hold(key, reason, state.now + timedelta(seconds=wait_s))
    if obstacle := why_not_replace(state, member):
        reason = f"{told}, and it is not replaced now ({obstacle})"
        return Hold(key, reason, state.now + SETTLES, wants_attention=True)
    if (spare := next(spares_for(state, member.name), None)) is None:
        why = "; ".join(misfits_of(state, member.name)) or "spareNodes names none"
        reason = f"{told}, and no spare node can take it ({why}); bring a node back, or add another"
        return Hold(key, reason, state.now + SETTLES, wants_attention=True)
    return Replaced(member.name, found.line_of(member.name), spare.node)


def why_not_replace(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why a member on a dead node is not replaced now; None when it is. With all others well
    and settled, they are a quorum with it and without it."""
    node = state.swarm.node(member.node)
    if node is not None and node.availability != "active":
        return f"{member.node} is set to {node.availability}: somebody works on it"
    if member.node in state.maintained:
        return f"{member.node} is in maintenance"
    if is_reached(state, member):
        return f"Raft's leader reaches {member.name}: it is alive"
    if unknown_voters(state):
        return "a voter that is no member is removed first"
    apart = seatless(state) | {raft_address(state, member)}
    unwell = why_unwell(state, member) or why_others_unwell(state, member)
    return unwell or why_not_settled(state, apart)


def spares_for(state: ClusterState, member: str, present: str = "") -> Iterator[Spare]:
    """Yield the spare nodes that can take a member: the ``present`` one, then those after it, so
    that none is tried twice."""
    spares = state.desired.replacement.spares
    nodes = [spare.node for spare in spares]
    for spare in spares[nodes.index(present) if present in nodes else 0 :]:
        if why_not_there(state, member, spare, is_noted=spare.node == present) is None:
            yield spare


def misfits_of(state: ClusterState, member: str) -> Iterator[str]:
    for spare in state.desired.replacement.spares:
        yield f"{spare.node}: {why_not_there(state, member, spare)}"


def why_not_there(
    state: ClusterState, member: str, spare: Spare, *, is_noted: bool = False
) -> str | None:
    """Reason why a spare node can't take a member; None when it can."""
    if spare.wrong:
        return spare.wrong
    if spare.node in state.maintained:
        return "it is in maintenance"
    for other in state.desired.members:
        if other.name != member and other.node == spare.node:
            return f"{other.name} is on it"
    for note in state.desired.replacement.noted:
        if note.member != member and note.node == spare.node:
            return f"{note.member} is to be on it"
    if taken := why_taken(state, spare.node, is_noted=is_noted):
        return taken
    node = state.swarm.node(spare.node)
    if is_noted and state.member(member) is None and node is not None and node.is_ready:
        return None  # the label of its former place goes a moment later
    return why_not_here(with_places(state), Arrival(member, spare.node, spare.address))


def with_places(state: ClusterState) -> ClusterState:
    """Return the state with its places in the topology, which has none for a file that is
    reached."""
    topology, labels = state.desired.topology, state.desired.state_config.labels
    if topology.places:
        return state
    places = decode_places(labels.get(MEMBERS_LABEL, ""))
    desired = replace(state.desired, topology=replace(topology, places=places))
    return replace(state, desired=desired)


def why_taken(state: ClusterState, node: str, *, is_noted: bool) -> str | None:
    """Reason why a node is another cluster's; None when it is not. Of two that have noted the same
    node in one pass, the first by name keeps it."""
    own = state.desired.name
    for config in state.swarm.configs:
        labels = config.value.labels
        scope = labels.get(CLUSTER_LABEL, "")
        if scope in {"", own} or config.value.name != state_config_name(scope):
            continue
        if any(place.node == node for place in decode_places(labels.get(MEMBERS_LABEL, ""))):
            return f"a member of cluster {scope} is on it"
        noted = decode_replaced(labels.get(REPLACED_LABEL, ""))
        if any(note.node == node for note in noted) and (not is_noted or scope < own):
            return f"a member of cluster {scope} is to be on it"
    return None


def lives_elsewhere(state: ClusterState, note: Replaced) -> Hold:
    """Return the note for people that the file and the swarm differ."""
    return Hold(
        f"replace/{state.desired.name}_{note.member}",
        f"member {note.member}: is on {note.node} instead of the file's {note.written}, which was "
        f"down for longer than replaceAfter; write node: {note.node} in its line",
        is_informational=True,
    )


def with_replacements(labels: Mapping[str, str], notes: tuple[Replaced, ...]) -> dict[str, str]:
    """Return a state config's labels with these notes in place of its own."""
    kept = {name: value for name, value in labels.items() if name != REPLACED_LABEL}
    return {**kept, REPLACED_LABEL: encode_replaced(notes)} if notes else kept


def why_noted(state: ClusterState) -> str:
    """Return in words the replacement that begins or ends with this pass's notes; empty if none."""
    before, after = {*state.desired.replacement.noted}, {*decide_replacement(state).notes}
    begun = {note.member for note in after - before}
    for note in sorted(after - before, key=lambda note: note.member):
        member = state.member(note.member)
        former = member.node if member is not None else note.written
        if former != note.node:
            return f"member {note.member} is replaced on {note.node}: {former} is down"
    for note in sorted(before - after, key=lambda note: note.member):
        if note.member not in begun:
            return f"member {note.member} is where the file has it, or is back on its node"
    return ""
