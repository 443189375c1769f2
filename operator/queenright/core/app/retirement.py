"""An application whose document is gone: kept, until its owner had said ``deletionPolicy: remove``.

Decides from the labels on the swarm's objects alone. Invariant: its database, its dumps and its
secrets are never removed, and the reasons name those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from queenright.core.actions import Action, RemoveConfig, RemoveNetwork, RemoveService
from queenright.core.observed import LiveService, SwarmState
from queenright.core.plan import Hold
from queenright.core.resources import (
    APP_LABEL,
    DELETION_POLICY_LABEL,
    NODE_LABELS_LABEL,
    ROLE_LABEL,
)
from queenright.core.retirement import REMOVE, remove_labels, waiting_step


def owned_apps(swarm: SwarmState) -> frozenset[str]:
    """The applications that have a service or a config of ours in the swarm."""
    labels = [live.value.labels for live in swarm.services]
    labels += [live.value.labels for live in swarm.configs]
    return frozenset(name for found in labels if (name := found.get(APP_LABEL)))


def anchor_name(app: str) -> str:
    return f"{app}_application"


def plan_app_retirement(
    app: str, swarm: SwarmState, now: datetime, claimed: frozenset[tuple[str, str]]
) -> Iterator[Action | Hold]:
    """The next steps for an application without a document: services, then the rest, then the
    anchor. ``claimed`` are the nodes and label keys that documents want."""
    anchor = swarm.config(anchor_name(app))
    policy = anchor.value.labels.get(DELETION_POLICY_LABEL, "") if anchor else ""
    if policy != REMOVE:
        yield Hold(
            f"retire/{app}",
            f"application {app} is in the swarm, but no file describes it: it is kept as it is. "
            "Give its document back, or, to remove it, give it back with spec.deletionPolicy: "
            "remove, and then remove it again",
            wants_attention=True,
        )
        return
    what = f"application {app}"
    if anchor is not None and (waiting := waiting_step(app, anchor, now, what)):
        yield waiting
        return
    services = [live for live in swarm.services if live.value.labels.get(APP_LABEL) == app]
    if services:
        yield from remove_services(app, services)
        return
    keys = anchor.value.labels.get(NODE_LABELS_LABEL, "") if anchor else ""
    yield from remove_labels(keys, swarm, claimed)
    for network in swarm.networks:
        if network.value.labels.get(APP_LABEL) == app:
            yield RemoveNetwork(network.id, network.value.name, reason=retired(app))
    configs = [live for live in swarm.configs if live.value.labels.get(APP_LABEL) == app]
    for config in sorted(configs, key=lambda live: live is anchor):
        yield RemoveConfig(config.id, config.value.name, reason=retired(app))


def remove_services(app: str, services: list[LiveService]) -> Iterator[Action]:
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
