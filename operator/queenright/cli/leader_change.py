"""A change of leader by a command, from the request to its result.

``core.kinds.postgres_cluster.commanded`` decides who may lead. The command sends one request, then
watches the members until leader and timeline are stable. Invariant: no request is sent twice.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from queenright.cli.cluster_session import ClusterAtHand, Session
from queenright.cli.exit_codes import CommandError
from queenright.core.actions import AnyAction, Failover, Switchover
from queenright.core.audit.record import Done, Failed, Outcome
from queenright.core.kinds.postgres_cluster.commands import (
    forgotten_move,
    move_steps,
    tidying_steps,
    why_not_commanded,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.switchover.decision import settle_time
from queenright.core.kinds.postgres_cluster.switchover.guards import move_is_safe
from queenright.core.observed import Known
from queenright.core.planning.plan import Hold

LOOK_AGAIN_S = 0.2
ROUNDS = 20
TIDY_ROUNDS = 3
TIDY_S = 2.0
"""The time for a running operator to remove the annotation and the route hint itself."""


@dataclass
class Landing:
    """The leader after a request. ``seconds`` is from the request to the first observation of the
    new leader; ``refusal`` is Patroni's text when it did nothing; ``doubt`` is an ambiguous
    answer."""

    leader: str = ""
    timeline: int = 0
    seconds: float = 0.0
    refusal: str = ""
    doubt: str = ""

    @property
    def has_moved(self) -> bool:
        return bool(self.leader)


@dataclass
class Asked:
    """A request under way, and its answer so far."""

    outcome: Outcome | None = None
    began_s: float = field(default_factory=anyio.current_time)


async def planned_move(live: Session, to: DesiredMember) -> Landing:
    """Switch over as the operator would: prepare the proxies, write the annotation, send the
    request, and observe the result."""
    for _ in range(ROUNDS):
        view = await live.look()
        if obstacle := why_not_commanded(view.state, to):
            raise CommandError(f"no switchover to {to.name}: {obstacle}")
        steps = move_steps(view.state, to)
        actions = [step for step in steps if not isinstance(step, Hold)]
        if not actions:
            await wait_for(view, steps)
            continue
        if refusal := move_is_safe(live.plan(view, actions), view.observed):
            raise CommandError(f"refused by {refusal.guard}: {refusal.reason}")
        if any(isinstance(action, Switchover) for action in actions):
            landing = await asked_once(live, view, actions)
            if landing is not None:
                await tidy(live, landing)
                return landing
        else:
            await live.carry_out(view, actions)
    raise CommandError("another writer keeps changing the cluster: no switchover was requested")


async def wait_for(view: ClusterAtHand, steps: tuple[AnyAction | Hold, ...]) -> None:
    """Wait until the moment of a hold that time alone ends."""
    holds = [step for step in steps if isinstance(step, Hold)]
    moments = [hold.recheck_at for hold in holds if hold.recheck_at]
    if not moments:
        reason = holds[0].reason if holds else "there is nothing to do"
        raise CommandError(f"no switchover was requested: {reason}")
    left = min(moments) - view.state.now
    await anyio.sleep(max(LOOK_AGAIN_S, left.total_seconds()))


async def asked_once(
    live: Session, view: ClusterAtHand, actions: Sequence[AnyAction]
) -> Landing | None:
    """Send the request while the members are watched; None if it was never sent, because the
    annotation before it met a conflict."""
    asked = Asked()
    landing = Landing()
    async with anyio.create_task_group() as group:
        group.start_soon(watch, live, view, asked, landing)
        result = await live.carry_out(view, actions)
        tried = {type(action): outcome for action, outcome in result.tried}
        asked.outcome = tried.get(Switchover) or tried.get(Failover)
        if asked.outcome is None:
            group.cancel_scope.cancel()
    if asked.outcome is None:
        return None
    if isinstance(asked.outcome, Done):
        return landing
    is_final = isinstance(asked.outcome, Failed) and not asked.outcome.transient
    if is_final and not landing.has_moved:
        landing.refusal = asked.outcome.error
    else:
        landing.doubt = asked.outcome.error
    return landing


async def watch(live: Session, view: ClusterAtHand, asked: Asked, landing: Landing) -> None:
    """Watch the members until another leads, or the same on another timeline, or until a refusal
    or the end of the request's validity."""
    former = view.leader_at
    limit_s = settle_time(view.state).total_seconds()
    while anyio.current_time() - asked.began_s < limit_s:
        found = await sole_leader(live, view)
        if found is not None and found != former:
            landing.leader, landing.timeline = found
            landing.seconds = anyio.current_time() - asked.began_s
            return
        outcome = asked.outcome
        if isinstance(outcome, Failed) and not outcome.transient:
            return
        await anyio.sleep(LOOK_AGAIN_S)


async def sole_leader(live: Session, view: ClusterAtHand) -> tuple[str, int] | None:
    readings = await live.members(view)
    found = [
        (member.name, reading.value.timeline)
        for member in view.state.desired.members
        if isinstance(reading := readings[member.service.name], Known)
        and reading.value.is_leader
        and reading.value.timeline is not None
    ]
    return found[0] if len(found) == 1 else None


async def tidy(live: Session, landing: Landing) -> None:
    """Remove annotation and route hint, unless a running operator does it first. A failure here is
    no failure of the switchover, because both expire by themselves."""
    for _ in range(TIDY_ROUNDS):
        if not landing.refusal:
            await anyio.sleep(TIDY_S)
        view = await live.look()
        state = view.state
        steps = forgotten_move(state) if landing.refusal else tidying_steps(state)
        if not steps:
            return
        await live.carry_out(view, steps)
