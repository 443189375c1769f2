"""Runs numbered SQL files, each once, however many replicas start together.

Each file runs in one transaction under a transaction-level advisory lock: a failover would release
a session-level lock and leave the work half done. Invariant: a file's number is recorded in the
same transaction as its changes.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources

from notes.db.connect import Conn

LOCK = 7_266_318  # any constant that no other lock in this database uses
_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


class SchemaError(Exception):
    """The database holds a schema that this version cannot work with."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered SQL file."""

    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All migrations of this version, in order. Raises `SchemaError` if a number is missing."""
    found = list[Migration]()
    for file in resources.files("notes.db").joinpath("migrations").iterdir():
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text("utf-8")))
    found.sort(key=lambda m: m.number)
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise SchemaError("migration files are not numbered 1, 2, 3 …")
    return found


async def migrate(conn: Conn, until: int | None = None) -> list[int]:
    """Migrates the schema to the newest version, or to `until`; the numbers that ran here.

    Raises `SchemaError` for a schema that is newer than this version knows.
    """
    known = migrations()
    ran = list[int]()
    for migration in known[:until]:
        if await _in_transaction(conn, partial(_apply, conn, migration, known[-1].number)):
            ran.append(migration.number)
    return ran


async def _apply(conn: Conn, migration: Migration, newest: int) -> bool:
    await conn.execute("SET LOCAL statement_timeout = 0")
    await conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    await conn.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations (number integer PRIMARY KEY,"
        " name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    cursor = await conn.execute("SELECT coalesce(max(number), 0) AS at FROM schema_migrations")
    row = await cursor.fetchone()
    at = row["at"] if row else 0
    if at > newest:
        raise SchemaError(f"the schema is at {at}, this version knows {newest}: use a newer one")
    if at >= migration.number:
        return False
    await conn.execute(migration.sql.encode())
    await conn.execute(
        "INSERT INTO schema_migrations (number, name) VALUES (%s, %s)",
        (migration.number, migration.name),
    )
    return True


async def _in_transaction(conn: Conn, work: Callable[[], Awaitable[bool]]) -> bool:
    await conn.execute("BEGIN")
    try:
        done = await work()
    except BaseException:
        if not conn.closed:
            await conn.execute("ROLLBACK")
        raise
    await conn.execute("COMMIT")
    return done
