"""Configs: immutable and named by digest, so a change is a new one and the old is removed later.

Also keeps the anchor, a config whose labels hold what can't be derived from the swarm: the
deletion policy that the owner wrote, and whether the cluster was whole once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from queenright.core.actions import Action, LabelConfig
from queenright.core.catalog_notes import due_note, with_catalog_note
from queenright.core.config_objects import made_or_told, remove_unused
from queenright.core.diff import diff
from queenright.core.leadership import lead
from queenright.core.notes import noted
from queenright.core.plan import Hold
from queenright.core.resources import BOOTSTRAPPED_LABEL, CLUSTER_LABEL, RETIRING_LABEL
from queenright.core.situation import Situation


def plan_configs(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    if any(swarm.secret(secret.name) is None for secret in desired.secrets):
        return
    for config in desired.configs:
        if step := made_or_told(swarm, config):
            yield step
        elif live := swarm.config(config.name):
            labels = {**live.value.labels, **config.labels}
            labels.pop(RETIRING_LABEL, None)
            if config == desired.anchor:
                labels = with_notes(situation, labels)
            wanted = replace(live.value, labels=labels)
            if changes := diff(wanted, live.value):
                yield LabelConfig(
                    live.id,
                    live.version,
                    wanted,
                    reason=f"the labels of config {config.name} are the operator's notes",
                    changes=changes,
                )
    yield from remove_outdated(situation)


def with_notes(situation: Situation, labels: Mapping[str, str]) -> dict[str, str]:
    """The anchor's labels with the notes as they should be from now on."""
    whole = next(situation.unwell(), None) is None
    kept = {**labels, BOOTSTRAPPED_LABEL: "true"} if whole else labels
    note = due_note(situation.desired.catalog, situation.catalog, situation.catalog_note)
    return with_catalog_note(noted(kept, lead(situation).notes), note)


def remove_outdated(situation: Situation) -> Iterator[Action]:
    """Configs of ours that no service refers to, nor would after a rollback."""
    desired, swarm = situation.desired, situation.swarm
    if not all(swarm.service(service.name) for service in desired.services):
        return
    owned = [live for live in swarm.configs if live.value.labels.get(CLUSTER_LABEL) == desired.name]
    yield from remove_unused(swarm, owned, (config.name for config in desired.configs))
