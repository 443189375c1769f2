"""Full effects of the actions on swarm's own objects and tasks.

Pure: from one reading of the swarm to the next. Members and replicas follow their tasks
(``members``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from queenright.core.actions import (
    AdjustService,
    AnySwarmAction,
    CreateConfig,
    CreateNetwork,
    CreateSecret,
    CreateService,
    CreateUrlSecret,
    LabelConfig,
    LabelNode,
    NoteMembers,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.forecast.tasks import Change, services_placed_by, with_tasks
from queenright.core.observed import Live, LiveService, Node, SwarmState
from queenright.core.swarm.objects import Config, Service


def swarm_after(
    action: AnySwarmAction | CreateUrlSecret, swarm: SwarmState, change: Change
) -> SwarmState:
    """Return the swarm after an action on it."""
    match action:
        case LabelNode():
            return labelled(action, swarm, change)
        case CreateNetwork(network=network):
            made = Live(new_id(network.name, change), change.number, network)
            return replace(swarm, networks=(*swarm.networks, made))
        case RemoveNetwork(id=gone):
            return replace(swarm, networks=tuple(n for n in swarm.networks if n.id != gone))
        case CreateSecret(secret=secret) | CreateUrlSecret(secret=secret):
            created = Live(new_id(secret.name, change), change.number, secret)
            return replace(swarm, secrets=(*swarm.secrets, created))
        case CreateConfig(config=config):
            written = Live(new_id(config.name, change), change.number, config)
            return replace(swarm, configs=(*swarm.configs, written))
        case LabelConfig(id=of, config=config) | NoteMembers(id=of, config=config):
            return replace(swarm, configs=with_config(swarm, of, config))
        case RemoveConfig(id=gone):
            return replace(swarm, configs=tuple(c for c in swarm.configs if c.id != gone))
        case CreateService() | UpdateService() | AdjustService() | RestartService():
            return with_service(action, swarm, change)
        case RemoveService(id=gone):
            services = tuple(live for live in swarm.services if live.id != gone)
            tasks = tuple(task for task in swarm.tasks if task.service_id != gone)
            return replace(swarm, services=services, tasks=tasks)
        case _:
            assert_never(action)


def new_id(name: str, change: Change) -> str:
    return f"{name}@{change.number}"


def labelled(action: LabelNode, swarm: SwarmState, change: Change) -> SwarmState:
    """Return the swarm with a node's other labels; tasks go and come where they place them."""

    def relabelled(node: Node) -> Node:
        merged = {**node.labels, **action.labels}
        labels = {key: value for key, value in merged.items() if value is not None}
        return replace(node, labels=labels, version=change.number)

    found = tuple(relabelled(n) if n.id == action.node_id else n for n in swarm.nodes)
    swarm = replace(swarm, nodes=found)
    for live in services_placed_by(swarm, action.labels):
        swarm = with_tasks(swarm, live, change)
    return swarm


def with_config(swarm: SwarmState, of: str, config: Config) -> tuple[Live[Config], ...]:
    return tuple(
        Live(live.id, live.version + 1, config) if live.id == of else live for live in swarm.configs
    )


def with_service(
    action: CreateService | UpdateService | AdjustService | RestartService,
    swarm: SwarmState,
    change: Change,
) -> SwarmState:
    """Return the swarm with a service as it was written, and its tasks."""
    if isinstance(action, CreateService):
        made = LiveService(
            new_id(action.service.name, change), change.number, action.service, change.at, change.at
        )
        return with_tasks(replace(swarm, services=(*swarm.services, made)), made, change)
    former = next((live for live in swarm.services if live.id == action.id), None)
    if former is None:
        return swarm
    anew = not isinstance(action, AdjustService)
    live = replace(
        former,
        version=former.version + 1,
        value=adjusted(former.value, action.service) if not anew else action.service,
        updated_at=change.at,
        force_update=former.force_update if not anew else action_force(action, former),
        update_state="completed" if anew else "",
        update_message="",
        previous_configs=frozenset(item.name for item in former.value.configs),
    )
    services = tuple(live if one.id == live.id else one for one in swarm.services)
    return with_tasks(replace(swarm, services=services), live, change, anew=anew)


def action_force(
    action: UpdateService | AdjustService | RestartService, former: LiveService
) -> int:
    return former.force_update if isinstance(action, AdjustService) else action.force_update


def adjusted(present: Service, wanted: Service) -> Service:
    """Return a service with those fields of another that replace no task."""
    return replace(
        present,
        labels=wanted.labels,
        replicas=wanted.replicas,
        update=wanted.update,
        rollback=wanted.rollback,
    )
