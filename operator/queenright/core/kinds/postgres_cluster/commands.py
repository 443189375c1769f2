"""Steps of the CLI commands that change a live cluster, and what they print before they ask.

Decides, from the same observation and by the same rules as the operator, the steps of a switchover,
and how much an emergency failover can lose. Invariant: a command requests a switchover only as the
operator does: with an annotation in the state config, which keeps a running operator from
interfering, and never while an earlier request may still be carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from queenright.core.actions import AnyAction, Failover, LabelConfig
from queenright.core.kinds.postgres_cluster.annotations import (
    Annotations,
    PendingSwitchover,
    with_annotations,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.kinds.postgres_cluster.replication.standbys import confirms
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.candidates import why_not_lead
from queenright.core.kinds.postgres_cluster.switchover.decision import (
    LeaderDecision,
    SwitchoverRequest,
    check_result,
    settle_time,
    step_towards,
    waiting,
)
from queenright.core.kinds.postgres_cluster.switchover.lost_amount import least_lost
from queenright.core.kinds.postgres_cluster.switchover.position import positions
from queenright.core.kinds.postgres_cluster.switchover.route_hint import clear_route_hint
from queenright.core.manifest.quantities import format_duration
from queenright.core.planning.configs import relabelled
from queenright.core.planning.plan import Hold

PAUSED = "Patroni is paused"


def why_not_commanded(state: ClusterState, to: DesiredMember) -> str | None:
    """Reason why a switchover to this member is not possible now; None when it is."""
    move = state.annotations.move
    if move is not None:
        left = move.at + settle_time(state) - state.now
        if left > timedelta(0):
            return (
                f"a switchover from {move.leader} to {move.candidate} was requested, and may still "
                f"happen for {max(1, round(left.total_seconds()))} s"
            )
    if to.node in state.maintained:
        return f"{to.name} is on {to.node}, which is in maintenance"
    if to.name in state.desired.topology.leaving:
        why = state.desired.topology.why_leaving(to.name)
        return f"{to.name} {why}, and would have to hand over again; name a member that stays"
    obstacle = why_not_lead(state, to)
    if obstacle == PAUSED and not pause_reason(state.known_settings):
        return f"{obstacle}; `queenright resume` lifts that"
    return obstacle


def what_follows(state: ClusterState, to: DesiredMember) -> str:
    """Consequence of a switchover to this member: the operator's next one; empty when none."""
    policy, wanted = state.desired.policy, state.desired.policy.primary
    if not wanted or wanted == to.name:
        return ""
    if state.annotations.primary != wanted:
        return (
            f"spec.primary is {wanted}, which has not led yet: the operator switches over to it as "
            "soon as it can"
        )
    if policy.failback.mode == "automatic":
        after = format_duration(policy.failback.after_s)
        return f"spec.primary is {wanted}: the operator switches back to it after {after}"
    return f"spec.primary is {wanted}, but failback.mode is manual: the new leader stays"


def move_steps(state: ClusterState, to: DesiredMember) -> tuple[AnyAction | Hold, ...]:
    """Next steps of a switchover that a person requested; the annotation comes first."""
    decided = commanded(state, to)
    return (*note_steps(state, decided.annotations), *decided.steps)


def commanded(state: ClusterState, to: DesiredMember) -> LeaderDecision:
    """Decision on a switchover that a person requests at the command line."""
    annotations, leader = state.annotations, state.leader
    timeline = state.timeline
    if leader is None or timeline is None:
        return LeaderDecision(annotations, tuple(waiting(state, annotations)))
    if annotations.move is not None:
        return check_result(state, annotations, leader, timeline)
    if leader is to:
        return LeaderDecision(annotations, tuple(clear_route_hint(state)))
    return step_towards(
        state,
        annotations,
        leader,
        timeline,
        SwitchoverRequest(to, "command", "requested by a command"),
    )


def tidying_steps(state: ClusterState) -> tuple[AnyAction, ...]:
    """Steps left after a switchover, if no operator has done them: annotation, then route hint.

    Nothing is requested again.
    """
    annotations, leader = state.annotations, state.leader
    timeline = state.timeline
    if leader is None or timeline is None:
        return ()
    if annotations.move is not None:
        return tuple(
            note_steps(state, check_result(state, annotations, leader, timeline).annotations)
        )
    return tuple(clear_route_hint(state))


def note_steps(state: ClusterState, annotations: Annotations) -> Iterator[LabelConfig]:
    """The state config with these annotations, where it has others."""
    live = state.swarm.config(state.desired.state_config.name)
    if live is None:
        return
    labels = with_annotations(live.value.labels, annotations)
    step = relabelled(live, labels, "the operator's annotations of the cluster change")
    if step.changes:
        yield step


def forgotten_move(state: ClusterState) -> tuple[AnyAction, ...]:
    """Removal of the annotation of a switchover that Patroni refused before it began."""
    return tuple(note_steps(state, replace(state.annotations, move=None)))


def failover_steps(state: ClusterState, to: DesiredMember) -> tuple[AnyAction, ...]:
    """Steps of an emergency failover: annotated, where a leader is known, and requested.

    It is requested at the candidate itself.
    """
    leader = state.leader
    timeline = state.timeline
    first: tuple[AnyAction, ...] = ()
    if leader is not None and timeline is not None:
        note = PendingSwitchover(leader.name, to.name, timeline, state.now, "command")
        first = tuple(note_steps(state, replace(state.annotations, move=note)))
    step = Failover(
        **state.asked(to),
        candidate=to.name,
        reason=f"failover to {to.name}, which may lose data: {loss_bound(state, to)}"
        f"{unconfirmed(state, to)}",
        disrupts=leader.service.name if leader is not None else "",
    )
    return (*first, step)


def loss_bound(state: ClusterState, to: DesiredMember) -> str:
    """Upper bound of the WAL that a failover to this member can lose, as far as it is known."""
    status, leader = state.status(to), state.leader
    if leader is not None and status is not None and status.lag_bytes is not None:
        return (
            f"at most {status.lag_bytes} bytes of WAL that {leader.name} has and {to.name} has "
            "not, and whatever is written until then"
        )
    if status is None or status.location is None:
        return f"how much is unknown: the WAL position of {to.name} is not known"
    others = {
        member.name: found.location - status.location
        for member in state.desired.members
        if member is not to and (found := state.status(member)) and found.location is not None
    }
    own = [position for position in positions(state) if position.member is to]
    least = least_lost(state, own)
    noted = f" (at least {least} bytes, by Patroni's last note of its position)" if least else ""
    furthest = max(others, key=lambda name: others[name], default="")
    if furthest and others[furthest] > 0:
        return (
            f"how much is unknown, as no leader answers{noted}; {furthest} has "
            f"{others[furthest]} bytes more than {to.name}"
        )
    return (
        f"how much is unknown, as no leader answers{noted}; no member that answers has more than "
        f"{to.name}"
    )


def unconfirmed(state: ClusterState, to: DesiredMember) -> str:
    """Warning that this member confirms no commits where others do; empty otherwise."""
    if not read_replication(state.known_settings).is_synchronous or confirms(state.status(to)):
        return ""
    return f"; {to.name} is no synchronous standby, so acknowledged rows may be among them"


def further_member(state: ClusterState, to: DesiredMember) -> str:
    """The replica that has the most WAL, where that is not this one; empty when it is."""
    own = state.status(to)
    found = {
        member.name: status.location
        for member in state.desired.members
        if (status := state.status(member)) is not None
        and not status.holds_lock
        and status.location is not None
    }
    best = max(found, key=lambda name: found[name], default="")
    if not best or own is None or own.location is None or found[best] <= own.location:
        return ""
    return best


def why_not_restart(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why PostgreSQL in this member may not be restarted now; None if it may.

    The member may be the leader: a person who asks for that accepts a write pause.
    """
    if not state.is_leader(member):
        return state.why_not_disrupt(member)
    if (move := state.annotations.move) is not None:
        return f"a switchover from {move.leader} to {move.candidate} is in progress"
    for other in state.desired.members:
        status = state.status(other)
        if other is member:
            continue
        if status is None:
            return f"{other.name} does not answer ({state.why_unknown(other)})"
        if not status.is_streaming:
            return f"{other.name} is {status.state}, not streaming"
        if unsettled := state.why_unsettled(other):
            return unsettled
    return None
