"""Execute an action over SQL on the leader, as the database's superuser.

Invariant: no password is kept.
"""

from __future__ import annotations

from typing import assert_never

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    AnySqlAction,
    CreateDatabase,
    CreateExtension,
    CreateRole,
)
from queenright.core.postgres.catalog import DesiredRole
from queenright.ports import Ports
from queenright.ports.databases import Server
from queenright.ports.secrets import Password


async def perform_over_sql(ports: Ports, action: AnySqlAction) -> None:
    """Execute the action on the leader; a role's password is read for it, and not kept."""
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
