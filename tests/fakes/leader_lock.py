"""The leader lock: who holds it, keeps it, hands it over, and who takes it when it is free."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from queenright.core.spec.postgres_cluster import PREFERRED_PRIORITY
from tests.fakes.consensus import Consensus, MoveRequest, merged
from tests.fakes.instances import RUNNING, Instance

if TYPE_CHECKING:
    from tests.fakes.patroni_model import PatroniModel

BOOTSTRAP_S = 4.0


@cache
def parsed(template: bytes) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(template)
    return found


def elect(model: PatroniModel, agreed: Consensus, able: list[Instance]) -> None:
    if not able:
        return
    for patch in agreed.late_patches:
        agreed.change(patch, by_operator=True)
    agreed.late_patches = []
    if not agreed.initialized_by:
        preferred = [i for i in able if i.priority == PREFERRED_PRIORITY]
        if preferred:
            agreed.initialized_by, agreed.initialized_at_s = preferred[0].name, model.now_s
    elif agreed.timeline == 0:
        bootstrap(model, agreed, able)
    else:
        holder = next((i for i in able if i.name == agreed.leader), None)
        if model.now_s < agreed.lock_until_s:
            if holder is not None:
                lead(model, agreed, holder, able)
        elif holder is not None and holder.is_primary:
            renew(model, agreed, holder)
        else:
            race(model, agreed, able)


def renew(model: PatroniModel, agreed: Consensus, holder: Instance) -> None:
    agreed.lock_until_s = model.now_s + agreed.setting("ttl")
    agreed.last_location = holder.volume.location
    agreed.race_at_s = 0.0


def lead(model: PatroniModel, agreed: Consensus, holder: Instance, able: list[Instance]) -> None:
    """The round of the one who holds the lock."""
    if holder.is_primary:
        renew(model, agreed, holder)
        request = agreed.request
        if request is not None and model.now_s >= request.due_s:
            agreed.request = None
            hand_over(model, agreed, holder, able, request)
    elif holder.is_hopeless:
        model.release(agreed)
    elif holder.state == RUNNING:
        promote(model, agreed, holder)


def hand_over(
    model: PatroniModel,
    agreed: Consensus,
    holder: Instance,
    able: list[Instance],
    request: MoveRequest,
) -> None:
    """A graceful switchover: the leader stops, and whoever follows has all of its WAL."""
    ready = [i for i in able if i is not holder and i.is_streaming]
    chosen = next((i for i in ready if i.name == request.candidate), None)
    lag = holder.volume.location - chosen.volume.location if chosen else 0
    if (
        chosen is None
        or request.is_vain
        or request.leader not in {"", holder.name}
        or lag > agreed.setting("maximum_lag_on_failover")
    ):
        return
    others = [i for i in ready if i is not chosen]
    if others and model.rng.random() < model.other_wins:
        chosen = others[0]
    change_over(model, agreed, holder, chosen)
    agreed.planned_by_operator = request.by_operator


def change_over(
    model: PatroniModel, agreed: Consensus, former: Instance | None, chosen: Instance
) -> None:
    if former is not None:
        chosen.volume.location = former.volume.location
        former.start("replica", model.now_s + 2.0)
    promote(model, agreed, chosen)


def race(model: PatroniModel, agreed: Consensus, able: list[Instance]) -> None:
    """The lock is free."""
    if not agreed.race_at_s:
        agreed.race_at_s = model.now_s + model.rng.uniform(0.0, 3.0)
    if model.now_s < agreed.race_at_s:
        return
    if agreed.paused:
        request = agreed.request
        chosen = next((i for i in able if request and i.name == request.candidate), None)
        if chosen is not None and chosen.state == RUNNING:
            agreed.request = None
            promote(model, agreed, chosen)
        return
    least = agreed.last_location - agreed.setting("maximum_lag_on_failover")
    fit = [
        i
        for i in able
        if i.state == RUNNING
        and not i.volume.is_empty
        and not i.volume.is_broken
        and i.volume.location >= least
        and not agreed.timelines.has_diverged(i.volume, agreed.timeline)
    ]
    if fit:
        best = max(fit, key=lambda i: (i.volume.location, i.priority, i.name))
        promote(model, agreed, best)


def bootstrap(model: PatroniModel, agreed: Consensus, able: list[Instance]) -> None:
    first = next((i for i in able if i.name == agreed.initialized_by), None)
    if first is None:
        agreed.initialized_by = ""
    elif model.now_s - agreed.initialized_at_s >= BOOTSTRAP_S:
        first.volume.secrets, first.volume.location = model.secrets_of(first), 1000
        agreed.settings = merged(written_settings(model, first), agreed.settings)
        first.settings = agreed.settings
        promote(model, agreed, first)


def written_settings(model: PatroniModel, instance: Instance) -> dict[str, Any]:
    """The template's section that is read once in a cluster's life."""
    for reference in instance.task.template.configs:
        config = model.orchestrator.store.configs.get(reference.name)
        written = parsed(config.value.data) if config else {}
        if "bootstrap" in written:
            found: dict[str, Any] = written["bootstrap"]["dcs"]
            return found
    return {}


def promote(model: PatroniModel, agreed: Consensus, chosen: Instance) -> None:
    agreed.leader = chosen.name
    agreed.timeline += 1
    model.story.append((model.now_s, f"{chosen.name} leads on timeline {agreed.timeline}"))
    agreed.changed_at_s = model.now_s
    agreed.planned_by_operator = False
    agreed.timelines.begin(agreed.timeline, chosen.volume.location)
    chosen.volume.timeline = agreed.timeline
    chosen.took_over()
    renew(model, agreed, chosen)
