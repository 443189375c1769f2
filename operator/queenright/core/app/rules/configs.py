"""Configs of the services beside the replicas: immutable, named by digest, removed once unused."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateConfig, RemoveConfig
from queenright.core.app.situation import AppSituation
from queenright.core.plan import Hold


def plan_configs(situation: AppSituation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    for config in desired.configs:
        live = swarm.config(config.name)
        if live is None:
            yield CreateConfig(config, reason=f"config {config.name} is not in the swarm")
        elif live.value.data != config.data:
            yield Hold(
                f"config/{config.name}",
                f"config {config.name} has other content than its name says; rename or remove it",
                wants_attention=True,
            )
    used = {config.name for config in (*desired.configs, desired.anchor)}
    for service in swarm.services:
        used |= {reference.name for reference in service.value.configs}
        used |= service.previous_configs
    for live in situation.configs:
        if live.value.name not in used:
            yield RemoveConfig(
                live.id, live.value.name, reason=f"no service uses config {live.value.name} now"
            )
