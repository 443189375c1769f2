"""Application without a document: kept, unless its last one had ``deletionPolicy: remove``.

Decides from the labels on the swarm's objects alone. Invariant: its database, its dumps and its
secrets are never removed, and the reasons name those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, RemoveConfig, RemoveNetwork, RemoveService
from queenright.core.kinds.notes_app.desired.app import state_config_name
from queenright.core.observed import LiveService, SwarmState
from queenright.core.planning.deletion import (
    REMOVE,
    Absence,
    ClaimedLabels,
    owners,
    remove_labels,
    waiting_step,
)
from queenright.core.planning.plan import Hold
from queenright.core.swarm.objects import (
    APP_LABEL,
    DELETION_POLICY_LABEL,
    NODE_LABELS_LABEL,
    ROLE_LABEL,
)


def owned_apps(swarm: SwarmState) -> frozenset[str]:
    """The applications that have a service or a config of ours in the swarm."""
    return owners(APP_LABEL, swarm)


def plan_app_retirement(
    app: str, swarm: SwarmState, absence: Absence, claimed: ClaimedLabels
) -> Iterator[AnyAction | Hold]:
    """Steps for an application without a document: services, the rest, the state config.

    ``claimed`` are the nodes and label keys that documents use.
    """
    state_config = swarm.config(state_config_name(app))
    policy = state_config.value.labels.get(DELETION_POLICY_LABEL, "") if state_config else ""
    if policy != REMOVE:
        yield Hold(
            f"retire/{app}",
            f"application {app}: is in the swarm, but no file describes it, so it is kept as it "
            "is; write its document again, or, to remove the application, write it with "
            "spec.deletionPolicy: remove, and then delete it",
            wants_attention=True,
        )
        return
    what = f"application {app}"
    if state_config is not None and (waiting := waiting_step(app, state_config, absence, what)):
        yield waiting
        return
    services = [*swarm.index.services_labelled(APP_LABEL, app)]
    if services:
        yield from remove_services(app, services)
        return
    keys = state_config.value.labels.get(NODE_LABELS_LABEL, "") if state_config else ""
    yield from remove_labels(keys, swarm, claimed)
    for network in swarm.index.networks_labelled(APP_LABEL, app):
        yield RemoveNetwork(network.id, network.value.name, reason=retired(app))
    configs = swarm.index.configs_labelled(APP_LABEL, app)
    for config in sorted(configs, key=lambda live: live is state_config):
        yield RemoveConfig(config.id, config.value.name, reason=retired(app))


def remove_services(app: str, services: list[LiveService]) -> Iterator[AnyAction]:
    """The edge first, so that no client is sent to a replica that goes."""
    for live in sorted(
        services, key=lambda live: (live.value.labels.get(ROLE_LABEL) == "web", live.value.name)
    ):
        volumes = [mount.source for mount in live.value.mounts if mount.kind == "volume"]
        stay = [f"volume {name}" for name in volumes]
        stay += [f"secret {reference.name}" for reference in live.value.secrets]
        kept = f"; these stay: {', '.join(stay)}, and its database" if stay else ""
        yield RemoveService(live.id, live.value.name, reason=retired(app) + kept)


def retired(app: str) -> str:
    return f"the document of application {app} is gone, and its deletionPolicy was remove"
