"""Create missing configs, label them anew and remove unused ones.

Configs are immutable but for their labels, and named by digest. Shared by the kinds; the callers
decide the labels, the owner and the configs to keep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from queenright.core.actions import CreateConfig, LabelConfig, RemoveConfig
from queenright.core.observed import Live, SwarmState
from queenright.core.planning.plan import Hold
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import Config


def made_or_told(swarm: SwarmState, config: Config) -> CreateConfig | Hold | None:
    """Return the action for a missing config, a hold for other content, or None if it is right."""
    live = swarm.config(config.name)
    if live is None:
        return CreateConfig(config, reason=f"config {config.name} is not in the swarm")
    if live.value.data != config.data:
        return Hold(
            f"config/{config.name}",
            f"config {config.name}: has other content than its name says; rename or remove it",
            wants_attention=True,
        )
    return None


def relabelled(live: Live[Config], labels: Mapping[str, str], reason: str) -> LabelConfig:
    """Return the action that gives a config these labels in place of all that it has."""
    wanted = replace(live.value, labels=labels)
    changes = diff(wanted, live.value)
    return LabelConfig(live.id, live.version, wanted, reason=reason, changes=changes)


def remove_unused(
    swarm: SwarmState, owned: Iterable[Live[Config]], kept: Iterable[str]
) -> Iterator[RemoveConfig]:
    """Yield removals of owned configs that no service uses, nor would use after a rollback."""
    named = set(kept)
    used = swarm.index.configs_to_keep
    for live in owned:
        if live.value.name not in named and live.value.name not in used:
            yield RemoveConfig(
                live.id, live.value.name, reason=f"no service uses config {live.value.name} now"
            )
