"""Carries out a plan: each action is recorded, tried, and its outcome recorded.

Invariant: after a disturbing action, a conflict or a failure, or on an observation that is no
longer fresh, nothing more of the plan is tried; the next pass observes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

import anyio

from queenright.core.actions import (
    Action,
    AdjustService,
    AlterDatabase,
    AlterRole,
    CreateConfig,
    CreateDatabase,
    CreateExtension,
    CreateNetwork,
    CreateRole,
    CreateSecret,
    CreateService,
    CreateUrlSecret,
    FailOver,
    LabelConfig,
    LabelNode,
    PatchSettings,
    PatroniAction,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartPostgres,
    RestartService,
    SwarmAction,
    SwitchOver,
    UpdateService,
)
from queenright.core.audit import Conflict, Done, Failed, Outcome, Trigger
from queenright.core.plan import Plan
from queenright.engine.catalogs import perform_over_sql
from queenright.engine.world import Ports
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.patroni import Password
from queenright.ports.swarm import Swarm

FRESH_S = 5.0
"""How old an observation may be, from when it began, when an action rests on it: another action, of
this cluster or of another one, may have taken a minute since."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a plan: the actions that were tried, each with its outcome."""

    tried: tuple[tuple[Action, Outcome], ...] = field(default=())

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(
            f"{action.key}: {outcome.error}"
            for action, outcome in self.tried
            if not isinstance(outcome, Done)
        )


async def execute(
    ports: Ports,
    plan: Plan,
    trigger: Trigger,
    is_stopping: Callable[[], bool],
    seen_at_s: float | None = None,
    *,
    fresh_s: float = FRESH_S,
) -> Result:
    """Try the plan's actions in order; stop early, between two of them, when asked to or when what
    was observed at ``seen_at_s`` is older than ``fresh_s``."""
    tried: list[tuple[Action, Outcome]] = []
    for action in plan.actions:
        if is_stopping() or (seen_at_s is not None and is_stale(seen_at_s, fresh_s)):
            break
        ports.audit.intent(plan, trigger, action)
        began = anyio.current_time()
        outcome = await attempt(ports, action)
        duration_ms = (anyio.current_time() - began) * 1000
        ports.audit.outcome(plan, trigger, action, outcome, duration_ms)
        tried.append((action, outcome))
        if action.disturbs or not isinstance(outcome, Done):
            break
    return Result(tuple(tried))


def is_stale(seen_at_s: float, fresh_s: float = FRESH_S) -> bool:
    """Whether an observation is too old to act on; the pass is followed by another."""
    return anyio.current_time() - seen_at_s > fresh_s


async def attempt(ports: Ports, action: Action) -> Outcome:
    try:
        await perform(ports, action)
    except ConflictError as error:
        return Conflict(str(error))
    except RejectedError as error:
        return Failed(str(error), transient=False)
    except UnavailableError as error:
        return Failed(str(error))
    return Done()


async def perform(ports: Ports, action: Action) -> None:
    """The port call for an action; a new action that is not handled fails type checking."""
    match action:
        case PatchSettings() | SwitchOver() | FailOver() | RestartPostgres():
            await perform_on_members(ports, action)
        case CreateRole() | AlterRole() | CreateDatabase() | AlterDatabase() | CreateExtension():
            await perform_over_sql(ports, action)
        case CreateUrlSecret(secret=secret, url=url, password_secret=password_secret):
            password = await ports.secrets.read_once(password_secret)
            await ports.swarm.create_secret(secret, Password(url.filled(password.value)))
        case _:
            await perform_on_swarm(ports.swarm, action)


async def perform_on_members(ports: Ports, action: PatroniAction) -> None:
    """A verb of the members' REST API, with its password where it has one."""
    patroni = ports.patroni
    password = await ports.secrets.read(action.secret) if action.secret else None
    match action:
        case PatchSettings(address=address, port=port, patch=patch, expected=expected):
            await patroni.patch_settings(address, port, patch, expected, password)
        case SwitchOver(address=address, port=port, leader=leader, candidate=candidate):
            await patroni.switch_over(address, port, leader, candidate, password)
        case FailOver(address=address, port=port, candidate=candidate):
            await patroni.fail_over(address, port, candidate, password)
        case RestartPostgres(address=address, port=port):
            await patroni.restart(address, port, password)
        case _:
            assert_never(action)


async def perform_on_swarm(swarm: Swarm, action: SwarmAction) -> None:
    match action:
        case LabelNode():
            await swarm.label_node(action)
        case CreateNetwork(network):
            await swarm.create_network(network)
        case RemoveNetwork(network_id):
            await swarm.remove_network(network_id)
        case CreateSecret(secret):
            await swarm.create_secret(secret)
        case CreateConfig(config):
            await swarm.create_config(config)
        case LabelConfig(config_id, version, config):
            await swarm.label_config(config_id, version, config)
        case RemoveConfig(config_id):
            await swarm.remove_config(config_id)
        case CreateService(service):
            await swarm.create_service(service)
        case UpdateService(service_id, version, service, force_update) | RestartService(
            service_id, version, service, force_update
        ):
            await swarm.update_service(service_id, version, service, force_update)
        case AdjustService(service_id, version, service):
            await swarm.adjust_service(service_id, version, service)
        case RemoveService(service_id):
            await swarm.remove_service(service_id)
        case _:
            assert_never(action)
