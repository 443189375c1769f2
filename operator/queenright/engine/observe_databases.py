"""Read the leader's roles and databases, as far as documents claim them.

Invariant: only the member that alone proves the leader lock is asked, and it confirms on the
connection that it is a primary; no password is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from queenright.core.kinds.postgres_cluster.databases.annotations import read_catalog_note
from queenright.core.kinds.postgres_cluster.deployed import access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.observed import Known, MemberStatus, NotAsked, SwarmState, Unknown
from queenright.core.postgres.catalog import Catalog, DesiredRole, Role, referred_roles
from queenright.engine.password_checks import Judging
from queenright.ports import Ports
from queenright.ports.databases import Found, Question, Server
from queenright.ports.errors import LookOnlyError, PortError
from queenright.ports.secrets import Password

CatalogReading = Known[Catalog] | Unknown
MemberReadings = Mapping[str, Known[MemberStatus] | Unknown]


async def observe_catalog(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    readings: MemberReadings,
    judging: Judging,
) -> CatalogReading | None:
    """Return the leader's roles and databases; None if none is, or ever was, claimed."""
    question = what_to_ask(cluster, swarm)
    if question is None:
        return None
    leader = sole_leader(cluster, readings)
    if leader is None:
        return Unknown("no leader on which all observations agree")
    try:
        found = await ports.catalogs.read(await server_of(ports, cluster, leader, swarm), question)
    except LookOnlyError as error:
        return NotAsked(str(error))
    except PortError as error:
        return Unknown(str(error))
    return Known(await judged(judging, cluster, swarm, found))


async def server_of(
    ports: Ports, cluster: DesiredCluster, leader: DesiredMember, swarm: SwarmState
) -> Server:
    """Return the leader's server with the password; raises the port's errors."""
    access = access_to(cluster, leader, swarm)
    live = swarm.secret(access.superuser_secret)
    superuser = await ports.secrets.read(access.superuser_secret, live.id if live else "")
    return Server(access.address, access.postgresql_port, superuser)


def what_to_ask(cluster: DesiredCluster, swarm: SwarmState) -> Question | None:
    """Return the names to look for: the file's, and those that it had before."""
    wanted = cluster.catalog
    state_config = swarm.config(cluster.state_config.name)
    note = read_catalog_note(state_config.value.labels if state_config is not None else {})
    if state_config is None or not (wanted or note):
        return None
    return Question(
        roles=tuple(sorted({role.name for role in wanted.roles} | set(note.roles))),
        referred=tuple(sorted(set(referred_roles(wanted)))),
        databases=tuple(sorted({found.name for found in wanted.databases} | {*note.databases})),
        extended=tuple(found.name for found in wanted.databases if found.extensions),
    )


def sole_leader(cluster: DesiredCluster, readings: MemberReadings) -> DesiredMember | None:
    found = [
        member
        for member in cluster.members
        if isinstance(reading := readings.get(member.service.name), Known)
        and reading.value.is_leader
    ]
    return found[0] if len(found) == 1 else None


async def judged(
    judging: Judging, cluster: DesiredCluster, swarm: SwarmState, found: Found
) -> Catalog:
    """Return the catalog with each claimed password compared to the one that is set."""
    roles = []
    for role in found.catalog.roles:
        wanted = cluster.catalog.role(role.name)
        roles.append(await with_verdict(judging, role, wanted, found.verifiers, swarm))
    return dataclasses.replace(found.catalog, roles=tuple(roles))


async def with_verdict(
    judging: Judging,
    role: Role,
    wanted: DesiredRole | None,
    verifiers: Mapping[str, Password],
    swarm: SwarmState,
) -> Role:
    live = swarm.secret(wanted.password_secret) if wanted and wanted.password_secret else None
    if live is None:
        return role
    verifier = verifiers.get(role.name)
    if verifier is None:
        return dataclasses.replace(role, verifier="none")
    return await judging.judged(role, live, verifier)
