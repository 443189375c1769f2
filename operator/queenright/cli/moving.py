"""A change of leader as a command carries it out, from the request to what came of it.

Decides nothing of who may lead (``core.commanded`` does); it asks once, and then watches the
members until leader and timeline settle. Invariant: whatever the answer was, nothing is asked for
a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from queenright.cli.exits import CommandError
from queenright.cli.live import Live, View
from queenright.core.actions import Action, FailOver, SwitchOver
from queenright.core.audit import Done, Failed, Outcome
from queenright.core.commanded import (
    forgotten_move,
    move_steps,
    tidying_steps,
    why_not_commanded,
)
from queenright.core.desired import DesiredMember
from queenright.core.leadership import settle_time
from queenright.core.move_guards import move_is_safe
from queenright.core.observed import Known
from queenright.core.plan import Hold

LOOK_AGAIN_S = 0.2
ROUNDS = 20
TIDY_ROUNDS = 3
TIDY_S = 2.0
"""How long a running operator is given to take back note and hint itself."""


@dataclass
class Landing:
    """Where the lead is after a request. ``seconds`` is from the request to the first sight of the
    new leader; ``refusal`` is Patroni's word when it did nothing; ``doubt`` is an answer that told
    nothing."""

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
    """A request under way, and what is known of its answer."""

    outcome: Outcome | None = None
    began_s: float = field(default_factory=anyio.current_time)


async def planned_move(live: Live, to: DesiredMember) -> Landing:
    """Move the lead as the operator would: the proxies are told, the move is noted and asked for,
    and what comes of it is observed."""
    for _ in range(ROUNDS):
        view = await live.look()
        if obstacle := why_not_commanded(view.situation, to):
            raise CommandError(f"the lead does not move to {to.name}: {obstacle}")
        steps = move_steps(view.situation, to)
        actions = [step for step in steps if not isinstance(step, Hold)]
        if not actions:
            await wait_for(view, steps)
            continue
        if refusal := move_is_safe(live.plan(view, actions), view.observed):
            raise CommandError(f"refused by {refusal.guard}: {refusal.reason}")
        if any(isinstance(action, SwitchOver) for action in actions):
            landing = await asked_once(live, view, actions)
            if landing is not None:
                await tidy(live, landing)
                return landing
        else:
            await live.carry_out(view, actions)
    raise CommandError("somebody else keeps writing at the same time: nothing was asked for")


async def wait_for(view: View, steps: tuple[Action | Hold, ...]) -> None:
    """Until the moment of a hold that time alone ends."""
    holds = [step for step in steps if isinstance(step, Hold)]
    moments = [hold.recheck_at for hold in holds if hold.recheck_at]
    if not moments:
        reason = holds[0].reason if holds else "there is nothing to do"
        raise CommandError(f"nothing was asked for: {reason}")
    left = min(moments) - view.situation.now
    await anyio.sleep(max(LOOK_AGAIN_S, left.total_seconds()))


async def asked_once(live: Live, view: View, actions: Sequence[Action]) -> Landing | None:
    """Carry the request out while the members are watched; None when it was never sent, since the
    note before it met a conflict."""
    asked = Asked()
    landing = Landing()
    async with anyio.create_task_group() as group:
        group.start_soon(watch, live, view, asked, landing)
        result = await live.carry_out(view, actions)
        tried = {type(action): outcome for action, outcome in result.tried}
        asked.outcome = tried.get(SwitchOver) or tried.get(FailOver)
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


async def watch(live: Live, view: View, asked: Asked, landing: Landing) -> None:
    """Look at the members until another leads, or the same on another timeline; or until a refusal
    or the time after which a request is void."""
    former = view.leader_at
    limit_s = settle_time(view.situation).total_seconds()
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


async def sole_leader(live: Live, view: View) -> tuple[str, int] | None:
    readings = await live.members(view)
    found = [
        (member.name, reading.value.timeline)
        for member in view.situation.desired.members
        if isinstance(reading := readings[member.service.name], Known)
        and reading.value.is_leader
        and reading.value.timeline is not None
    ]
    return found[0] if len(found) == 1 else None


async def tidy(live: Live, landing: Landing) -> None:
    """Take note and hint back, unless a running operator does it first; a failure to is no failure
    of the move, as both end by themselves."""
    for _ in range(TIDY_ROUNDS):
        if not landing.refusal:
            await anyio.sleep(TIDY_S)
        view = await live.look()
        situation = view.situation
        steps = forgotten_move(situation) if landing.refusal else tidying_steps(situation)
        if not steps:
            return
        await live.carry_out(view, steps)
