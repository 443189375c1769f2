"""Rule for configs: immutable and named by digest, so a change is a new config.

Also writes the state config, whose labels hold what can't be derived from the swarm: the deletion
policy of the manifest, and whether the cluster was healthy once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.annotations import with_annotations
from queenright.core.kinds.postgres_cluster.backup.note import with_backup_note
from queenright.core.kinds.postgres_cluster.backup.request import with_backup_request
from queenright.core.kinds.postgres_cluster.backup.run import due_note as due_backup_note
from queenright.core.kinds.postgres_cluster.backup.run import requested
from queenright.core.kinds.postgres_cluster.databases.annotations import due_note, with_catalog_note
from queenright.core.kinds.postgres_cluster.drill.note import REQUEST_LABEL, with_drill_note
from queenright.core.kinds.postgres_cluster.drill.run import drill_requested, due_drill_note
from queenright.core.kinds.postgres_cluster.in_place.decision import with_noted_request
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.decision import decide_leader
from queenright.core.kinds.postgres_cluster.topology.noting import without_voters
from queenright.core.kinds.postgres_cluster.topology.replacing import (
    decide_replacement,
    why_noted,
    with_replacements,
)
from queenright.core.planning.configs import made_or_told, relabelled, remove_unused
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, CLUSTER_LABEL, RETIRING_LABEL


def plan_configs(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired, swarm = state.desired, state.swarm
    if any(swarm.secret(secret.name) is None for secret in desired.secrets):
        return
    for config in desired.configs:
        if step := made_or_told(swarm, config):
            yield step
        elif live := swarm.config(config.name):
            labels = {**live.value.labels, **config.labels}
            labels.pop(RETIRING_LABEL, None)
            if config == desired.state_config:
                labels = with_notes(state, labels)
            if labels != live.value.labels:
                told = f"the operator's annotations in config {config.name} change"
                yield relabelled(live, labels, why_noted(state) or told)
    yield from remove_outdated(state)


def with_notes(state: ClusterState, labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of the state config, with the annotations as they should be from now on."""
    whole = next(state.unwell(), None) is None
    kept = {**labels, BOOTSTRAPPED_LABEL: "true"} if whole else labels
    note = due_note(state.desired.catalog, state.catalog, state.catalog_note)
    kept = with_replacements(kept, decide_replacement(state).notes)
    kept = noted_drill(state, noted_backup(state, without_voters(state, kept)))
    kept = with_noted_request(state, kept)
    return with_catalog_note(with_annotations(kept, decide_leader(state).annotations), note)


def noted_backup(state: ClusterState, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels with a base backup that has ended; one that can't be read stays until then. A
    request goes with the backup that answers it, or when it is too old."""
    note = due_backup_note(state)
    kept = dict(labels) if note == state.backup_note else with_backup_note(labels, note)
    return kept if requested(state) is not None else with_backup_request(kept, None)


def noted_drill(state: ClusterState, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels with a drill that has ended; one that can't be read stays until then. A request
    goes with the drill that answers it, or when it is too old."""
    note = due_drill_note(state)
    kept = dict(labels) if note == state.drill_note else with_drill_note(labels, note)
    is_open = drill_requested(state) is not None
    return kept if is_open else with_backup_request(kept, None, REQUEST_LABEL)


def remove_outdated(state: ClusterState) -> Iterator[AnyAction]:
    """Configs of ours that no service refers to, nor would after a rollback."""
    desired, swarm = state.desired, state.swarm
    if not all(swarm.service(service.name) for service in desired.services):
        return
    owned = swarm.index.configs_labelled(CLUSTER_LABEL, desired.name)
    yield from remove_unused(swarm, owned, (config.name for config in desired.configs))
