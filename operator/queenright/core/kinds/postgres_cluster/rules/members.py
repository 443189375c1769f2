"""Rule for the members' services, and for restarts that pending parameters need.

A rolling update emerges: replicas first, one at a time, each only while all others are well; then a
switchover (``switchover.decision``), and the former leader is updated as a replica. Invariant: at
most one member is restarted, never the leader, never while another is not well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction, CreateService
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.restart_need import (
    restart_need,
    restart_step,
    restarting_fields,
    restarting_parameters,
)
from queenright.core.kinds.postgres_cluster.port_changes import why_not_routed, why_ports_taken
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.newcomers import is_missed, why_not_start
from queenright.core.planning.ages import likely_age
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_rollout import plan_service

CATCH_UP = timedelta(seconds=1)
COMES_BACK = timedelta(minutes=2)
"""Time to stream again after an update, after which a person should look at a member."""

LATELY = timedelta(minutes=30)
"""A member that fails longer than this after its update fails for another reason."""


def plan_members(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired = state.desired
    if not state.is_prepared:
        return
    for member in desired.members:
        held = why_not_made(state, member)
        if held is not None:
            yield from held
            continue
        obstacle = (
            state.why_not_disrupt(member)
            or why_not_routed(state, member)
            or why_ports_taken(state, member.service, {member.node})
        )
        if state.may_begin_again(member):
            obstacle = None
        for step in plan_service(state, member.service, obstacle):
            yield with_reason(state, member, step)
    for member in desired.members:
        if member.name not in desired.topology.leaving:
            yield from restart_postgres(state, member)
    yield from stopped_rollout(state)
    if state.is_deployed and (unwell := list(state.unwell())):
        # No event reports that a lag is gone; it counts until the cluster was healthy once.
        soon = None if state.is_bootstrapped else state.now + CATCH_UP
        reason = f"cluster {desired.name}: not healthy ({'; '.join(unwell)})"
        yield Hold(f"cluster/{desired.name}", reason, recheck_at=soon)


def why_not_made(state: ClusterState, member: DesiredMember) -> tuple[Hold, ...] | None:
    """Return None where the member's service is to be as the file says; else the holds instead."""
    if member.name in state.desired.topology.leaving and not is_missed(state, member):
        return ()  # it is left as it is until it goes (``topology``)
    obstacle = why_not_start(state, member)
    if obstacle is None:
        return None
    name = member.service.name
    reason = f"{name}: not created yet, since its Raft node would count at once ({obstacle})"
    node = state.swarm.node(member.node)
    is_away = node is None or not node.is_ready
    soon = state.now + CATCH_UP * 5
    return (Hold(f"create-service/{name}", reason, soon, wants_attention=is_away),)


def with_reason(
    state: ClusterState, member: DesiredMember, step: AnyAction | Hold
) -> AnyAction | Hold:
    """Return a member's step, with the reason of a start that gives another one its quorum."""
    if not isinstance(step, CreateService) or not is_missed(state, member):
        return step
    reason = (
        f"{member.name} starts once more: it voted again at its last start, and the only other "
        "Raft node has no quorum without it; then its vote goes again"
    )
    return dataclasses.replace(step, reason=reason)


def restart_postgres(state: ClusterState, member: DesiredMember) -> Iterator[AnyAction | Hold]:
    """Restart of PostgreSQL alone, where it applies parameters of the file.

    Not where the container is about to be replaced anyway.
    """
    parameters = ", ".join(restarting_parameters(state, member))
    if not parameters or restarting_fields(state, member.service):
        return
    key = f"restart-postgres/{member.service.name}"
    if state.is_leader(member) and len(state.desired.members) == 1:
        reason = (
            f"{member.name}: {parameters} takes effect at a restart of PostgreSQL, which the "
            "operator does not do (the only member: nobody serves meanwhile); restart it when a "
            f"pause of some seconds suits you: queenright restart {member.name}"
        )
        yield Hold(key, reason, wants_attention=True)
        return
    if obstacle := state.why_not_disrupt(member):
        yield Hold(
            key,
            f"{member.name}: no restart for {parameters} now ({obstacle})",
            state.now + CATCH_UP * 5,
        )
        return
    yield restart_step(state, member, f"{member.name} applies {parameters} only at a restart")


def stopped_rollout(state: ClusterState) -> Iterator[Hold]:
    """Holds for a member that is not well since its update, while others wait for theirs."""
    waiting = [m.name for m in state.desired.members if restart_need(state, m)]
    for member in state.desired.members:
        live, status = state.swarm.service(member.service.name), state.status(member)
        well = status is not None and status.is_well
        if live is None or well or not waiting or member.name in waiting:
            continue
        age = likely_age(live.updated_at, state.now, state.seen_s_ago.get(live.id))
        if age > LATELY:
            continue
        if age < COMES_BACK:
            due = state.now + min(COMES_BACK - age, COMES_BACK)
            yield Hold(
                f"rollout/{state.desired.name}",
                f"{member.name}: not well yet after its update",
                due,
            )
            continue
        phase = status.state if status else state.why_unknown(member)
        yield Hold(
            f"rollout/{state.desired.name}",
            f"{member.name}: not well since its update ({phase}), so the rollout has stopped "
            f"before {', '.join(waiting)}; look at docker service logs {member.service.name}, or "
            "write the old value again to roll back",
            wants_attention=True,
        )
