"""Passwords that a running cluster was deployed with, whatever the file names now.

Decides with which secrets the members go on. A password is in the database as well as in its
secret: a member that starts with another secret can't log in at the others, so the name in the file
takes effect only where no member runs yet. Invariant: no member's deployed password is replaced.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, RenamedSecret
from queenright.core.kinds.postgres_cluster.desired.services import (
    REPLICATION_TARGET,
    SUPERUSER_TARGET,
)
from queenright.core.observed import SwarmState
from queenright.core.swarm.objects import Secret, Service

FIELDS: Mapping[str, str] = {"replication": REPLICATION_TARGET, "superuser": SUPERUSER_TARGET}
"""Fields of ``spec.secrets`` whose passwords are in the database, and their files in a member."""


def with_deployed_secrets(desired: DesiredCluster, swarm: SwarmState) -> DesiredCluster:
    """The same cluster with the passwords that its members run with."""
    deployed = {
        target: {
            member.service.name: found
            for member in desired.members
            if (live := swarm.service(member.service.name)) is not None
            and (found := secret_at(live.value, target))
        }
        for target in FIELDS.values()
    }
    renamed = []
    for field, target in FIELDS.items():
        wanted = secret_at(desired.members[0].service, target)
        others = tuple((name, found) for name, found in deployed[target].items() if found != wanted)
        if others:
            renamed.append(RenamedSecret(field, wanted, others))
    if not renamed:
        return desired
    members = tuple(
        dataclasses.replace(member, service=_service(member.service, deployed))
        for member in desired.members
    )
    used = {secret_at(member.service, target) for member in members for target in FIELDS.values()}
    owned = desired.secrets[0].labels
    kept = [secret for secret in desired.secrets if secret.name not in desired.data_secrets]
    return dataclasses.replace(
        desired,
        members=members,
        secrets=(*(Secret(name, owned) for name in sorted(used)), *kept),
        data_secrets=frozenset(used),
        superuser_secret=common(deployed[SUPERUSER_TARGET]) or desired.superuser_secret,
        renamed_secrets=tuple(renamed),
    )


def _service(service: Service, deployed: Mapping[str, Mapping[str, str]]) -> Service:
    """The service with its own deployed secrets; one that is new, with those of all others."""
    secrets = []
    for file in service.secrets:
        found = deployed.get(file.target, {})
        name = found.get(service.name) or common(found) or file.name
        secrets.append(dataclasses.replace(file, name=name))
    return dataclasses.replace(service, secrets=tuple(sorted(secrets)))


def secret_at(service: Service, target: str) -> str:
    """Name of the secret that a service mounts as this file; empty where it mounts none."""
    for file in service.secrets:
        if file.target == target:
            return file.name
    return ""


def common(found: Mapping[str, str]) -> str:
    """The one secret that all have; empty where they differ, or there is none."""
    names = {*found.values()}
    return names.pop() if len(names) == 1 else ""
