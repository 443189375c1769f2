"""Configs are immutable and named by digest: made when missing, removed once nothing needs them.

What both kinds' rules for configs share; whose configs they are, and which to keep, they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from queenright.core.actions import CreateConfig, RemoveConfig
from queenright.core.observed import Live, SwarmState
from queenright.core.plan import Hold
from queenright.core.resources import Config


def made_or_told(swarm: SwarmState, config: Config) -> CreateConfig | Hold | None:
    """What a config takes that is not there, or has other content; None where it is as wanted."""
    live = swarm.config(config.name)
    if live is None:
        return CreateConfig(config, reason=f"config {config.name} is not in the swarm")
    if live.value.data != config.data:
        return Hold(
            f"config/{config.name}",
            f"config {config.name} has other content than its name says; rename or remove it",
            wants_attention=True,
        )
    return None


def remove_unused(
    swarm: SwarmState, owned: Iterable[Live[Config]], kept: Iterable[str]
) -> Iterator[RemoveConfig]:
    """Those of the owned that no service refers to, nor would after a rollback, but the kept."""
    used = set(kept)
    for service in swarm.services:
        used |= {reference.name for reference in service.value.configs}
        used |= service.previous_configs
    for live in owned:
        if live.value.name not in used:
            yield RemoveConfig(
                live.id, live.value.name, reason=f"no service uses config {live.value.name} now"
            )
