"""The database members' services, and the restarts that their parameters wait for.

A rolling update emerges: replicas first, one at a time, each only while all others are well; then
the lead moves (``core.leadership``), and the former leader is a replica like any other. Invariant:
at most one member is restarted, never the leader, never while another is not well.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import Action
from queenright.core.desired import DesiredMember
from queenright.core.pinning import restarting_fields
from queenright.core.plan import Hold
from queenright.core.restarts import restart_need, restart_step, restarting_parameters
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation

CATCH_UP = timedelta(seconds=1)
COMES_BACK = timedelta(minutes=2)
"""How long after its update a member may take to stream again before a person should look."""

LATELY = timedelta(minutes=30)
"""A member that fails longer than this after its update fails for another reason."""


def plan_members(situation: Situation) -> Iterator[Action | Hold]:
    desired = situation.desired
    if not situation.is_prepared:
        return
    for member in desired.members:
        yield from plan_service(situation, member.service, situation.why_not_disturb(member))
    for member in desired.members:
        yield from restart_postgres(situation, member)
    yield from stopped_rollout(situation)
    if situation.is_deployed and (unwell := list(situation.unwell())):
        # Nothing tells of a lag that is made up for; until the cluster was whole once, it counts.
        soon = None if situation.is_bootstrapped else situation.now + CATCH_UP
        reason = "the database is not whole: " + "; ".join(unwell)
        yield Hold(f"cluster/{desired.name}", reason, recheck_at=soon)


def restart_postgres(situation: Situation, member: DesiredMember) -> Iterator[Action | Hold]:
    """Parameters that wait for a restart come into force by one of PostgreSQL alone, where the
    container is not about to be replaced anyway."""
    parameters = ", ".join(restarting_parameters(situation, member))
    if not parameters or restarting_fields(situation, member.service):
        return
    key = f"restart-postgres/{member.service.name}"
    if obstacle := situation.why_not_disturb(member):
        yield Hold(key, f"{parameters}: {obstacle}", situation.now + CATCH_UP * 5)
        return
    yield restart_step(situation, member, f"{member.name} takes {parameters} only after a restart")


def stopped_rollout(situation: Situation) -> Iterator[Hold]:
    """A member that has not come back from its update while others still wait for theirs."""
    waiting = [m.name for m in situation.desired.members if restart_need(situation, m)]
    for member in situation.desired.members:
        live, status = situation.swarm.service(member.service.name), situation.status(member)
        well = status is not None and status.is_well
        if live is None or well or not waiting or member.name in waiting:
            continue
        if situation.now - live.updated_at > LATELY:
            continue
        due = live.updated_at + COMES_BACK
        if situation.now < due:
            yield Hold(f"rollout/{situation.desired.name}", f"{member.name} is coming back", due)
            continue
        state = status.state if status else situation.why_unknown(member)
        yield Hold(
            f"rollout/{situation.desired.name}",
            f"{member.name} has not come back well since it was updated ({state}): the rollout has "
            f"stopped before {', '.join(waiting)}. Look at docker service logs "
            f"{member.service.name}; writing the old value again rolls back",
            wants_attention=True,
        )
