"""Roles and databases through psycopg: the real adapter behind ``ports.catalogs.Catalogs``.

Names and values are composed by psycopg, never pasted. Invariant: nothing is sent to a server that
is not a primary, and a password leaves this side only as its SCRAM verifier, in a statement that
the server is told not to log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import anyio
import psycopg
from psycopg import sql

from queenright.adapters.catalog_decode import decode_found
from queenright.adapters.postgres_sql import SCRAM, meaning, opened
from queenright.core.catalog import DesiredDatabase, DesiredRole
from queenright.ports.catalogs import Found, Question, Server
from queenright.ports.database import Endpoint, Row
from queenright.ports.errors import ConflictError, PortError, RejectedError, UnavailableError
from queenright.ports.patroni import Password

DATABASE = "postgres"
SUPERUSER = "postgres"
READ_S = 3.0
CHANGE_S = 30.0
"""Seconds for a look, and for a deed: a database is copied from its template, and synced."""
TAKEN = ("42710", "42P04", "42704", "3D000")
"""SQLSTATEs of what is there already, or is gone: somebody else was first."""

READ_SQL = """
SELECT json_build_object(
  'in_recovery', pg_is_in_recovery(),
  'roles', (SELECT coalesce(json_agg(json_build_object(
      'name', r.rolname, 'login', r.rolcanlogin, 'superuser', r.rolsuper,
      'inherit', r.rolinherit, 'create_db', r.rolcreatedb, 'create_role', r.rolcreaterole,
      'bypass_rls', r.rolbypassrls, 'replication', r.rolreplication,
      'connection_limit', r.rolconnlimit, 'verifier', r.rolpassword,
      'sessions', (SELECT count(*) FROM pg_stat_activity a WHERE a.usesysid = r.oid),
      'valid_until', CASE WHEN isfinite(r.rolvaliduntil) THEN
          extract(epoch FROM r.rolvaliduntil) END,
      'member_of', (SELECT coalesce(json_agg(DISTINCT g.rolname), '[]') FROM pg_auth_members m
          JOIN pg_authid g ON g.oid = m.roleid
          WHERE m.member = r.oid AND (m.inherit_option OR m.set_option)))), '[]')
    FROM pg_authid r WHERE r.rolname = ANY(%(roles)s)),
  'referred', (SELECT coalesce(json_agg(rolname), '[]') FROM pg_authid
    WHERE rolname = ANY(%(referred)s)),
  'databases', (SELECT coalesce(json_agg(json_build_object(
      'name', d.datname, 'owner', pg_get_userbyid(d.datdba), 'connection_limit', d.datconnlimit,
      'public', (SELECT coalesce(json_agg(DISTINCT privilege_type), '[]') FROM
          aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) WHERE grantee = 0),
      'connect', (SELECT coalesce(json_agg(DISTINCT pg_get_userbyid(grantee)), '[]') FROM
          aclexplode(coalesce(d.datacl, acldefault('d', d.datdba)))
          WHERE grantee <> 0 AND privilege_type = 'CONNECT'))), '[]')
    FROM pg_database d WHERE d.datname = ANY(%(databases)s)),
  'available', (SELECT coalesce(json_agg(name), '[]') FROM pg_available_extensions
    WHERE %(extended)s)
)"""
EXTENSIONS_SQL = "SELECT coalesce(json_agg(extname), '[]') FROM pg_extension"
GRANTED_SQL = """
SELECT g.rolname, pg_get_userbyid(m.grantor) FROM pg_auth_members m
JOIN pg_authid g ON g.oid = m.roleid JOIN pg_authid r ON r.oid = m.member
WHERE r.rolname = %s AND (m.inherit_option OR m.set_option) AND NOT g.rolname = ANY(%s)"""
UNLOGGED_SQL = """
SELECT set_config('log_statement', 'none', true),
  set_config('log_min_duration_statement', '-1', true),
  set_config('log_duration', 'off', true),
  set_config('log_min_error_statement', 'panic', true)"""
"""For this transaction: a verifier is no password, and yet nobody needs it in a log."""

Raw = psycopg.AsyncConnection[Row]


class PostgresCatalogs:
    """A new connection for each call, since a leader may be another by then."""

    async def read(self, server: Server, question: Question) -> Found:
        values = {
            "roles": [*question.roles],
            "referred": [*question.referred],
            "databases": [*question.databases],
            "extended": bool(question.extended),
        }
        async with connection(server, DATABASE, READ_S) as raw:
            text: Any = (await fetched(raw, READ_SQL, values))[0][0]
        if text["in_recovery"]:
            raise not_primary(server)
        extensions: dict[str, list[str] | PortError] = {}
        for name in question.extended:
            if any(found["name"] == name for found in text["databases"]):
                extensions[name] = await self._extensions(server, name)
        return decode_found(text, extensions)

    async def _extensions(self, server: Server, database: str) -> list[str] | PortError:
        try:
            async with connection(server, database, READ_S) as raw:
                found: Any = (await fetched(raw, EXTENSIONS_SQL))[0][0]
                return list(found)
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
        parts: list[sql.Composable] = [
            sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database.name)),
            sql.SQL("OWNER {}").format(sql.Identifier(database.owner)),
        ]
        if database.template:
            parts.append(sql.SQL("TEMPLATE {}").format(sql.Identifier(database.template)))
        if database.encoding:
            parts.append(sql.SQL("ENCODING {}").format(sql.Literal(database.encoding)))
        if database.locale:
            parts.append(sql.SQL("LOCALE {}").format(sql.Literal(database.locale)))
        # Nobody gets in before the public is locked out.
        parts.append(sql.SQL("CONNECTION LIMIT 0"))
        async with changing(server, DATABASE) as raw:
            await raw.execute(sql.SQL(" ").join(parts))
            async with raw.transaction():
                await set_database(raw, database, ("public", "connect", "connection_limit"))

    async def alter_database(
        self, server: Server, database: DesiredDatabase, fields: tuple[str, ...]
    ) -> None:
        async with changing(server, DATABASE) as raw, raw.transaction():
            await set_database(raw, database, fields)

    async def create_extension(self, server: Server, database: str, extension: str) -> None:
        async with changing(server, database) as raw:
            await raw.execute(
                sql.SQL("CREATE EXTENSION IF NOT EXISTS {} CASCADE").format(
                    sql.Identifier(extension)
                )
            )


ATTRIBUTES = (
    "superuser",
    "replication",
    "login",
    "inherit",
    "create_db",
    "create_role",
    "bypass_rls",
    "connection_limit",
    "valid_until",
)
WORDS = {
    "login": "LOGIN",
    "inherit": "INHERIT",
    "create_db": "CREATEDB",
    "create_role": "CREATEROLE",
    "bypass_rls": "BYPASSRLS",
}


def options(role: DesiredRole, fields: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(" ").join(option(role, field) for field in fields)


def option(role: DesiredRole, field: str) -> sql.Composable:
    match field:
        case "superuser":
            return sql.SQL("NOSUPERUSER")
        case "replication":
            return sql.SQL("NOREPLICATION")
        case "connection_limit":
            return sql.SQL("CONNECTION LIMIT {}").format(sql.Literal(role.connection_limit))
        case "valid_until":
            return sql.SQL("VALID UNTIL {}").format(sql.Literal(until_text(role.valid_until)))
        case _:
            word = WORDS[field]
            return sql.SQL(word if getattr(role, field) else f"NO{word}")


def until_text(moment: datetime | None) -> str:
    return "infinity" if moment is None else moment.isoformat()


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
    """Every other membership, whoever granted it; nothing where the file names none."""
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


def database_statements(
    database: DesiredDatabase, fields: tuple[str, ...]
) -> Iterator[sql.Composed]:
    name = sql.Identifier(database.name)
    if "owner" in fields:
        owner = sql.Identifier(database.owner)
        yield sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, owner)
    if "public" in fields:
        yield sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name)
    if "connect" in fields:
        for role in database.connect:
            yield sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, sql.Identifier(role))
    if "connection_limit" in fields:
        limit = sql.Literal(database.connection_limit)
        yield sql.SQL("ALTER DATABASE {} CONNECTION LIMIT {}").format(name, limit)


@asynccontextmanager
async def changing(server: Server, database: str) -> AsyncGenerator[Raw, None]:
    """A connection for a deed: to a primary, and with the port's errors."""
    async with connection(server, database, CHANGE_S) as raw:
        if (await fetched(raw, "SELECT pg_is_in_recovery()"))[0][0]:
            raise not_primary(server)
        try:
            with anyio.fail_after(CHANGE_S):
                yield raw
        except psycopg.Error as error:
            raise refusal(error) from None
        except TimeoutError:
            raise UnavailableError(f"no answer within {CHANGE_S:g} s") from None


@asynccontextmanager
async def connection(server: Server, database: str, limit_s: float) -> AsyncGenerator[Raw, None]:
    endpoint = Endpoint(server.host, server.port, database, SUPERUSER, timeout_s=READ_S)
    async with opened(endpoint, server.superuser, limit_s) as raw:
        yield raw


async def fetched(raw: Raw, statement: str, values: Any = None) -> list[Row]:
    try:
        with anyio.fail_after(READ_S):
            found = await raw.execute(sql.SQL(statement), values)
            return await found.fetchall()
    except psycopg.Error as error:
        raise meaning(error) from None
    except TimeoutError:
        raise UnavailableError(f"no answer within {READ_S:g} s") from None


def refusal(error: psycopg.Error) -> PortError:
    found = meaning(error)
    if error.sqlstate in TAKEN:
        return ConflictError(str(found))
    return found


def not_primary(server: Server) -> RejectedError | UnavailableError:
    return UnavailableError(f"{server.host}:{server.port} is not a primary now")
