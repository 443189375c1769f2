"""Desired leader, and the next safe step towards it.

Decides from the manifest, the nodes in maintenance, the members that wait for a restart, the
annotations and every member's answer. A switchover takes three passes: the proxies are set to check
every second; the annotation is written and the switchover requested in one plan; its result is
observed. Invariant: while a requested switchover may still happen, nothing more is requested; a
failover is never undone, unless the manifest asks for failback; none is chosen that moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from queenright.core.actions import AnyAction, Switchover
from queenright.core.kinds.postgres_cluster.annotations import (
    MOVE_LABEL,
    Annotations,
    LastLeader,
    MoveKind,
    PendingSwitchover,
    ReturnTo,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.restart_need import restart_need
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.candidates import (
    best_candidate,
    why_not_lead,
)
from queenright.core.kinds.postgres_cluster.switchover.route_hint import (
    clear_route_hint,
    write_route_hint,
)
from queenright.core.kinds.postgres_cluster.switchover.waits import (
    seen_note,
    until_heard,
    well_for,
    why_moving,
)
from queenright.core.kinds.postgres_cluster.topology.removing import leader_that_leaves
from queenright.core.planning.ages import CLOCKS_DIFFER, certain_age
from queenright.core.planning.backoff import hold_back
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import answered_once


@dataclass(frozen=True, slots=True)
class SwitchoverRequest:
    """A wanted switchover. ``why`` is for people."""

    to: DesiredMember
    kind: MoveKind
    why: str


@dataclass(frozen=True, slots=True)
class LeaderDecision:
    """The decision: the annotations as they should be from now on, and the steps."""

    annotations: Annotations
    steps: tuple[AnyAction | Hold, ...] = ()


def settle_time(state: ClusterState) -> timedelta:
    """Time for which a switchover whose answer was lost may still happen.

    Patroni handles the request in a round of its loop, and a leader that can't step down is
    followed by another within ttl.
    """
    settings = state.desired.settings
    return timedelta(seconds=settings["ttl"] + settings["loop_wait"])


@answered_once
def decide_leader(state: ClusterState) -> LeaderDecision:
    """Annotations and steps for the leadership now."""
    annotations, leader = state.annotations, state.leader
    timeline = state.timeline
    if leader is None or timeline is None:
        return LeaderDecision(annotations, tuple(waiting(state, annotations)))
    seen = with_leader(state, annotations, leader, timeline)
    if seen.move is not None:
        return check_result(state, seen, leader, timeline)
    kept = with_primary(state, seen, leader, timeline)
    if not state.is_bootstrapped:
        return LeaderDecision(kept)
    wanted = wanted_move(state, kept, leader)
    if isinstance(wanted, SwitchoverRequest):
        wanted = once_heard(state, wanted)
    if isinstance(wanted, SwitchoverRequest):
        return step_towards(state, kept, leader, timeline, wanted)
    held = (wanted,) if wanted is not None else ()
    return LeaderDecision(kept, (*held, *clear_route_hint(state)))


def waiting(state: ClusterState, annotations: Annotations) -> Iterator[Hold]:
    if annotations.move is not None:
        yield Hold(
            f"switchover/{state.desired.name}",
            f"switchover from {annotations.move.leader} to {annotations.move.candidate}: "
            "requested; its result is not known (there is no leader now)",
        )


def with_leader(
    state: ClusterState, annotations: Annotations, leader: DesiredMember, timeline: int
) -> Annotations:
    """Annotations with the present leader; since when is kept while it stays."""
    last = annotations.leader
    if (
        last is not None
        and (last.member, last.timeline) == (leader.name, timeline)
        and last.since <= state.now + CLOCKS_DIFFER
    ):
        return annotations
    return replace(annotations, leader=LastLeader(leader.name, timeline, state.now))


def check_result(
    state: ClusterState, annotations: Annotations, leader: DesiredMember, timeline: int
) -> LeaderDecision:
    """Result of the requested switchover; nothing new in the same pass."""
    move = annotations.move
    if move is None:
        return LeaderDecision(annotations)
    done = replace(annotations, move=None)
    if leader.name == move.leader:
        seen_s = seen_note(state, MOVE_LABEL)
        left = settle_time(state) - certain_age(move.at, state.now, seen_s)
        if left > timedelta(0):
            until = state.now + left
            reason = (
                f"switchover from {move.leader} to {move.candidate}: requested, but {move.leader} "
                "is still the leader (it may yet happen); it is not requested again before then"
            )
            ahead = move.at > state.now + CLOCKS_DIFFER and seen_s is None
            if ahead:
                reason += f". It was requested at {move.at:%H:%M:%S}: this node's clock is behind"
            key = f"switchover/{state.desired.name}"
            return LeaderDecision(annotations, (Hold(key, reason, until, wants_attention=ahead),))
        return LeaderDecision(done)
    if leader.name != move.candidate:
        return LeaderDecision(done)
    wanted = state.desired.policy.primary
    match move.kind:
        case "primary":
            done = replace(done, primary=move.candidate)
        case "rollout" | "maintenance" if wanted == move.leader == annotations.primary:
            done = replace(done, return_to=ReturnTo(move.leader, timeline))
        case "return" | "failback":
            done = replace(done, return_to=None)
        case _:
            pass
    return LeaderDecision(done)


def with_primary(
    state: ClusterState, annotations: Annotations, leader: DesiredMember, timeline: int
) -> Annotations:
    """Annotations without what is done, withdrawn, or overtaken by a failover."""
    wanted = state.desired.policy.primary
    if wanted == leader.name or not wanted:
        annotations = replace(annotations, primary=wanted)
    back = annotations.return_to
    if back is not None and (
        back.member in {"", leader.name} or back.member != wanted or back.timeline != timeline
    ):
        annotations = replace(annotations, return_to=None)
    return annotations


def wanted_move(
    state: ClusterState, annotations: Annotations, leader: DesiredMember
) -> SwitchoverRequest | Hold | None:
    """The switchover that is wanted most, or a hold that says why there is none."""
    policy, members = state.desired.policy, state.desired.members
    if leader.node in state.maintained:
        return to_the_best(state, leader, "maintenance", f"{leader.node} is in maintenance")
    if leader_that_leaves(state) is leader:
        why = f"{leader.name} {state.desired.topology.why_leaving(leader.name)}"
        return to_the_best(state, leader, "removal", why)
    needs = {member.name: restart_need(state, member) for member in members}
    wanted = state.member(policy.primary)
    waits: Hold | None = None
    if wanted is not None and wanted is not leader and annotations.primary != wanted.name:
        if wanted.node in state.maintained:
            reason = f"primary: {wanted.name} does not lead ({wanted.node} is in maintenance)"
            return Hold(f"primary/{state.desired.name}", reason)
        need = needs[wanted.name] and f"has to restart first ({needs[wanted.name]})"
        if not (first := why_moving(state, wanted) or need):
            return SwitchoverRequest(wanted, "primary", f"spec.primary is {wanted.name}")
        waits = Hold(f"primary/{state.desired.name}", f"primary: {wanted.name} {first}")
    if needs[leader.name] and len(members) > 1:
        if any(need for name, need in needs.items() if name != leader.name):
            return waits  # the others restart first
        why = f"{leader.name} has to restart for {needs[leader.name]}"
        return to_the_best(state, leader, "rollout", why)
    if waits is not None or wanted is None or wanted is leader:
        return waits
    if annotations.return_to is not None and wanted.node not in state.maintained:
        if any(needs.values()):
            return None
        if first := why_moving(state, wanted):
            return Hold(f"primary/{state.desired.name}", f"primary: {wanted.name} {first}")
        return SwitchoverRequest(wanted, "return", f"{wanted.name} led before, and is spec.primary")
    return failed_over(state, annotations, leader, wanted)


def once_heard(state: ClusterState, move: SwitchoverRequest) -> SwitchoverRequest | Hold:
    """The switchover, or a hold while it is not known yet which members have to restart.

    One that moves before would have to move again for the restart, and back. What makes room for
    the owner (maintenance, a removal) does not wait.
    """
    left = until_heard(state)
    if move.kind in {"maintenance", "removal"} or left <= timedelta(0):
        return move
    reason = (
        f"switchover to {move.to.name}: waits until it is known whether each member has to restart "
        "(PostgreSQL's parameters have just changed, secrets, configs or networks are being made, "
        f"or the operator has just started); {move.why}"
    )
    return Hold(f"switchover/{state.desired.name}", reason, state.now + left)


def to_the_best(
    state: ClusterState, leader: DesiredMember, kind: MoveKind, why: str
) -> SwitchoverRequest | Hold:
    """Switchover to the freshest member that can lead, or a hold that says why there is none."""
    best = best_candidate(state)
    if isinstance(best, DesiredMember):
        return SwitchoverRequest(best, kind, why)
    return Hold(
        f"switchover/{state.desired.name}",
        f"switchover from {leader.name}: {why}, but no member can take over ({best})",
        wants_attention=True,
    )


def failed_over(
    state: ClusterState, annotations: Annotations, leader: DesiredMember, wanted: DesiredMember
) -> SwitchoverRequest | Hold:
    """Hold or failback after a failover away from ``primary``.

    The new leader stays (spec: §1.8), unless the manifest asks for failback after a stable time.
    """
    failback = state.desired.policy.failback
    key = f"primary/{state.desired.name}"
    text = f"leader is {leader.name}; spec.primary is {wanted.name}; "
    if failback.mode == "manual":
        text += "no switchover because failback.mode is manual"
        return Hold(key, text, is_informational=True)
    if wanted.node in state.maintained:
        return Hold(
            key, f"{text}no failback while {wanted.node} is in maintenance", is_informational=True
        )
    if first := why_moving(state, wanted):
        return Hold(key, f"{text}{wanted.name} {first}", is_informational=True)
    left = timedelta(seconds=failback.after_s) - well_for(state, annotations)
    if left > timedelta(0):
        due = state.now + left
        return Hold(key, f"{text}failback at {due:%Y-%m-%dT%H:%M:%SZ} if all stays well", due)
    why = f"{leader.name} took over by failover, and all are well for {failback.after_s} s"
    return SwitchoverRequest(wanted, "failback", why)


def step_towards(
    state: ClusterState,
    annotations: Annotations,
    leader: DesiredMember,
    timeline: int,
    move: SwitchoverRequest,
) -> LeaderDecision:
    """Next step of a wanted switchover from the leader on this timeline.

    A hold that says why not now, the proxies' hint, or the switchover itself. While retry backoff
    holds the switchover back, no hint is written.
    """
    key = f"switchover/{state.desired.name}"
    if obstacle := why_not_lead(state, move.to):
        reason = f"switchover to {move.to.name}: not done now ({obstacle}); {move.why}"
        return LeaderDecision(annotations, (Hold(key, reason, wants_attention=True),))
    if annotations != state.annotations:
        return LeaderDecision(annotations)
    pending = PendingSwitchover(leader.name, move.to.name, timeline, state.now, move.kind)
    step = Switchover(
        **state.asked(leader),
        leader=leader.name,
        candidate=move.to.name,
        timeline=timeline,
        reason=f"switchover from {leader.name} to {move.to.name}: {move.why}",
        disrupts=leader.service.name,
    )
    waits = isinstance(hold_back(step, state.observed.attempts, state.now), Hold)
    hint = None if waits else write_route_hint(state, leader, move.to.name)
    if hint is not None:
        return LeaderDecision(annotations, (hint,))
    return LeaderDecision(replace(annotations, move=pending), (step,))
