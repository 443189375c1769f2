"""Roles and databases through psycopg: the real adapter behind ``ports.catalogs.Catalogs``.

Invariant: nothing is sent to a server that is not a primary, and a password leaves this side only
as its SCRAM verifier, in a statement that the server does not log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import psycopg
from psycopg import sql

from queenright.adapters.postgres.connections import SCRAM, meaning, opened
from queenright.adapters.postgres.ddl import (
    ATTRIBUTES,
    LIMIT,
    creation_statement,
    database_statements,
    options,
)
from queenright.adapters.postgres.decode import decode_found
from queenright.adapters.postgres.extensions import (
    Raw,
    create_in_new_database,
    create_safely,
    offered_by,
)
from queenright.adapters.postgres.session import SUPERUSER
from queenright.adapters.postgres.statements import (
    EXTENSIONS_SQL,
    GRANTED_SQL,
    IN_RECOVERY_SQL,
    READ_SQL,
    UNLOGGED_SQL,
)
from queenright.adapters.turns import Turns
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole
from queenright.core.postgres.extensions import ExtensionFacts
from queenright.ports.database import Endpoint, Row
from queenright.ports.databases import Found, Question, Server
from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError
from queenright.ports.secrets import Password

DATABASE = "postgres"
READ_S = 3.0
CHANGE_S = 30.0
"""Seconds for a read, and for a change: a database is copied from its template, and synced."""
TAKEN = ("42710", "42P04", "42704", "3D000")
"""SQLSTATEs for an object that exists already, or is gone: another writer was first."""

LEADERS_AT_ONCE = 16
"""Leaders that are read at the same time; a connection takes milliseconds of the processor."""


class PostgresCatalogs:
    """A new connection for each call, because the leader may have changed."""

    def __init__(self) -> None:
        self._turns = Turns(busy=LEADERS_AT_ONCE)

    async def read(self, server: Server, question: Question) -> Found:
        """Read when its turn comes: a leader's time limit begins with its turn."""
        async with self._turns.turn():
            return await self._read(server, question)

    async def _read(self, server: Server, question: Question) -> Found:
        values = {
            "roles": [*question.roles],
            "referred": [*question.referred],
            "databases": [*question.databases],
        }
        offered: Mapping[str, ExtensionFacts] = {}
        async with connection(server, DATABASE, READ_S) as raw:
            text: Any = (await fetched(raw, READ_SQL, values))[0][0]
            if question.extended:
                offered = await looked_at(offered_by(raw))
        if text["in_recovery"]:
            raise not_primary(server)
        extensions: dict[str, list[str] | PortError] = {}
        for name in question.extended:
            if any(found["name"] == name for found in text["databases"]):
                extensions[name] = await self._extensions(server, name)
        return decode_found(text, extensions, offered)

    async def _extensions(self, server: Server, database: str) -> list[str] | PortError:
        try:
            async with connection(server, database, READ_S) as raw:
                return [str(name) for (name,) in await fetched(raw, EXTENSIONS_SQL)]
        except PortError as error:
            return error

    async def create_role(
        self, server: Server, role: DesiredRole, password: Password | None
    ) -> None:
        async with changing(server, DATABASE) as raw, raw.transaction():
            name = sql.Identifier(role.name)
            await raw.execute(
                sql.SQL("CREATE ROLE {} WITH {}").format(name, options(role, ATTRIBUTES))
            )
            await grant_groups(raw, role)
            await set_verifier(raw, role, password)

    async def alter_role(
        self,
        server: Server,
        role: DesiredRole,
        fields: tuple[str, ...],
        password: Password | None,
    ) -> None:
        async with changing(server, DATABASE) as raw, raw.transaction():
            attributes = tuple(field for field in fields if field in ATTRIBUTES)
            if attributes:
                name = sql.Identifier(role.name)
                await raw.execute(
                    sql.SQL("ALTER ROLE {} WITH {}").format(name, options(role, attributes))
                )
            if "member_of" in fields or "inherit" in fields:
                await revoke_groups(raw, role)
                await grant_groups(raw, role)
            if "password" in fields:
                await set_verifier(raw, role, password)
            if "no_password" in fields:
                name = sql.Identifier(role.name)
                await raw.execute(sql.SQL("ALTER ROLE {} PASSWORD NULL").format(name))

    async def create_database(self, server: Server, database: DesiredDatabase) -> None:
        # The superuser owns it, and it is closed: nobody can have put objects in a script's way.
        owner = SUPERUSER if database.extensions else database.owner
        async with changing(server, DATABASE) as raw:
            await raw.execute(creation_statement(database, owner))
            if database.extensions:
                async with changing(server, database.name) as own:
                    await create_in_new_database(own, database.extensions)
            async with raw.transaction():
                fields = ("owner",) if owner != database.owner else ()
                await set_database(raw, database, (*fields, "public", "connect", LIMIT))

    async def alter_database(
        self, server: Server, database: DesiredDatabase, fields: tuple[str, ...]
    ) -> None:
        async with changing(server, DATABASE) as raw, raw.transaction():
            await set_database(raw, database, fields)

    async def create_extension(self, server: Server, database: str, extension: str) -> None:
        async with changing(server, database) as raw:
            await create_safely(raw, database, extension)


async def grant_groups(raw: Raw, role: DesiredRole) -> None:
    for group in role.member_of or ():
        await raw.execute(
            sql.SQL("GRANT {} TO {} WITH INHERIT {}, SET TRUE").format(
                sql.Identifier(group),
                sql.Identifier(role.name),
                sql.SQL("TRUE" if role.inherit else "FALSE"),
            )
        )


async def revoke_groups(raw: Raw, role: DesiredRole) -> None:
    """Revoke every other membership, whoever granted it; none if the file names none."""
    if role.member_of is None:
        return
    for group, grantor in await fetched(raw, GRANTED_SQL, [role.name, [*role.member_of]]):
        await raw.execute(
            sql.SQL("REVOKE {} FROM {} GRANTED BY {} CASCADE").format(
                sql.Identifier(str(group)), sql.Identifier(role.name), sql.Identifier(str(grantor))
            )
        )


async def set_verifier(raw: Raw, role: DesiredRole, password: Password | None) -> None:
    if password is None:
        return
    made = raw.pgconn.encrypt_password(password.value.encode(), role.name.encode(), SCRAM.encode())
    await raw.execute(UNLOGGED_SQL)
    await raw.execute(
        sql.SQL("ALTER ROLE {} PASSWORD {}").format(
            sql.Identifier(role.name), sql.Literal(made.decode())
        )
    )


async def set_database(raw: Raw, database: DesiredDatabase, fields: tuple[str, ...]) -> None:
    for statement in database_statements(database, fields):
        await raw.execute(statement)


@asynccontextmanager
async def changing(server: Server, database: str) -> AsyncGenerator[Raw, None]:
    """Open a connection for a change: to a primary, and with the port's errors."""
    async with connection(server, database, CHANGE_S) as raw:
        if (await fetched(raw, IN_RECOVERY_SQL))[0][0]:
            raise not_primary(server)
        try:
            with anyio.fail_after(CHANGE_S):
                yield raw
        except psycopg.Error as error:
            raise statement_error(error) from None
        except TimeoutError:
            raise UnavailableError(f"no answer within {CHANGE_S:g} s") from None


@asynccontextmanager
async def connection(server: Server, database: str, limit_s: float) -> AsyncGenerator[Raw, None]:
    endpoint = Endpoint(server.host, server.port, database, SUPERUSER, timeout_s=READ_S)
    async with opened(endpoint, server.superuser, limit_s) as raw:
        yield raw


async def fetched(raw: Raw, statement: str, values: Any = None) -> list[Row]:
    async def ask() -> list[Row]:
        return await (await raw.execute(sql.SQL(statement), values)).fetchall()

    return await looked_at(ask())


T = TypeVar("T")


async def looked_at(question: Awaitable[T]) -> T:
    """Return an answer within the time for a read, or raise the port's error."""
    try:
        with anyio.fail_after(READ_S):
            return await question
    except psycopg.Error as error:
        raise meaning(error) from None
    except TimeoutError:
        raise UnavailableError(f"no answer within {READ_S:g} s") from None


def statement_error(error: psycopg.Error) -> PortError:
    found = meaning(error)
    if error.sqlstate in TAKEN:
        return ConflictError(str(found))
    return found


def not_primary(server: Server) -> RejectedError | UnavailableError:
    return UnavailableError(f"{server.host}:{server.port} is not a primary now")
