"""Create extensions without lending the superuser's rights to the database's owner.

An extension's script runs as the superuser and may name objects without a schema (CVE-2020-14350),
so it must not see objects of others. Invariant: a script runs in a schema that nobody else can see
before it is complete; or the extension is trusted, and its owner could have created it as well; or
the database is new and no other role has used it.
"""

from __future__ import annotations

import secrets as randomness
from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg import sql

from queenright.adapters.postgres.statements import INSTALLED_SQL, OFFERED_SQL, OWNER_SQL
from queenright.core.postgres.extensions import ExtensionFacts, way_to_create
from queenright.ports.database import Row
from queenright.ports.errors import ConflictError, RejectedError

Raw = psycopg.AsyncConnection[Row]

HOME = "public"
"""The schema for an extension that requires none, as with ``CREATE EXTENSION`` by hand."""
APART = "queenright_"
"""The prefix of one transaction's schema; the rest is random, so that nobody can take the name."""


async def offered_by(raw: Raw) -> dict[str, ExtensionFacts]:
    """Return the extensions that the server offers, each in its default version."""
    found: list[Any] = await (await raw.execute(sql.SQL(OFFERED_SQL))).fetchall()
    return {
        name: ExtensionFacts(
            name, superuser, trusted, relocatable, schema or "", tuple(requires or ())
        )
        for name, superuser, trusted, relocatable, schema, requires in found
    }


async def create_in_new_database(raw: Raw, extensions: Iterable[str]) -> None:
    """Create extensions in a database that only the superuser has used. A failed one is left to the
    next pass, which finds it missing and reports why."""
    offered = await offered_by(raw)
    for name in extensions:
        if name in offered:
            try:
                await raw.execute(creation(name, HOME, cascade=True))
            except psycopg.Error:
                if raw.closed:
                    return


async def create_safely(raw: Raw, database: str, extension: str) -> None:
    """Create an extension in a database that is in use; RejectedError if that is not safe."""
    if await (await raw.execute(sql.SQL(INSTALLED_SQL), [extension])).fetchall():
        return
    offered = await offered_by(raw)
    if extension not in offered:
        raise RejectedError(f"the server does not offer the extension {extension}")
    match way_to_create(extension, offered):
        case "apart":
            async with raw.transaction():
                await create_apart(raw, offered[extension])
        case "as owner":
            async with raw.transaction():
                await become_owner(raw, database)
                await raw.execute(creation(extension, HOME, cascade=True))
        case _:
            raise RejectedError(
                f"the script of the extension {extension} would run as the superuser within reach "
                f"of objects of the owner of {database}"
            )


async def create_apart(raw: Raw, facts: ExtensionFacts) -> None:
    """Create it in a schema of its own, which no other session ever sees."""
    if facts.schema:  # pg_catalog, in which nobody else can create anything
        await raw.execute(creation(facts.name, facts.schema))
        return
    name = f"{APART}{randomness.token_hex(8)}"
    apart, home = sql.Identifier(name), sql.Identifier(HOME)
    await raw.execute(sql.SQL("CREATE SCHEMA {}").format(apart))
    await raw.execute(creation(facts.name, name))
    await raw.execute(
        sql.SQL("ALTER EXTENSION {} SET SCHEMA {}").format(sql.Identifier(facts.name), home)
    )
    await raw.execute(sql.SQL("DROP SCHEMA {}").format(apart))


async def become_owner(raw: Raw, database: str) -> None:
    """Take the rights of the database's owner until the transaction ends."""
    found = await (await raw.execute(sql.SQL(OWNER_SQL), [database])).fetchall()
    if not found:
        raise ConflictError(f'database "{database}" does not exist')
    await raw.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(str(found[0][0]))))


def creation(extension: str, schema: str, *, cascade: bool = False) -> sql.Composed:
    statement = sql.SQL("CREATE EXTENSION {} WITH SCHEMA {}").format(
        sql.Identifier(extension), sql.Identifier(schema)
    )
    return statement + sql.SQL(" CASCADE") if cascade else statement
