"""Steps that remove a member: its vote, then its service, then its place.

A place that goes elsewhere without a stand-in takes the same way, and is added again (``adding``);
one that gets another name or address on its node is noted with that and its volumes in the end. The
vote goes first, so that the smaller quorum counts at once; its volumes and secrets stay. That it
has no vote is noted before its service goes (``noting``).
Invariant: the vote of the database's leader, or of Raft's, is never removed: the database's
leadership goes by a switchover (``switchover.decision``), Raft's by a transfer.
"""

from __future__ import annotations

from collections.abc import Collection

from queenright.core.actions import AnyAction, RaftTransfer, RemoveService
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.places import (
    readdressed_place,
    renamed_place,
    without_place,
)
from queenright.core.kinds.postgres_cluster.replication.standbys import can_confirm, confirms
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.adding import quorum
from queenright.core.kinds.postgres_cluster.topology.choice import Leaving, next_change
from queenright.core.kinds.postgres_cluster.topology.fitting import answers_there
from queenright.core.kinds.postgres_cluster.topology.noting import (
    note_members,
    note_voteless,
)
from queenright.core.kinds.postgres_cluster.topology.settled import (
    dead_members,
    is_silent,
    noted_voteless,
    others,
    raft_address,
    raft_leader,
    seatless,
    silent_leavers,
    still_ending,
    voters_of,
    why_not_settled,
    why_too_soon,
)
from queenright.core.kinds.postgres_cluster.topology.votes import remove_vote, why_no_majority
from queenright.core.kinds.postgres_cluster.topology.wellness import serves_nobody, why_unwell
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES


def leader_that_leaves(state: ClusterState) -> DesiredMember | None:
    """Return the leader if it is the next member to be removed; None otherwise."""
    change = next_change(state)
    if not isinstance(change, Leaving) or change.stage != "voter":
        return None
    return change.member if change.member is state.leader else None


def remove_member(state: ClusterState, change: Leaving) -> AnyAction | Hold:
    """Return the next step of a removal, or why it is not done now."""
    member = change.member
    if state.is_leader(member):
        return later(state, member, "it leads; a switchover comes first")
    own, dead = raft_address(state, member), dead_beside(state, change)
    apart = silent_leavers(state) | {own, *(raft_address(state, other) for other in dead)}
    if is_silent(state, member):
        apart |= seatless(state)
    if obstacle := why_unwell(state, member, *dead) or why_not_settled(state, apart):
        return later(state, member, obstacle)
    match change.stage:
        case "voter":
            return take_vote(state, member, own, apart)
        case "service":
            return remove_service(state, member, apart)
        case "place":
            return cut_place(state, member)


def dead_beside(state: ClusterState, change: Leaving) -> tuple[DesiredMember, ...]:
    """Return the other dead members, for which a removal does not wait that has begun, or that is
    of a member which serves nobody: their replacement waits for it."""
    member, dead = change.member, dead_members(state)
    is_alive = not serves_nobody(state, member) or (is_silent(state, member) and member not in dead)
    if change.stage == "voter" and is_alive:
        return ()
    return tuple(m for m in dead if m is not member)


def later(state: ClusterState, member: DesiredMember, why: str) -> Hold:
    goes = why_goes(state, member).removeprefix("is ")
    return Hold(
        f"membership/{member.service.name}",
        f"member {member.name}: {goes}, and removed later ({why})",
        state.now + SETTLES,
    )


def why_goes(state: ClusterState, member: DesiredMember) -> str:
    """Return in words why a member leaves its place."""
    topology = state.desired.topology
    word = topology.why_leaving(member.name)
    in_place = topology.move_of(member.name) is not None and topology.returns(member.name)
    return f"{word} (in place, without a stand-in)" if in_place else word


def take_vote(
    state: ClusterState, member: DesiredMember, own: str, apart: frozenset[str]
) -> AnyAction | Hold:
    """Return the removal of a vote, or before it the transfer of Raft's leadership."""
    obstacle = why_too_soon(state, apart) or why_needed(state, member)
    if obstacle := obstacle or why_no_majority(state, own, apart):
        return later(state, member, obstacle)
    if raft_leader(state, apart) == own:
        return hand_over_raft(state, member, own)
    voters = len(voters_of(state, apart))
    live = state.swarm.service(member.service.name)
    runs = live is not None and any(state.swarm.possible_tasks(live.id))
    reason = (
        f"member {member.name} {why_goes(state, member)}: its vote goes first "
        f"({quorum(voters)}, then {quorum(voters - 1)})"
    )
    disrupts = member.service.name if runs else ""
    return remove_vote(state, own, apart, reason, disrupts) or later(
        state, member, "Raft's leader is no deployed member"
    )


def why_needed(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why commits would wait without a member that confirms them; None if none would."""
    status = state.status(member)
    if status is None or not (confirms(status) or can_confirm(status, state.replication)):
        return None
    return state.why_no_standby(without=(member,))


def hand_over_raft(state: ClusterState, member: DesiredMember, own: str) -> AnyAction | Hold:
    """Return the transfer of Raft's leadership to a member that has everything, before others to
    one that stays. Every Raft node has to answer for it: one that can go without an answer has gone
    before."""
    if obstacle := why_not_settled(state):
        return later(state, member, f"it leads Raft, and {obstacle}")
    leading = state.raft_of(member)
    if leading is None or leading.state != "leader" or leading.unreachable:
        return later(state, member, "it leads Raft, and does not say so, or does not reach all")
    leaving = state.desired.topology.leaving
    for peer in sorted(others(state, {own}), key=lambda peer: peer.name in leaving):
        address, status = raft_address(state, peer), state.raft_of(peer)
        has_all = leading.match_index.get(address, -1) >= leading.commit_index
        if status is not None and not status.unreachable and has_all:
            access = state.access(member)
            return RaftTransfer(
                cluster=state.desired.name,
                address=access.address,
                port=access.raft_port,
                voter=address,
                reason=f"member {member.name} {why_goes(state, member)}, and leads Raft: "
                f"{peer.name} leads it from now on",
            )
    return later(state, member, "it leads Raft, and no other Raft node has everything")


def remove_service(
    state: ClusterState, member: DesiredMember, apart: Collection[str]
) -> AnyAction | Hold:
    """Return the removal of a service whose member has no vote any more. A power cut can undo the
    removal of a vote that is not on disk yet: a member that is left alone would then wait for ever
    for the one that is gone; several are a quorum with that vote, too."""
    live = state.swarm.service(member.service.name)
    if live is None:
        return later(state, member, "its service is not there")
    if len(voters_of(state, apart)) == 1 and (obstacle := why_too_soon(state, apart)):
        return later(state, member, obstacle)
    if member.name not in noted_voteless(state):
        return note_voteless(state, member) or later(state, member, "no state config")
    return RemoveService(
        live.id,
        live.value.name,
        reason=f"member {member.name} {why_goes(state, member)}, and has no vote any more; "
        f"{what_stays(member)}",
    )


def cut_place(state: ClusterState, member: DesiredMember) -> AnyAction | Hold:
    if node := still_ending(state, member):
        return later(state, member, f"a task of a removed service may still run on {node}")
    noted, move = state.desired.topology.places, state.desired.topology.move_of(member.name)
    if new_name := state.desired.topology.new_name_of(member.name):
        places = renamed_place(noted, member.name, new_name, state.desired.name)
        reason = f"member {member.name} is named {new_name} from now on; {what_stays(member)}"
        note = note_members(state, places, reason, {new_name})
        return note or later(state, member, "no state config")
    if move is not None and move.to.node == member.node:
        if answers_there(state, move.to):
            where = f"{move.to.address}:{state.desired.raft_port}"
            return later(state, member, f"a Raft node answers at {where}; stop what runs there")
        places = readdressed_place(noted, member.name, move.to.address)
        reason = f"member {member.name} is at {move.to.address} from now on; {what_stays(member)}"
        note = note_members(state, places, reason, {member.name})
        return note or later(state, member, "no state config")
    places = without_place(noted, member.name)
    reason = f"member {member.name} is removed: its place is free; {what_stays(member)}"
    return note_members(state, places, reason) or later(state, member, "no state config")


def what_stays(member: DesiredMember) -> str:
    """Return what a removal leaves, in words."""
    volumes = sorted(mount.source for mount in member.service.mounts if mount.kind == "volume")
    return f"volumes {' and '.join(volumes)} stay on {member.node}"
