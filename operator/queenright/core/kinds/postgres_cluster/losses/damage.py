"""Words for a member that is down and does not come up by itself, and the one command that helps.

Decides from the member's own answer, its last task's end, and who led last. Invariant: a data
directory is never replaced here: it may hold rows that only a former leader had, so a person does
it, and learns here where nobody leads whose copy could take its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.losses.findings import cause_of_end, cause_of_tag
from queenright.core.kinds.postgres_cluster.losses.lone_raft import why_former_list
from queenright.core.kinds.postgres_cluster.losses.returning import RECOVERS
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import MemberStatus, down_key
from queenright.core.planning.plan import Hold

STARTS = timedelta(seconds=120)
"""The time after which a hold names a start: a recovery may take longer, and one without end does,
of a PostgreSQL that each connection ends."""
STARTING = "starting"
SERVICE_NAME = "com.docker.swarm.service.name"
"""Label of a container, by which one of just this service is found."""


def damage_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield a hold for each member that is down, with its cause."""
    for member in state.desired.members:
        status = state.status(member)
        if status is None:
            yield from silent_member(state, member)
        elif is_lost(state, status):
            yield from stopped_member(state, member, status)
        elif status.state == STARTING and state.leader is not None:
            yield from starting_member(state, member)


def is_lost(state: ClusterState, status: MemberStatus) -> bool:
    """Return True for a member that may need help: its PostgreSQL does not run, or runs beside a
    leader from whom it does not stream."""
    return status.is_unserving and (
        status.is_down or (status.is_running and state.leader is not None)
    )


def silent_member(state: ClusterState, member: DesiredMember) -> Iterator[Hold]:
    """Yield a hold for a member whose container ends at each start, and says why, or whose Patroni
    does not answer though its Raft node does: so it is where PostgreSQL refuses connections."""
    live = state.swarm.service(member.service.name)
    ended = [t for t in state.swarm.tasks_of(live.id) if not t.is_alive] if live else []
    last = max(ended, key=lambda task: (task.at, task.id), default=None)
    if (cause := cause_of_end(last)) is not None:
        yield Hold(
            f"loss/{member.service.name}",
            f"member {member.name}: does not start ({cause.wrong}); "
            f"{cause.todo.format(node=member.node)}",
            wants_attention=True,
        )
    elif down_for(state, member) >= RECOVERS and has_whole_raft(state, member):
        yield Hold(
            f"loss/{member.service.name}",
            f"member {member.name}: Patroni does not answer for a minute, though its Raft node "
            f"does; {advice(state, member)} (where it does not take that, docker kill its "
            "container, and repeat it when the next one answers)",
            wants_attention=True,
        )


def starting_member(state: ClusterState, member: DesiredMember) -> Iterator[Hold]:
    """Yield a hold for a member whose PostgreSQL has been starting for long. Nobody has to act in a
    long recovery, and Patroni shows one without end the same way."""
    if down_for(state, member) >= STARTS:
        yield Hold(
            f"loss/{member.service.name}",
            f"member {member.name}: PostgreSQL starts for two minutes (it recovers; or damaged "
            f"files end it again and again); {advice(state, member)}",
        )


def down_for(state: ClusterState, member: DesiredMember) -> timedelta:
    """Return the time for which a member was seen to neither lead nor stream."""
    return timedelta(seconds=state.seen_s_ago.get(down_key(member.service.name), 0.0))


def has_whole_raft(state: ClusterState, member: DesiredMember) -> bool:
    """Return True if the member's Raft node has a quorum and applies it, and somebody leads: what
    keeps its Patroni from answering is not Raft, of which others have the word."""
    own = state.raft_of(member)
    if own is None or not own.has_quorum or own.is_behind or state.leader is None:
        return False
    return why_former_list(state, member) is None


def stopped_member(
    state: ClusterState, member: DesiredMember, status: MemberStatus
) -> Iterator[Hold]:
    """Yield a hold for a member that answers, and neither leads nor streams."""
    cause = cause_of_tag(status.finding)
    key = f"loss/{member.service.name}"
    phase = "does not stream" if status.is_running else f"does not run ({status.state})"
    if (cause is None or status.is_running) and down_for(state, member) < RECOVERS:
        return  # a restart, a rewind or a change of leader takes as long; shown as not healthy
    if cause is None:
        what = f"PostgreSQL {phase} for a minute; {advice(state, member)}"
    else:
        todo = cause.todo.format(node=member.node) or advice(state, member)
        when = "at its last start " if status.is_running else ""
        what = f"PostgreSQL {phase}: {when}{cause.wrong}; {todo}"
    yield Hold(key, f"member {member.name}: {what}", wants_attention=True)


def advice(state: ClusterState, member: DesiredMember) -> str:
    """Return what a person does about a data directory with which PostgreSQL does not run."""
    name = member.service.name
    look = f"look for a full disk or damaged files in docker service logs {name}"
    if state.leader is None:
        return f"{look}; leave its data as it is: nobody leads, and it may have the newest"
    last = state.annotations.leader
    keep = ""
    if last is not None and last.member == member.name:
        keep = f", after you saved it (it led on timeline {last.timeline})"
    return f"{look}; to replace its data by the leader's{keep}, {copy_command(state, member)}"


def copy_command(state: ClusterState, member: DesiredMember) -> str:
    """Return the command that has a member copy its data anew, and the node on which to type it:
    the leader's, whose container has patronictl's configuration and is sure to run."""
    runs = state.leader or member
    container = f"$(docker ps -qf label={SERVICE_NAME}={runs.service.name})"
    return (
        f"type on {runs.node}: docker exec -it {container} patronictl -c /tmp/patroni.yml reinit "
        f"{state.desired.name} {member.name}"
    )
