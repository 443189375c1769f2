"""Carries out a plan: each action is recorded, tried, and its outcome recorded.

Invariant: after a disturbing action, a conflict or a failure nothing more of the plan is tried;
the next pass observes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

import anyio

from queenright.core.actions import (
    Action,
    AdjustService,
    CreateConfig,
    CreateNetwork,
    CreateSecret,
    CreateService,
    LabelConfig,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.audit import Conflict, Done, Failed, Outcome, Trigger
from queenright.core.plan import Plan
from queenright.engine.world import Ports
from queenright.ports.swarm import ConflictError, RejectedError, Swarm, UnavailableError


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
    ports: Ports, plan: Plan, trigger: Trigger, is_stopping: Callable[[], bool]
) -> Result:
    """Try the plan's actions in order; stop early when asked to, between two of them."""
    tried: list[tuple[Action, Outcome]] = []
    for action in plan.actions:
        if is_stopping():
            break
        ports.audit.intent(plan, trigger, action)
        began = anyio.current_time()
        outcome = await attempt(ports.swarm, action)
        duration_ms = (anyio.current_time() - began) * 1000
        ports.audit.outcome(plan, trigger, action, outcome, duration_ms)
        tried.append((action, outcome))
        if action.disturbs or not isinstance(outcome, Done):
            break
    return Result(tuple(tried))


async def attempt(swarm: Swarm, action: Action) -> Outcome:
    try:
        await perform(swarm, action)
    except ConflictError as error:
        return Conflict(str(error))
    except RejectedError as error:
        return Failed(str(error), transient=False)
    except UnavailableError as error:
        return Failed(str(error))
    return Done()


async def perform(swarm: Swarm, action: Action) -> None:
    """The port call for an action; a new action that is not handled fails type checking."""
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
