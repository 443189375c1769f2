"""Roles and databases: what the leader has of what is wished for, and what is done about it.

Decides nothing. Invariant: only a member that alone proves the leader lock is asked, and it says
itself, on the connection, that it is a primary; no password is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import assert_never

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    CreateRole,
    SqlAction,
)
from queenright.core.catalog import Catalog, DesiredRole, Role, referred_roles
from queenright.core.catalog_notes import read_catalog_note
from queenright.core.desired import DesiredCluster, DesiredMember
from queenright.core.observed import Known, MemberStatus, NotAsked, SwarmState, Unknown
from queenright.engine.judging import Judging
from queenright.engine.world import Ports
from queenright.ports.catalogs import Found, Question, Server
from queenright.ports.errors import LookOnlyError, PortError
from queenright.ports.patroni import Password

CatalogReading = Known[Catalog] | Unknown
MemberReadings = Mapping[str, Known[MemberStatus] | Unknown]


async def observe_catalog(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    readings: MemberReadings,
    judging: Judging,
) -> CatalogReading | None:
    """The leader's roles and databases; None where nothing is wished for, nor ever was."""
    question = what_to_ask(cluster, swarm)
    if question is None:
        return None
    leader = sole_leader(cluster, readings)
    if leader is None:
        return Unknown("there is no leader that every observation agrees on")
    try:
        live = swarm.secret(cluster.superuser_secret)
        superuser = await ports.secrets.read(cluster.superuser_secret, live.id if live else "")
        server = Server(leader.address, cluster.postgresql_port, superuser)
        found = await ports.catalogs.read(server, question)
    except LookOnlyError as error:
        return NotAsked(str(error))
    except PortError as error:
        return Unknown(str(error))
    return Known(await judged(judging, cluster, swarm, found))


def what_to_ask(cluster: DesiredCluster, swarm: SwarmState) -> Question | None:
    """The names that matter: of the file, and those that it had."""
    wished = cluster.catalog
    anchor = swarm.config(cluster.anchor.name)
    note = read_catalog_note(anchor.value.labels if anchor is not None else {})
    if anchor is None or not (wished or note):
        return None
    return Question(
        roles=tuple(sorted({role.name for role in wished.roles} | set(note.roles))),
        referred=tuple(sorted(set(referred_roles(wished)))),
        databases=tuple(sorted({found.name for found in wished.databases} | {*note.databases})),
        extended=tuple(found.name for found in wished.databases if found.extensions),
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
    """The catalog with each wished password compared to the one that is set."""
    roles = []
    for role in found.catalog.roles:
        wished = cluster.catalog.role(role.name)
        roles.append(await with_verdict(judging, role, wished, found.verifiers, swarm))
    return dataclasses.replace(found.catalog, roles=tuple(roles))


async def with_verdict(
    judging: Judging,
    role: Role,
    wished: DesiredRole | None,
    verifiers: Mapping[str, Password],
    swarm: SwarmState,
) -> Role:
    live = swarm.secret(wished.password_secret) if wished and wished.password_secret else None
    if live is None:
        return role
    verifier = verifiers.get(role.name)
    if verifier is None:
        return dataclasses.replace(role, verifier="none")
    return await judging.judged(role, live, verifier)


async def perform_over_sql(ports: Ports, action: SqlAction) -> None:
    """The deed on the leader; a role's password is read for it, and not kept."""
    superuser = await ports.secrets.read(action.secret)
    server, catalogs = Server(action.host, action.port, superuser), ports.catalogs
    match action:
        case CreateRole(role=role):
            password = await password_of(ports, role) if role.password_secret else None
            await catalogs.create_role(server, role, password)
        case AlterRole(role=role, fields=fields):
            password = await password_of(ports, role) if "password" in fields else None
            await catalogs.alter_role(server, role, fields, password)
        case CreateDatabase(database=database):
            await catalogs.create_database(server, database)
        case AlterDatabase(database=database, fields=fields):
            await catalogs.alter_database(server, database, fields)
        case CreateExtension(database=name, extension=extension):
            await catalogs.create_extension(server, name, extension)
        case _:
            assert_never(action)


async def password_of(ports: Ports, role: DesiredRole) -> Password:
    return await ports.secrets.read_once(role.password_secret)
