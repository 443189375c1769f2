"""Configs of the services beside the replicas: immutable, named by digest, removed once unused."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.app.situation import AppSituation
from queenright.core.config_objects import made_or_told, remove_unused
from queenright.core.plan import Hold


def plan_configs(situation: AppSituation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    for config in desired.configs:
        if step := made_or_told(swarm, config):
            yield step
    kept = {config.name for config in (*desired.configs, desired.anchor)}
    yield from remove_unused(swarm, situation.configs, kept)
