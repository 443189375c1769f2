"""A plan in full, for whoever has to find out why a release would change something.

Configs are named by their digests, so a step that creates one is shown with the lines that
differ from the one that it stands for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateConfig, PatchSettings
from queenright.core.observed import Known, Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Config


def told(plan: Plan, observed: Observed) -> str:
    """Steps with each field that differs, then holds."""
    lines = [line for action in plan.actions for line in told_action(action, observed)]
    lines += [f"hold {hold.key}: {hold.reason}" for hold in plan.holds]
    return "\n".join(lines)


def told_action(action: AnyAction, observed: Observed) -> Iterator[str]:
    yield f"{action.key}: {action.reason}" + (f" (disrupts {d})" if (d := action.disrupts) else "")
    for change in action.changes:
        yield f"    {change.path}: {change.old} -> {change.new}"
    match action:
        case CreateConfig():
            yield from (f"    {line}" for line in config_lines(action.config, observed))
        case PatchSettings():
            yield f"    {dict(action.expected)} -> {dict(action.patch)}"
        case _:
            pass


def config_lines(config: Config, observed: Observed) -> list[str]:
    """The lines that differ from the config that is there by the same name but for the digest; of
    several, from the most like it."""
    family = config.name.rpartition("-")[0]
    live = observed.swarm.value.configs if isinstance(observed.swarm, Known) else ()
    others = [other.value for other in live if other.value.name.rpartition("-")[0] == family]
    return min((differing(other, config) for other in others), key=len, default=[])


def differing(old: Config, new: Config) -> list[str]:
    before, after = (config.data.decode().splitlines() for config in (old, new))
    return list(difflib.unified_diff(before, after, old.name, new.name, lineterm="", n=0))
