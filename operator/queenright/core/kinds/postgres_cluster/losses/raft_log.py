"""Members whose Raft logs are lost, and the one that begins a log anew next.

Such a member waits, and tells with which loss, and where its data end (the image's ``raft_wait``).
Where the logs that are left are no majority, nobody can elect, whatever anybody waits for. Then the
member with the newest data is asked to begin a log anew, then the others, one a pass, fenced so
that only that one leads. Decides from what each member says of itself. Invariant: a member that is
unknown may have a log, and newer data, so nothing is done while there is one: a node that came late
with the old log would meet the new one. One without a service and a vote, by the note, has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.losses.lone_raft import lasts
from queenright.core.kinds.postgres_cluster.losses.untold_ends import end_command
from queenright.core.kinds.postgres_cluster.raft_reset import ANEW, FENCE, JOIN, Anew
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import (
    counted_members,
    partners,
    still_ending,
)
from queenright.core.observed import RaftLoss, mute_key
from queenright.core.observed.ages import age_of
from queenright.core.swarm.label_values import read_json, read_whole
from queenright.core.swarm.objects import PARTNERS_VARIABLE

End = tuple[int, int]
"""A timeline and a WAL position."""
FURTHEST: End = (1 << 32, 0)
SPARES = timedelta(minutes=2)
"""Twice the time in which a quorum spares the log of a member that waits."""


@dataclass
class Logs:
    """The members by what their Raft nodes have: ``lost`` wait; ``begun`` have an empty log, by the
    request beside them if they have obeyed that one; ``kept`` have a log and no quorum; ``quorate``
    have a quorum; the others don't answer."""

    lost: dict[str, RaftLoss] = field(default_factory=dict)
    begun: dict[str, Anew | None] = field(default_factory=dict)
    kept: list[DesiredMember] = field(default_factory=list)
    quorate: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def logs_of(state: ClusterState) -> Logs:
    found = Logs()
    for member in counted_members(state):
        status, raft = state.status(member), state.raft_of(member)
        live = state.swarm.service(member.service.name)
        if status is not None and (loss := status.raft_loss) is not None:
            found.lost[member.name] = loss
        elif raft is None:
            found.unknown.append(member.name)
        elif raft.has_quorum:
            found.quorate.append(member.name)
        elif raft.has_log:
            found.kept.append(member)
        else:
            asked = Anew.read(live.value) if live is not None else None
            has_obeyed = asked is not None and status is not None and asked.number == status.began
            found.begun[member.name] = asked if has_obeyed else None
    return found


def next_request(state: ClusterState, logs: Logs) -> tuple[DesiredMember, Anew] | str:
    """The member to ask next, and what; or the reason why nobody may be asked now. ``logs`` has at
    least one that is lost."""
    if spared := why_spared(state, logs):
        return spared
    if obstacles := "; ".join((*unsettled(state, logs), *differences(logs))):
        return obstacles
    ends = ends_of(state, logs)
    if isinstance(ends, str):
        return ends
    if logs.unknown:
        return why_missing(logs, ends) + end_command(state)
    begun = {request for request in logs.begun.values() if request is not None}
    named = {request.leader for request in begun} or {newest(state, ends)}
    for name, request in sorted(logs.begun.items()):
        if request is None:
            return f"the Raft node of {name} has an empty log, and was not asked to begin one"
    if len(named) != 1:
        return "the members were asked to begin a log for two leaders"
    leader = next(iter(named))
    word = next(iter(begun)).word if begun else JOIN if logs.kept else ANEW
    if why := why_not_leader(state, logs, leader, ends):
        return why
    name = leader if leader in logs.lost else min(logs.lost)
    number = logs.lost[name].number
    for other in logs.kept:  # it runs, and would lead while PostgreSQL of the newest recovers
        if other.name != leader and not is_fenced(state, other):
            asked, live = Anew(FENCE, leader, number), state.swarm.service(other.service.name)
            if live is not None and Anew.read(live.value) == asked:
                return f"{other.name} was asked not to lead before {leader}, and does not say that"
            return other, asked
    member = next(m for m in state.desired.members if m.name == name)
    return member, Anew(word, leader, number)


def why_spared(state: ClusterState, logs: Logs) -> str:
    """Reason why no log begins anew, since the others are a majority; empty where they are not."""
    if late := late_members(state, logs):
        return "; ".join(why_late(state, member) for member in late)
    if logs.quorate or 2 * len(logs.kept) > len(counted_members(state)):
        return "the other Raft nodes are a majority: they spare its log within a minute"
    return ""


def needs_a_person(state: ClusterState, logs: Logs) -> bool:
    """Return True unless time alone helps: the others are a quorum that spares the lost log, or a
    service was changed a moment ago. One that is not in the swarm stays so."""
    if logs.quorate:
        return bool(late_members(state, logs))
    members = counted_members(state)
    deployed = (m for m in members if state.swarm.service(m.service.name) is not None)
    return not any(map(state.why_changing, deployed))


def late_members(state: ClusterState, logs: Logs) -> list[DesiredMember]:
    """Return the members that wait for long beside a quorum, which should have spared their logs;
    a command that looks once has seen nothing for long."""
    waiting = [member for member in counted_members(state) if member.name in logs.lost]
    return [member for member in waiting if logs.quorate and waits_for(state, member) >= SPARES]


def waits_for(state: ClusterState, member: DesiredMember) -> timedelta:
    """Return the time for which a member was seen to answer without a Raft node."""
    return age_of(state.seen_s_ago, mute_key(member.service.name)) or timedelta()


def why_late(state: ClusterState, member: DesiredMember) -> str:
    """Return what a person looks at where a member does not join a quorum."""
    port = state.access(member).raft_port
    return (
        f"{member.name} does not take the log from the other Raft nodes, which are a quorum: open "
        f"port {port} between {member.node} and the others, in both directions, and look in docker "
        f"service logs {member.service.name}"
    )


def is_fenced(state: ClusterState, member: DesiredMember) -> bool:
    status = state.status(member)
    return status is not None and status.tags.get("nofailover") is True


def unsettled(state: ClusterState, logs: Logs) -> Iterator[str]:
    """Reasons to look again later, or to leave it to a person: what is seen is not certain."""
    members = counted_members(state)
    for member in members:
        # one that has begun is unhealthy, and so its update not at its end, until others have
        is_out = member.name in logs.unknown or member.name in logs.begun
        if not is_out and (why := state.why_changing(member)):
            yield why
    if stray := state.why_stray():
        yield stray
    yield from why_members_change(state)
    yield from why_not_deployed(state)
    wanted = frozenset(own_node(state, member) for member in members)
    for member in members:
        # One that waits gets its partners with the request. With a log a node has its voters from
        # there, and a leader's service has former partners after an edit, until it starts again.
        has_own = member.name in logs.lost or member in logs.kept
        if state.swarm.service(member.service.name) is None:
            continue  # ``why_not_deployed`` has the words
        listed = {own_node(state, member), *partners(state, member)}
        if not has_own and listed != wanted:
            yield f"the service of {member.name} names other Raft nodes than the members"
    for member in logs.kept:
        raft = state.raft_of(member)
        if raft is None or not lasts(state, member):
            yield f"the Raft node of {member.name} may yet find the others"
        elif raft.voters != wanted:
            yield f"the Raft node of {member.name} lists other voters than the members"


def why_not_deployed(state: ClusterState) -> Iterator[str]:
    """Reasons to wait for members that had a vote and have no service any more: nobody adds them
    while nobody leads."""
    for member in counted_members(state):
        if state.swarm.service(member.service.name) is None:
            yield (
                f"{member.service.name} is not in the swarm, and its volumes on {member.node} may "
                "have a Raft log and newer data; if they don't, or it is lost for ever, see Come "
                "back from every loss in docs/guide.md"
            )


def why_members_change(state: ClusterState) -> Iterator[str]:
    """Reasons why it is not certain who the members are: one that counts leaves, and nobody can
    remove it, or the container of one that does not count may run."""
    topology, members = state.desired.topology, counted_members(state)
    leaving = sorted(member.name for member in members if member.name in topology.leaving)
    if leaving and (noted := [name for name in leaving if state.desired.replacement.note_of(name)]):
        yield f"{', '.join(noted)} is being replaced: bring its former node back"
    elif leaving:
        known = {*leaving, *topology.standing}
        places = ", ".join(f"{p.name} on {p.node}" for p in topology.places if p.name in known)
        yield f"members are leaving: write the lines of {places} again until somebody leads"
    for member in state.desired.members:
        if member not in members and (node := still_ending(state, member)):
            yield f"a task of a removed service may still run on {node}"


def present_partners(state: ClusterState, member: DesiredMember) -> str:
    """Return the partners with which a member begins a log anew: those that are to be its own,
    without members that do not run."""
    wanted = read_json(member.service.environment.get(PARTNERS_VARIABLE, ""))
    known = {own_node(state, other) for other in counted_members(state)}
    return json.dumps([node for node in wanted if node in known] if wanted else [])


def own_node(state: ClusterState, member: DesiredMember) -> str:
    """The Raft node of a member by its service; empty where it has none."""
    live = state.swarm.service(member.service.name)
    return live.value.environment.get("RAFT_SELF", "") if live is not None else ""


def differences(logs: Logs) -> Iterator[str]:
    """Reasons why the data can't be compared: ends that are not told, two databases, or two
    timelines of one number."""
    for name, loss in sorted(logs.lost.items()):
        if loss.why:
            yield f"{name} can't tell where its data end ({loss.why})"
    with_data = [loss for loss in logs.lost.values() if loss.timeline]
    if len({loss.system for loss in with_data}) > 1:
        yield "the members have data of different databases"
    for number in {loss.timeline for loss in with_data}:
        if len({loss.history for loss in with_data if loss.timeline == number}) > 1:
            yield f"two members have different timelines {number}"


def ends_of(state: ClusterState, logs: Logs) -> Mapping[str, End] | str:
    """The ends of the data by member, of those that are known; the reason where one that has a log
    tells none, and did not lead last on the newest timeline."""
    ends = {name: (loss.timeline, loss.location) for name, loss in logs.lost.items()}
    last = state.annotations.leader
    for member in logs.kept:
        status = state.status(member)
        if status is not None and status.timeline is not None and status.location is not None:
            ends[member.name] = (status.timeline, status.location)
            continue
        highest = max((timeline for timeline, _ in ends.values()), default=0)
        if last is None or last.member != member.name or last.timeline < highest:
            return f"{member.name} has a Raft log, and does not tell where its data end"
        ends[member.name] = FURTHEST
    return ends


def newest(state: ClusterState, ends: Mapping[str, End]) -> str:
    """The member with the newest data; among equals the one with the highest priority."""

    def rank(name: str) -> tuple[End, int, str]:
        member = state.member(name)
        environment = member.service.environment if member is not None else {}
        return ends[name], read_whole(environment.get("FAILOVER_PRIORITY", "1")) or 0, name

    return max(ends, key=rank)


def why_not_leader(state: ClusterState, logs: Logs, leader: str, ends: Mapping[str, End]) -> str:
    """Reason why this member may not be the one that leads on; empty if it may."""
    if leader in logs.begun:
        return ""  # its data were compared before it was asked
    if leader not in ends:
        return f"{leader} was named to lead on, and does not answer"
    if not ends[leader][0]:
        return "no member has data"
    if any(end > ends[leader] for end in ends.values()):
        return f"{leader} was named to lead on, and has not the newest data"
    for member in logs.kept:  # it is not fenced: Patroni compares positions, whatever the timeline
        if member.name != leader and ends[member.name][1] > ends[leader][1]:
            return f"{member.name} has more WAL on an older timeline, and a Raft log"
    return ""


def why_missing(logs: Logs, ends: Mapping[str, End]) -> str:
    """Reason to wait for the members that don't answer, and what a person can do instead."""
    missing = ", ".join(sorted(logs.unknown))
    told = "; ".join(
        f"{name} has timeline {on}, WAL position {at}" for name, (on, at) in sorted(ends.items())
    )
    return (
        f"{missing} does not answer, and may have a Raft log and newer data: bring it back; {told}"
        ". If it is lost for ever, see Come back from every loss in docs/guide.md"
    )
