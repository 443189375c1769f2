"""Steps that add a member: its place is noted, and later it is whole.

Between the two, other rules label its node and create its service (``newcomers`` says when). A
member that Raft does not list is started again, so that it adds itself; one whose first copy was
interrupted copies anew. Invariant: a place is noted before anything of its member exists, and only
while every other member is well.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction, Reinitialize, RestartService
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.desired.services import OR_STARTING
from queenright.core.kinds.postgres_cluster.losses.damage import copy_command
from queenright.core.kinds.postgres_cluster.losses.findings import INTERRUPTED_COPY, cause_of_tag
from queenright.core.kinds.postgres_cluster.places import with_place
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.noting import note_members
from queenright.core.kinds.postgres_cluster.topology.settled import (
    LASTS,
    dead_members,
    others,
    partners,
    raft_address,
    silent_leavers,
    voters_of,
    why_not_settled,
    why_too_soon,
)
from queenright.core.kinds.postgres_cluster.topology.several import why_not_added
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival
from queenright.core.kinds.postgres_cluster.topology.wellness import (
    why_not_at_rest,
    why_not_restart,
    why_unwell,
)
from queenright.core.observed import MemberStatus, hung_key
from queenright.core.planning.ages import likely_age
from queenright.core.planning.images import newest_service
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES

HANGS = timedelta(seconds=20)
"""The time after which a member without data, that copies none, does not begin by itself: two of
Patroni's loops, and less than its health check allows (spec: database-cluster §8). Where the entry
point found the beginning of a copy, it does not either, and nobody waits."""
BY_ITSELF = {"complete", "failed"}
"""States of a task whose container ended unasked. Patroni exits with 0 when the health check ends
it, and swarm says no more about it then."""
FULL_SLOTS = (
    "if its log has 'all replication slots are in use', those of former members and names go half "
    "an hour after them, or a minute after queenright edit-config --set member_slots_ttl=60"
)
"""A cause of copies that fail which no answer of Patroni's shows."""
STARTS_S = 60.0
"""The time after its Raft node's start in which a member shows that it has no data."""


def begin_joining(state: ClusterState, arrival: Arrival) -> AnyAction | Hold:
    """Return the note of a new member's place, or why it is not written now."""
    key = f"membership/{state.desired.name}_{arrival.name}"
    new = f"stands for {arrival.stands_for}" if arrival.stands_for else "new in the file"
    if wrong := why_not_added(state, arrival):
        reason = f"member {arrival.name}: {new}, but not added ({wrong})"
        return Hold(key, reason, wants_attention=True)
    if obstacle := why_not_at_rest(state) or why_not_settled(state):
        reason = f"member {arrival.name}: is added when all members are well ({obstacle})"
        return Hold(key, reason, state.now + SETTLES)
    before = len(state.desired.members)
    left = state.desired.replacement.note_of(arrival.name)
    places = with_place(
        state.desired.topology.places,
        arrival.name,
        arrival.node,
        arrival.address,
        state.desired.name,
        former=left.volumes if left is not None and left.written == arrival.node else "",
    )
    for_whom = f" to stand for {arrival.stands_for}" if arrival.stands_for else ""
    reason = (
        f"member {arrival.name} is added on {arrival.node}{for_whom}: its place is noted before "
        f"its service is made ({quorum(before)}, then {quorum(before + 1)} from the moment of its "
        "joining)"
    )
    noted = note_members(state, places, reason, {arrival.name})
    return noted or Hold(key, "the state config is not there")


def quorum(members: int) -> str:
    """Return the quorum of so many members, in words."""
    return f"quorum {members // 2 + 1} of {members}"


def finish_joining(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Yield what a member needs that was started and is not whole by itself. One that gets another
    name keeps its data, and needs them whole before."""
    topology = state.desired.topology
    for member in state.desired.members:
        is_leaving = member.name in topology.leaving
        if is_leaving and not topology.new_name_of(member.name):
            continue
        joins = None if is_leaving else join_again(state, member)
        if step := joins or copy_anew(state, member):
            yield step
            return


def join_again(state: ClusterState, member: DesiredMember) -> AnyAction | Hold | None:
    """Return a restart of a member that the others do not list: its Raft node adds itself only at
    its start. None for one that is listed, or may be about to be."""
    own = raft_address(state, member)
    live = state.swarm.service(member.service.name)
    peers = list(others(state, {own}))
    if live is None or not peers or own in voters_of(state, {own}):
        return None
    if not state.is_bootstrapped or why_not_settled(state, {own}):
        return None
    task = state.swarm.sole_task(live.id)
    key = f"membership/{member.service.name}"
    if task is None or likely_age(task.at, state.now, state.seen_s_ago.get(task.id)) < LASTS:
        again = was_ended(state, member)
        reason = f"member {member.name}: started, and not in Raft's list of voters yet"
        reason += f" ({not_reached(state, member)})" if again else ""
        return Hold(key, reason, state.now + SETTLES, wants_attention=again)
    obstacle = why_unwell(state, member) or why_not_restart(state, member)
    if obstacle := obstacle or why_too_soon(state, {own}):
        reason = f"member {member.name}: is no voter, and is started again later ({obstacle})"
        return Hold(key, reason, state.now + SETTLES)
    if state.is_leader(member):
        return None
    return RestartService(
        live.id,
        live.version,
        newest_service(state, member.service, live),
        live.force_update + 1,
        reason=f"{member.name} runs, and is no voter of Raft any more; at its start it joins",
        disrupts=live.value.name,
    )


def not_reached(state: ClusterState, member: DesiredMember) -> str:
    """Return in words why a member whose container ends again and again may not join."""
    node = state.swarm.node(member.node)
    if node is not None and node.address not in ("", member.address):
        return (
            f"its container ended by itself, and the swarm knows {node.name} by {node.address}, "
            f"not by {member.address}; if that is mistyped, write address: {node.address}"
        )
    return f"its container ended by itself; see docker service logs {member.service.name}"


def copy_anew(state: ClusterState, member: DesiredMember) -> AnyAction | Hold | None:
    """Return the request for a new copy to a member whose first one was interrupted."""
    status = state.status(member)
    if status is None or not state.is_bootstrapped:
        return None
    if status.is_copying:
        return copying(state, member)
    if not status.is_empty:
        return None
    leader, own = state.leader, raft_address(state, member)
    key = f"membership/{member.service.name}"
    seen = timedelta(seconds=state.seen_s_ago.get(hung_key(member.service.name), 0.0))
    if leader is None or leader is member or own not in voters_of(state, {own}):
        return None
    is_former = any(own in partners(state, peer) for peer in others(state, {own}))
    if is_former and not is_interrupted(state, member, status):
        cause = cause_of_tag(status.finding)
        told = f" ({cause.wrong})" if cause is not None else ""
        return Hold(
            key,
            f"member {member.name}: has no usable data and copies none{told}; if its data "
            f"directory may go, {copy_command(state, member)}",
            wants_attention=seen >= HANGS,
        )
    if seen < HANGS and not is_interrupted(state, member, status):
        again = was_ended(state, member)
        reason = f"member {member.name}: has no data yet, and no copy is in progress"
        reason += f" ({FULL_SLOTS})" if again else ""
        return Hold(key, reason, state.now + min(HANGS - seen, SETTLES), wants_attention=again)
    # No vote changes by a copy, and the removal of a dead member waits for this one to be whole: it
    # waits for none of those. Another one that waits for its copy would else wait for this one, and
    # this one for it.
    dead = dead_members(state)
    apart = silent_leavers(state) | {raft_address(state, other) for other in dead}
    beside = why_unwell(state, member, *interrupted(state), *dead)
    if obstacle := beside or why_not_settled(state, apart):
        reason = f"member {member.name}: copies its data anew later ({obstacle})"
        return Hold(key, reason, state.now + SETTLES)
    return Reinitialize(
        **state.asked(member),
        member=member.name,
        reason=f"{member.name} has no usable data (its copy or rewind was interrupted)",
    )


def interrupted(state: ClusterState) -> Iterator[DesiredMember]:
    """Yield the members whose data are known to be the rest of a copy or a rewind."""
    for member in state.desired.members:
        status = state.status(member)
        if status is not None and status.is_empty and is_interrupted(state, member, status):
            yield member


def is_interrupted(state: ClusterState, member: DesiredMember, status: MemberStatus) -> bool:
    """Return True for a member that has had nothing but the beginning of a copy, or a half of a
    rewind, since its start.

    Its entry point's word is as old as its Raft node: data that was lost since is not meant."""
    raft = state.raft_of(member)
    seen_s = state.seen_s_ago.get(hung_key(member.service.name), 0.0)
    since_start = raft is not None and raft.uptime_s - seen_s <= STARTS_S
    return status.finding == INTERRUPTED_COPY and since_start


def copying(state: ClusterState, member: DesiredMember) -> Hold:
    """Return the hold for a copy in progress, which the health check ends if it takes long."""
    check = member.service.health_check
    key, doing = f"membership/{member.service.name}", f"member {member.name}: copies the data of"
    if check is not None and OR_STARTING in check.test:
        return Hold(key, f"{doing} another", state.now + SETTLES)
    again = was_ended(state, member)
    left_s = check.start_period_s + check.retries * check.interval_s if check is not None else 0.0
    return Hold(
        key,
        f"{doing} another (its container is unhealthy after {left_s:.0f} s, and starts again"
        f"{', as it did before' if again else ''}); write healthCheck: "
        "{whileStarting: healthy} for a copy that takes longer"
        f"{f'; {FULL_SLOTS}' if again else ''}",
        state.now + SETTLES,
        wants_attention=again,
    )


def was_ended(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member of which a container has ended by itself."""
    live = state.swarm.service(member.service.name)
    return live is not None and any(
        task.state in BY_ITSELF for task in state.swarm.tasks_of(live.id)
    )
