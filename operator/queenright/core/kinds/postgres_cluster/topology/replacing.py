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

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    NO_REPLACEMENT,
    REPLACED_LABEL,
    Replaced,
    encode_replaced,
)
from queenright.core.kinds.postgres_cluster.topology.settled import (
    is_reached,
    is_silent,
    raft_address,
    seatless,
    why_not_settled,
)
from queenright.core.kinds.postgres_cluster.topology.spares import (
    misfits_of,
    places_of,
    spares_for,
)
from queenright.core.kinds.postgres_cluster.topology.unknown_voters import unknown_voters
from queenright.core.kinds.postgres_cluster.topology.wellness import (
    why_others_unwell,
    why_unwell,
)
from queenright.core.manifest.quantities import format_duration
from queenright.core.observed import NODE_DOWN
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES, answered_once


@dataclass(frozen=True, slots=True)
class Decision:
    """The notes as they should be from now on, and the holds for people."""

    notes: tuple[Replaced, ...] = ()
    holds: tuple[Hold, ...] = ()


@answered_once
def decide_replacement(state: ClusterState) -> Decision:
    """Return the replacements to note: those that go on, and at most one more or another one."""
    found = state.desired.replacement
    if found == NO_REPLACEMENT or not state.is_bootstrapped:
        return Decision(found.noted)
    kept = with_one_change(state, found.noted)
    told: list[Hold] = [lives_elsewhere(state, note) for note in kept if is_done(state, note)]
    if kept != found.noted:
        return Decision(kept, tuple(told))
    begun = any(is_begun(state, note) for note in kept)
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


def with_one_change(state: ClusterState, noted: tuple[Replaced, ...]) -> tuple[Replaced, ...]:
    """Return the notes with the first that changes as it is from now on. One that goes, or follows
    its member, comes before one that sends a member elsewhere, which may have to wait for it."""
    found = [(old, new) for old in noted if (new := still(state, old)) != old]
    found.sort(key=lambda change: change[1] is not None and not is_done(state, change[1]))
    for old, new in found[:1]:
        changed = (new if note == old else note for note in noted)
        return tuple(note for note in changed if note is not None)
    return noted


def is_begun(state: ClusterState, note: Replaced) -> bool:
    """Return True for a member that is to leave its place for its new node. One whose place is cut
    waits for all others to be well, and so for this one's replacement."""
    return state.member(note.member) is not None and not is_done(state, note)


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
    if member is None and has_another_first(state):
        return note
    home = state.swarm.node(note.written)
    is_home_ready = home is not None and home.is_ready
    if member is not None and member.node == note.node == note.written:
        return None
    if member is not None and is_done(state, note):
        is_dead = may_begin(state, member) and left_s(state, member) <= 0
        has_spare = not is_dead or any(spares_for(state, note.member, note.node))
        return None if is_home_ready and not has_spare else note
    if member is not None and not may_begin(state, member):
        return None if member.node == note.written else replace(note, node=member.node)
    spare = next(spares_for(state, note.member, note.node), None)
    if member is None and is_home_ready and (spare is None or note.node == note.written):
        # Its volumes are remembered until it has its place there.
        return replace(note, node=note.written) if note.volumes else None
    if spare is None or spare.node == note.node:
        return note
    # Another spare is a new beginning, unless the member's place is cut already.
    if member is not None and (left_s(state, member) > 0 or why_not_replace(state, member)):
        return note
    volumes = volumes_at_home(state, member) if member is not None else note.volumes
    return replace(note, node=spare.node, volumes=volumes)


def volumes_at_home(state: ClusterState, member: DesiredMember) -> str:
    """Return the name of a member's volumes on the node in its line; empty for the usual ones."""
    found = state.desired.replacement
    note = found.note_of(member.name)
    if member.node != found.line_of(member.name):
        return note.volumes if note is not None else ""
    return next((p.volumes for p in places_of(state) if p.name == member.name), "")


def has_another_first(state: ClusterState) -> bool:
    """Return True while a member with a place is on a dead node. One without a place can't be added
    meanwhile, and leaves it the spare nodes but its own."""
    if not state.desired.replacement.after_s:
        return False
    begun = any(is_begun(state, note) for note in state.desired.replacement.noted)
    return begun or any(is_candidate(state, member) for member in state.desired.members)


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
    line, volumes = found.line_of(member.name), volumes_at_home(state, member)
    return Replaced(member.name, line, spare.node, volumes)


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
    begun = {note.member for note in after - before if note.node != note.written}
    for note in sorted(after - before, key=lambda note: note.member):
        member = state.member(note.member)
        former = member.node if member is not None else note.written
        if former != note.node:
            return f"member {note.member} is replaced on {note.node}: {former} is down"
    for note in sorted(before - after, key=lambda note: note.member):
        if note.member not in begun:
            return f"member {note.member} is where the file has it, or is back on its node"
    return ""
