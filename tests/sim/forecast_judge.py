"""Judge of forecasts: what the operator then did is what was forecast.

The comparison: each disrupting action that was done, by kind and target and as often as it was
done, is one of the forecast, and the other way round. Disrupting is what creates, updates, restarts
or removes a service, restarts PostgreSQL, moves the lead, begins a copy anew, or takes a vote; a
job's service is not, because it disrupts nobody. The order is not compared, and neither is who
takes the lead: of members that are equally good, Patroni's answers decide. Restarts of PostgreSQL
are not compared where a lowered parameter waits for the leader's restart (`leader-restart`): which
replica hears of it before the leader does is Patroni's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import anyio

from queenright.core.actions import (
    AnyAction,
    CreateService,
    Failover,
    RaftRemove,
    Reinitialize,
    RemoveService,
    RestartPostgres,
    RestartService,
    Switchover,
    UpdateService,
)
from queenright.core.audit.record import Done
from queenright.core.forecast.effects import after
from queenright.core.forecast.model import Effect
from queenright.core.forecast.way import Forecast, Way
from queenright.engine.planning import observe_and_plan
from tests.fakes.files import Ended
from tests.fakes.loading import judged
from tests.fakes.world import World
from tests.support.builders import FILE

DISTURBING = (
    CreateService,
    Failover,
    RaftRemove,
    Reinitialize,
    RemoveService,
    RestartPostgres,
    RestartService,
    Switchover,
    UpdateService,
)
JOBS = ("_dump", "_backup")
"""Parts of the names of jobs' services."""
QUIET_S = 100.0
"""The time without a change after which nothing more is done: longer than every rule waits that
does not name a moment."""
LONGEST_S = 3000.0


@dataclass(frozen=True)
class Forecasted:
    """The ways as they were forecast, and the number of records at that moment."""

    ways: tuple[Way, ...]
    known: int

    @property
    def actions(self) -> Iterator[AnyAction]:
        return (step.action for way in self.ways for step in way.actions)


async def forecast_of(
    world: World, effect: Effect = after, edited: Mapping[str, str] | None = None
) -> Forecasted:
    """Return the forecast of a command that looks once, now; ``edited`` are texts that are about to
    be written."""
    documents = judged({**world.manifests.files, **(edited or {})}).documents
    found = await observe_and_plan(world.ports, documents)
    stopped = {v.key: v.plan for v in found.views if v.document is not None and v.desired is None}
    now = world.clock.now()
    made = Forecast(documents, found.observed, now, stopped=stopped, effect=effect)
    return Forecasted(made.ways(), len(world.audit.records))


def disrupting(actions: Iterable[AnyAction]) -> Counter[str]:
    """Return the disrupting actions by their keys (kind and target)."""
    return Counter(
        action.key
        for action in actions
        if (isinstance(action, DISTURBING) or action.disrupts)
        and not any(part in action.key for part in JOBS)
    )


def done_since(world: World, forecasted: Forecasted) -> list[AnyAction]:
    """Return the actions that were done since the forecast."""
    return [
        record.action
        for record in world.audit.records[forecasted.known :]
        if isinstance(record, Ended) and isinstance(record.outcome, Done)
    ]


async def until_quiet(world: World, quiet_s: float = QUIET_S) -> bool:
    """Wait until nothing was changed for a while; False if it never ends."""
    began_s = since_s = world.now_s
    changes = world.changes
    while world.now_s - since_s < quiet_s:
        if world.now_s - began_s > LONGEST_S:
            return False
        await anyio.sleep(5)
        if world.changes != changes:
            changes, since_s = world.changes, world.now_s
    return True


def compare(world: World, forecasted: Forecasted, *, with_restarts: bool = True) -> Iterator[str]:
    """Yield where what was done differs from the forecast."""
    done, expected = disrupting(done_since(world, forecasted)), disrupting(forecasted.actions)
    holds = [hold.key for way in forecasted.ways for hold in way.stops]
    if not with_restarts or any(key.startswith("leader-restart/") for key in holds):
        for key in [*done, *expected]:
            if key.startswith("restart-postgres/"):
                done.pop(key, None)
                expected.pop(key, None)
    if missing := expected - done:
        yield f"forecast, and not done: {dict(missing)}"
    if more := done - expected:
        yield f"done, and not forecast: {dict(more)}"
    for way in forecasted.ways:
        if way.ends or way.refusal:
            yield f"the forecast of {way.key.name} ends: {way.ends or way.refusal}"


async def judged_edit(
    world: World, text: str, effect: Effect = after, file: str = FILE, *, with_restarts: bool = True
) -> list[str]:
    """Forecast an edit of a world at rest, write it, wait until nothing more is done; return where
    the forecast was wrong. Restarts of PostgreSQL alone are a race where an edit also updates the
    member, or moves the lead from it: it may have started again with the parameter by then."""
    forecasted = await forecast_of(world, effect, {file: text})
    world.manifests.write(file, text)
    await anyio.sleep(10)
    found = [] if await until_quiet(world) else ["the operator does not come to rest"]
    return [*found, *compare(world, forecasted, with_restarts=with_restarts)]
