"""Keeps what the first member of a cluster was restored with, whatever the file says now.

A restore counts once. Invariant: no edit of it changes, and so restarts, a member of a cluster that
was healthy once.
"""

from __future__ import annotations

import dataclasses

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.restore import PREFIX, TARGETS
from queenright.core.observed import SwarmState
from queenright.core.swarm.objects import Service


def with_deployed_restore(desired: DesiredCluster, swarm: SwarmState) -> DesiredCluster:
    """The same cluster, which was healthy once, with what its members were restored with."""
    services = {member.name: _service(member.service, swarm) for member in desired.members}
    if all(services[member.name] is member.service for member in desired.members):
        return desired
    members = tuple(
        dataclasses.replace(member, service=services[member.name]) for member in desired.members
    )
    return dataclasses.replace(desired, members=members)


def _service(service: Service, swarm: SwarmState) -> Service:
    live = swarm.service(service.name)
    if live is None:
        return service
    variables = {k: v for k, v in live.value.environment.items() if k.startswith(PREFIX)}
    files = [file for file in live.value.secrets if file.target in TARGETS]
    if not variables and not files:
        return service
    return dataclasses.replace(
        service,
        environment={**service.environment, **variables},
        secrets=tuple(sorted((*service.secrets, *files))),
    )
