"""Configs of the services beside the replicas: immutable, named by digest, removed once unused."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.planning.configs import made_or_told, remove_unused
from queenright.core.planning.plan import Hold


def plan_configs(state: AppState) -> Iterator[AnyAction | Hold]:
    desired, swarm = state.desired, state.swarm
    for config in desired.configs:
        if step := made_or_told(swarm, config):
            yield step
    kept = {config.name for config in (*desired.configs, desired.state_config)}
    yield from remove_unused(swarm, state.configs, kept)
