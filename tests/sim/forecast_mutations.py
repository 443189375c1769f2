"""Models made worse on purpose, each of which the judge of forecasts has to catch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from queenright.core.actions import AnyAction, RestartPostgres, Switchover, UpdateService
from queenright.core.forecast.effects import after
from queenright.core.forecast.model import Effect
from queenright.core.forecast.tasks import Change
from queenright.core.kinds.kind import Desired
from queenright.core.observed import Known, Observed
from queenright.core.planning.faults import DocumentKey
from tests.support.builders import manifest

Wanted = Mapping[DocumentKey, Desired]


def forget_disruption(
    action: AnyAction, observed: Observed, desired: Wanted, change: Change
) -> Observed:
    """An updated service disrupts its member: here its PostgreSQL goes on as it was, with the
    parameters that wait for a restart."""
    found = after(action, observed, desired, change)
    if not isinstance(action, UpdateService) or action.service.name not in observed.members:
        return found
    name = action.service.name
    return replace(found, members={**found.members, name: observed.members[name]})


def forget_demotion(
    action: AnyAction, observed: Observed, desired: Wanted, change: Change
) -> Observed:
    """A leader that hands over restarts PostgreSQL: here it goes on waiting for a restart."""
    found = after(action, observed, desired, change)
    if not isinstance(action, Switchover):
        return found
    former = f"{action.cluster}_{action.leader}"
    before, now = observed.members[former], found.members[former]
    assert isinstance(before, Known)
    assert isinstance(now, Known)
    waits = replace(
        now.value,
        pending_restart=before.value.pending_restart,
        pending_changes=before.value.pending_changes,
    )
    return replace(found, members={**found.members, former: Known(waits)})


def forget_leader(
    action: AnyAction, observed: Observed, desired: Wanted, change: Change
) -> Observed:
    """A switchover moves the lead: here nobody leads after it."""
    found = after(action, observed, desired, change)
    if not isinstance(action, Switchover):
        return found
    members = {
        name: Known(replace(one.value, holds_lock=False)) if isinstance(one, Known) else one
        for name, one in found.members.items()
    }
    return replace(found, members=members)


def forget_restarts(
    action: AnyAction, observed: Observed, desired: Wanted, change: Change
) -> Observed:
    """A restart of PostgreSQL applies what waits for it: here it does nothing."""
    if isinstance(action, RestartPostgres):
        return observed
    return after(action, observed, desired, change)


@dataclass(frozen=True)
class ForecastMutation:
    """A model made worse, and the edit of ``before`` whose forecast shows it."""

    name: str
    effect: Effect
    text: str
    before: str = manifest()


GRACE = manifest(stopGracePeriod="90s")
CONNECTIONS = manifest(postgresql="{parameters: {max_connections: 300}}")
BOTH = manifest(postgresql="{parameters: {max_connections: 300}}", stopGracePeriod="90s")
MUTATIONS = (
    ForecastMutation("an updated service disrupts nobody", forget_disruption, BOTH),
    ForecastMutation("a demoted leader is not restarted", forget_demotion, CONNECTIONS),
    ForecastMutation("a switchover moves no lead", forget_leader, GRACE),
    ForecastMutation("a restart applies nothing", forget_restarts, CONNECTIONS),
)
