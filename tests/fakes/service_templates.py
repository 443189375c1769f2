"""The part of a service whose change replaces its tasks."""

from __future__ import annotations

import dataclasses

from queenright.core.swarm.objects import (
    Service,
    UpdatePolicy,
)

TEMPLATES: dict[int, tuple[Service, Service]] = {}
"""By a service's identity: the service itself, which keeps it from being another's, and its
template. The same few are asked for all the time."""


MOST_TEMPLATES = 500


def template_of(service: Service) -> Service:
    """The part of a service whose change replaces its tasks (swarmkit: ``IsTaskDirty``)."""
    known = TEMPLATES.get(id(service))
    if known is not None:
        return known[1]
    plain = UpdatePolicy()
    made = dataclasses.replace(service, labels={}, replicas=1, update=plain, rollback=plain)
    if len(TEMPLATES) >= MOST_TEMPLATES:
        TEMPLATES.clear()
    TEMPLATES[id(service)] = (service, made)
    return made


def adjusted_service(present: Service, wanted: Service) -> Service:
    """``present`` with all of ``wanted`` that is outside the template."""
    return dataclasses.replace(
        present,
        labels=wanted.labels,
        replicas=wanted.replicas,
        update=wanted.update,
        rollback=wanted.rollback,
    )
