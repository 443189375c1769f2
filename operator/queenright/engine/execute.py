"""Execute a plan: record each action, try it, record its outcome.

Invariant: after a disruptive action, a conflict or a failure, or with an observation that is too
old, nothing more of the plan is tried; the next pass observes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

import anyio
import structlog

from queenright.core.actions import (
    AdjustService,
    AlterDatabase,
    AlterRole,
    AnyAction,
    AnyPatroniAction,
    AnyRaftAction,
    AnySwarmAction,
    CreateConfig,
    CreateDatabase,
    CreateExtension,
    CreateNetwork,
    CreateRole,
    CreateSecret,
    CreateService,
    CreateUrlSecret,
    Failover,
    LabelConfig,
    LabelNode,
    NoteMembers,
    PatchSettings,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartPostgres,
    RestartService,
    Switchover,
    UpdateService,
)
from queenright.core.audit.record import Conflict, Done, Failed, Outcome, Trigger
from queenright.core.planning.faults import fault_of
from queenright.core.planning.plan import Plan
from queenright.engine.execute_sql import perform_over_sql
from queenright.engine.tenure import ALWAYS, Permission
from queenright.ports import Ports
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.raft_membership import RaftMembership
from queenright.ports.secrets import Password, Secrets
from queenright.ports.swarm import Swarm

log = structlog.get_logger()

FRESH_S = 5.0
"""The greatest age of an observation, from its beginning, for an action that rests on it: an
earlier action, of any cluster, may have taken a minute."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a plan: the actions that were tried, each with its outcome."""

    tried: tuple[tuple[AnyAction, Outcome], ...] = field(default=())

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
    permission: Permission = ALWAYS,
) -> Result:
    """Try the plan's actions in order; stop between two of them when asked to, when the
    observation of ``seen_at_s`` is older than ``fresh_s``, or without ``permission``."""
    tried: list[tuple[AnyAction, Outcome]] = []
    for action in plan.actions:
        if not (await permission.confirmed() if is_unfenced(action) else permission.holds()):
            break
        if is_stopping() or (seen_at_s is not None and is_stale(seen_at_s, fresh_s)):
            break
        ports.audit.intent(plan, trigger, action)
        began = anyio.current_time()
        outcome = await attempt(ports, action, permission)
        duration_ms = (anyio.current_time() - began) * 1000
        ports.audit.outcome(plan, trigger, action, outcome, duration_ms)
        tried.append((action, outcome))
        if action.disrupts or not isinstance(outcome, Done):
            break
    return Result(tuple(tried))


def is_unfenced(action: AnyAction) -> bool:
    """Return True for an action that a swarm version does not stop when it comes too late for
    what another operator did meanwhile: the managers confirm the lease right before it."""
    return bool(action.disrupts) or not isinstance(action, AnySwarmAction)


def is_stale(seen_at_s: float, fresh_s: float = FRESH_S) -> bool:
    """Return True if an observation is too old to act on; another pass follows."""
    return anyio.current_time() - seen_at_s > fresh_s


def refuse_unpermitted(permission: Permission) -> None:
    if not permission.holds():
        raise UnavailableError("not sent: this operator does not have the lease any more")


@dataclass(frozen=True, slots=True)
class CheckedSecrets:
    """The secrets, for an action: reading one takes seconds, and the permission is asked after."""

    secrets: Secrets
    permission: Permission

    async def read(self, name: str, secret_id: str = "") -> Password:
        found = await self.secrets.read(name, secret_id)
        refuse_unpermitted(self.permission)
        return found

    async def read_once(self, name: str) -> Password:
        found = await self.secrets.read_once(name)
        refuse_unpermitted(self.permission)
        return found

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        return await self.secrets.matches(name, secret_id, verifier)

    async def aclose(self) -> None:
        await self.secrets.aclose()


async def attempt(ports: Ports, action: AnyAction, permission: Permission = ALWAYS) -> Outcome:
    try:
        refuse_unpermitted(permission)
        await perform(replace(ports, secrets=CheckedSecrets(ports.secrets, permission)), action)
    except ConflictError as error:
        return Conflict(str(error))
    except RejectedError as error:
        return Failed(str(error), transient=False)
    except UnavailableError as error:
        return Failed(str(error))
    except Exception as error:  # noqa: BLE001  # its outcome is recorded, and others go on
        return own_fault(action, error)
    return Done()


def own_fault(action: AnyAction, error: Exception) -> Failed:
    """Return the outcome of an action in which the operator itself failed; the log has the
    stack."""
    fault = fault_of(error)
    log.error("fault", action=action.key, broken=True, error=str(fault), debug=[*fault.way])
    return Failed(f"a fault in the operator ({fault}); the action may have taken effect")


async def perform(ports: Ports, action: AnyAction) -> None:
    """Call the port for an action; an action without a case fails type checking."""
    match action:
        case PatchSettings() | Switchover() | Failover() | RestartPostgres() | Reinitialize():
            await perform_on_members(ports, action)
        case RaftRemove() | RaftTransfer():
            await perform_on_raft(ports.raft, action)
        case CreateRole() | AlterRole() | CreateDatabase() | AlterDatabase() | CreateExtension():
            await perform_over_sql(ports, action)
        case CreateUrlSecret(secret=secret, url=url, password_secret=password_secret):
            password = await ports.secrets.read_once(password_secret)
            await ports.swarm.create_secret(secret, Password(url.filled(password.value)))
        case _:
            await perform_on_swarm(ports.swarm, action)


async def perform_on_members(ports: Ports, action: AnyPatroniAction) -> None:
    """Send a request to the members' REST API, with its password if it has one."""
    patroni = ports.patroni
    password = await ports.secrets.read(action.secret) if action.secret else None
    match action:
        case PatchSettings(address=address, port=port, patch=patch, expected=expected):
            await patroni.patch_settings(address, port, patch, expected, password)
        case Switchover(address=address, port=port, leader=leader, candidate=candidate):
            await patroni.switch_over(address, port, leader, candidate, password)
        case Failover(address=address, port=port, candidate=candidate):
            await patroni.fail_over(address, port, candidate, password)
        case RestartPostgres(address=address, port=port):
            await patroni.restart(address, port, password)
        case Reinitialize(address=address, port=port):
            await patroni.reinitialize(address, port, password)
        case _:
            assert_never(action)


async def perform_on_raft(raft: RaftMembership, action: AnyRaftAction) -> None:
    """Ask one Raft node for one change, once."""
    match action:
        case RaftRemove(address=address, port=port, voter=voter):
            await raft.remove(address, port, voter)
        case RaftTransfer(address=address, port=port, voter=voter):
            await raft.transfer(address, port, voter)
        case _:
            assert_never(action)


async def perform_on_swarm(swarm: Swarm, action: AnySwarmAction) -> None:
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
        case LabelConfig(config_id, version, config) | NoteMembers(config_id, version, config):
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
