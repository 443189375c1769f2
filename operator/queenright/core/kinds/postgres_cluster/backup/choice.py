"""Member beside which a base backup is made, and the reasons why none is made now.

Decides from the members' own answers. Invariant: nothing is begun on an unknown, while Patroni is
paused, a node is in maintenance, the leader moves, or the WAL that it needs is not archived.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.backup.archiving import is_overdue
from queenright.core.kinds.postgres_cluster.backup.run import first_missed, requested
from queenright.core.kinds.postgres_cluster.desired.base_backup import why_no_job
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.desired.drill import DRILL_ROLE
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

PATIENCE = timedelta(minutes=10)
"""Time for which a replica is waited for before the leader is taken."""


def why_none_now(state: ClusterState) -> str | None:
    """Reason why no backup may be begun now, whichever member it is; None when one may."""
    return next(obstacles(state), None)


def obstacles(state: ClusterState) -> Iterator[str]:
    if state.leader is None:
        yield "no single member proves the leader lock"
    if (move := state.annotations.move) is not None:
        yield f"a switchover from {move.leader} to {move.candidate} is in progress"
    if state.maintained:
        yield f"{', '.join(state.maintained)} in maintenance"
    if reason := pause_reason(state.known_settings):
        yield f"Patroni is paused by the operator, for {reason}"
    if any((s := state.status(member)) and s.paused for member in state.desired.members):
        yield "Patroni is paused"
    if is_drilled(state):
        yield "a backup drill is in progress"
    match state.archiving:
        case Known(found) if not found.is_on:
            yield "the leader archives no WAL yet, which a backup needs"
        case Known(found) if is_overdue(found):
            yield "too much WAL waits to be archived, which a backup needs"
        case Known():
            pass
        case unknown:
            yield f"how far the archive has come is not known ({unknown.why})"


def is_drilled(state: ClusterState) -> bool:
    """Return True while the job of a drill is there."""
    jobs = state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name)
    return any(live.value.labels.get(ROLE_LABEL) == DRILL_ROLE for live in jobs)


def chosen(state: ClusterState) -> DesiredMember | str:
    """The member; the reasons, where none can be taken now.

    Of several replicas the one that would lead last, so that the next leader is spared.
    """
    plan, leader = state.desired.base_backups, state.leader
    if plan is None or leader is None:
        return "no single member proves the leader lock"
    why = {m.name: why_not_copy(state, m) for m in state.desired.members}
    fit = [m for m in state.desired.members if why[m.name] is None]
    replicas = [m for m in fit if not state.is_leader(m)]
    if plan.source == "replica" and replicas:
        return min(replicas, key=rank)
    if leader in fit and (plan.source == "leader" or not waits_for_replica(state)):
        return leader
    names = [m for m in state.desired.members if plan.source == "replica" or m is leader]
    told = [f"{m.name} is the leader" if m is leader and why[m.name] is None
            else f"{m.name}: {why[m.name]}" for m in names]  # fmt: skip
    return "; ".join(told)


def rank(member: DesiredMember) -> tuple[int, str]:
    text = member.service.environment.get("FAILOVER_PRIORITY", "")
    return int(text) if text.isdecimal() else 0, member.name


def waits_for_replica(state: ClusterState) -> bool:
    """Return True while a replica may still come: not in a cluster of one member, and not for
    longer than ten minutes since the backup was due and the leader leads."""
    led = state.annotations.leader
    due = [at for at in (first_missed(state), requested(state)) if at and at <= state.now]
    since = [at for at in (min(due, default=None), led.since if led else None) if at is not None]
    is_alone = len(state.desired.members) == 1
    return not is_alone and (not since or state.now - max(since) < PATIENCE)


def why_not_copy(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why this member's data can't be copied now; None when they can."""
    status, live = state.status(member), state.swarm.service(member.service.name)
    if status is None:
        return f"does not answer ({state.why_unknown(member)})"
    if live is None:
        return "its service is not in the swarm"
    if member.name in state.desired.topology.leaving:
        return state.desired.topology.why_leaving(member.name)
    if not state.is_leader(member) and not status.is_streaming:
        return f"is {status.state}, not streaming"
    if not status.is_well:
        return f"is {status.state}"
    far = None if state.is_leader(member) else state.why_too_far(member)
    return far or state.why_unsettled(member) or why_no_job(live.value)
