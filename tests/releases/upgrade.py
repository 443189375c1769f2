"""Effects of a plan's steps on swarm and Patroni, to follow an upgrade to its end.

Only the steps that an upgrade may take are known: anything else is a TypeError. Invariant: as in
swarm, a written object has a new version, and a config in use exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    CreateConfig,
    LabelConfig,
    PatchSettings,
    RemoveConfig,
    UpdateService,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Live, LiveService, Observed, SwarmState
from queenright.core.planning.plan import Plan
from tests.fakes.consensus import agrees, merged
from tests.fakes.service_templates import adjusted_service
from tests.support.plans import make_plan

Item = TypeVar("Item", bound=Live[object])
PASS = timedelta(minutes=1)
MOST_PASSES = 20


def followed(document: Document, observed: Observed, now: datetime) -> Iterator[Plan]:
    """The plans from here on, each carried out in full, until one is empty; that one too."""
    for _ in range(MOST_PASSES):
        plan = make_plan(document, observed, now).plan
        assert first_refusal(plan, observed) is None
        yield plan
        if not plan.actions:
            return
        for action in plan.actions:
            observed = after(action, observed, now)
        now += PASS
    raise AssertionError(f"the upgrade does not end within {MOST_PASSES} passes")


def after(action: AnyAction, observed: Observed, now: datetime) -> Observed:
    """The world with a step's effect."""
    if isinstance(action, PatchSettings):
        return patched(action, observed)
    assert isinstance(observed.swarm, Known)
    return replace(observed, swarm=Known(written(action, observed.swarm.value, now)))


def patched(action: PatchSettings, observed: Observed) -> Observed:
    present = observed.settings[action.cluster]
    assert isinstance(present, Known)
    assert agrees(present.value, action.expected), action.expected
    kept = merged(present.value, action.patch)
    return replace(observed, settings={**observed.settings, action.cluster: Known(kept)})


def written(action: AnyAction, swarm: SwarmState, now: datetime) -> SwarmState:
    match action:
        case CreateConfig(config=config):
            made = Live(f"id-{config.name}", 1, config)
            return replace(swarm, configs=(*swarm.configs, made))
        case LabelConfig(id=key, version=version, config=config):
            configs = (
                replace(live, version=version + 1, value=config) if live.id == key else live
                for live in swarm.configs
            )
            return replace(swarm, configs=tuple(configs))
        case RemoveConfig(id=key):
            return replace(swarm, configs=tuple(c for c in swarm.configs if c.id != key))
        case UpdateService() | AdjustService():
            services = (
                updated(live, action, now) if live.id == action.id else live
                for live in swarm.services
            )
            return replace(swarm, services=tuple(services))
        case _:
            raise TypeError(f"not a step of an upgrade: {action.key}")


def updated(live: LiveService, action: UpdateService | AdjustService, now: datetime) -> LiveService:
    value = action.service
    if isinstance(action, AdjustService):
        value = adjusted_service(live.value, value)
    return replace(
        live,
        version=live.version + 1,
        value=value,
        updated_at=now,
        update_state="completed",
        previous_configs=frozenset(reference.name for reference in live.value.configs),
    )
