"""Observations with something otherwise than in ``builders.three_nodes()``.

Each function returns another observation; the one that it is given stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from queenright.core.kinds.postgres_cluster.annotations import NOTE_LABELS, read_annotations
from queenright.core.observed import (
    Known,
    Live,
    LiveService,
    MemberStatus,
    Observed,
    RaftStatus,
    Task,
    Unknown,
)
from tests.support.builders import MANIFEST, desired, swarm_of


def with_swarm(observed: Observed, **fields: Any) -> Observed:
    swarm = dataclasses.replace(swarm_of(observed), **fields)
    return dataclasses.replace(observed, swarm=Known(swarm))


def with_service(observed: Observed, name: str, **fields: Any) -> Observed:
    """A service as a person's hand left it."""
    return with_live_service(
        observed, name, value=dataclasses.replace(live(observed, name).value, **fields)
    )


def with_first_template(observed: Observed, text: str = MANIFEST) -> Observed:
    """The preferred member with the template of its first start, which may initialise a cluster."""
    first = desired(text)
    template = Live(f"id-{first.template.name}", 60, first.template)
    observed = with_swarm(observed, configs=(*swarm_of(observed).configs, template))
    return with_service(observed, "main_member-1", configs=first.members[0].service.configs)


def with_live_service(observed: Observed, name: str, **fields: Any) -> Observed:
    services = tuple(
        dataclasses.replace(found, **fields) if found.value.name == name else found
        for found in swarm_of(observed).services
    )
    return with_swarm(observed, services=services)


def live(observed: Observed, name: str) -> LiveService:
    found = swarm_of(observed).service(name)
    assert found is not None, f"there is no service {name}"
    return found


def without(observed: Observed, *names: str) -> Observed:
    """Return it without these services (and their tasks), networks, secrets and configs."""
    swarm = swarm_of(observed)
    gone = {found.id for found in swarm.services if found.value.name in names}
    members = {
        name: Unknown("its service is not in the swarm") if name in names else reading
        for name, reading in observed.members.items()
    }
    return dataclasses.replace(
        with_swarm(
            observed,
            services=tuple(f for f in swarm.services if f.value.name not in names),
            tasks=tuple(t for t in swarm.tasks if t.service_id not in gone),
            networks=tuple(f for f in swarm.networks if f.value.name not in names),
            secrets=tuple(f for f in swarm.secrets if f.value.name not in names),
            configs=tuple(f for f in swarm.configs if f.value.name not in names),
        ),
        members=members,
    )


def with_node(observed: Observed, name: str, /, **fields: Any) -> Observed:
    changed = tuple(
        dataclasses.replace(node, **fields) if node.name == name else node
        for node in swarm_of(observed).nodes
    )
    return with_swarm(observed, nodes=changed)


def with_tasks(observed: Observed, service: str, *tasks: Task) -> Observed:
    """Return it with these tasks, and no others, for a service."""
    kept = (t for t in swarm_of(observed).tasks if t.service_id != f"id-{service}")
    return with_swarm(observed, tasks=(*kept, *tasks))


def with_member(observed: Observed, name: str, reading: MemberStatus | Unknown) -> Observed:
    found = reading if isinstance(reading, Unknown) else Known(reading)
    return dataclasses.replace(observed, members={**observed.members, f"main_{name}": found})


def with_raft(observed: Observed, name: str, reading: RaftStatus | Unknown) -> Observed:
    found = reading if isinstance(reading, Unknown) else Known(reading)
    return dataclasses.replace(observed, raft={**observed.raft, f"main_{name}": found})


def seen_for(observed: Observed, name: str, seconds: float) -> Observed:
    """As if the service had been in its present state for so long."""
    since = {**observed.seen_s_ago, live(observed, name).id: seconds}
    return dataclasses.replace(observed, seen_s_ago=since)


def with_settings(observed: Observed, **fields: Any) -> Observed:
    """Patroni's settings with these keys otherwise; None takes one away."""
    kept = observed.settings["main"]
    assert isinstance(kept, Known)
    merged = {**kept.value, **fields}
    found = {key: value for key, value in merged.items() if value is not None}
    return dataclasses.replace(observed, settings={"main": Known(found)})


def with_notes(observed: Observed, **fields: Any) -> Observed:
    """Return the observation with these annotations in the state config."""
    state_config = swarm_of(observed).config("main_cluster")
    assert state_config is not None
    notes = dataclasses.replace(read_annotations(state_config.value.labels), **fields)
    kept = {k: v for k, v in state_config.value.labels.items() if k not in NOTE_LABELS}
    return with_config_labels(observed, "main_cluster", {**kept, **notes.labels()})


def with_config_labels(observed: Observed, name: str, labels: Mapping[str, str]) -> Observed:
    configs = tuple(
        dataclasses.replace(c, value=dataclasses.replace(c.value, labels=dict(labels)))
        if c.value.name == name
        else c
        for c in swarm_of(observed).configs
    )
    return with_swarm(observed, configs=configs)
