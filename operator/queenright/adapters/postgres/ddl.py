"""Statements that create and alter roles and databases, composed by psycopg.

Invariant: nothing is pasted; psycopg quotes each name and each value.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from psycopg import sql

from queenright.core.postgres.catalog import ROLE_OPTIONS, DesiredDatabase, DesiredRole

LIMIT = "connection_limit"
ATTRIBUTES = ("superuser", "replication", *ROLE_OPTIONS)
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


def creation_statement(database: DesiredDatabase, owner: str) -> sql.Composed:
    parts: list[sql.Composable] = [
        sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database.name)),
        sql.SQL("OWNER {}").format(sql.Identifier(owner)),
    ]
    if database.template:
        parts.append(sql.SQL("TEMPLATE {}").format(sql.Identifier(database.template)))
    if database.encoding:
        parts.append(sql.SQL("ENCODING {}").format(sql.Literal(database.encoding)))
    if database.locale:
        parts.append(sql.SQL("LOCALE {}").format(sql.Literal(database.locale)))
    # No connection is possible before the public's privileges are revoked.
    parts.append(sql.SQL("CONNECTION LIMIT 0"))
    return sql.SQL(" ").join(parts)


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
