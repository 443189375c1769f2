"""PostgreSQL through psycopg: the real adapter behind ``ports.database.Database``.

A password is only given to libpq, never put into a connection string, a statement or an error.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import psycopg
from psycopg import sql

from queenright.adapters.postgres.session import startup_options
from queenright.ports.database import Connection, Endpoint, Row
from queenright.ports.errors import RejectedError, UnavailableError
from queenright.ports.secrets import Password

FOR_GOOD = ("28", "3D", "42", "22", "23")
"""SQLSTATE classes that a repeated statement meets again: authorization, no such database, syntax
or access rule, data, integrity."""
SCRAM = "scram-sha-256"
logging.getLogger("psycopg").setLevel(logging.ERROR)  # warns of each abandoned statement


class PostgresConnection:
    """One psycopg connection in autocommit."""

    def __init__(self, raw: psycopg.AsyncConnection[Row], timeout_s: float) -> None:
        self._raw = raw
        self._timeout_s = timeout_s

    async def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        return await self._execute(sql.SQL(statement), values)

    async def set_password(self, role: str, password: Password) -> None:
        encrypted = self._raw.pgconn.encrypt_password(
            password.value.encode(), role.encode(), SCRAM.encode()
        )
        verifier = sql.Literal(encrypted.decode())
        await self._execute(
            sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), verifier), ()
        )

    async def _execute(
        self, statement: sql.SQL | sql.Composed, values: Sequence[object]
    ) -> list[Row]:
        try:
            with anyio.fail_after(self._timeout_s):
                found = await self._raw.execute(statement, values or None)
                return list(await found.fetchall()) if found.description else []
        except psycopg.Error as error:
            raise meaning(error) from None
        except TimeoutError:
            raise UnavailableError(f"no answer within {self._timeout_s:g} s") from None


@asynccontextmanager
async def opened(
    endpoint: Endpoint, password: Password, statement_s: float = 5.0
) -> AsyncGenerator[psycopg.AsyncConnection[Row], None]:
    """Open psycopg's connection, in autocommit and UTF-8, with every setting pinned that somebody
    else could have set for it; the server ends each statement after ``statement_s``."""
    try:
        with anyio.fail_after(endpoint.timeout_s):
            raw = await psycopg.AsyncConnection.connect(
                host=endpoint.host,
                port=endpoint.port,
                dbname=endpoint.database,
                user=endpoint.user,
                password=password.value,
                autocommit=True,
                application_name="queenright",
                client_encoding="utf8",
                connect_timeout=max(2, round(endpoint.timeout_s)),
                sslmode="prefer",
                options=startup_options(endpoint.user, statement_s),
            )
    except psycopg.Error as error:
        raise meaning(error) from None
    except TimeoutError:
        where = f"{endpoint.host}:{endpoint.port}"
        raise UnavailableError(f"{where}: no answer in {endpoint.timeout_s:g} s") from None
    try:
        yield raw
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await raw.close()


class PostgresSql:
    """Opens connections; a new one each time, because the leader may have changed."""

    @asynccontextmanager
    async def connect(
        self, endpoint: Endpoint, password: Password
    ) -> AsyncGenerator[Connection, None]:
        async with opened(endpoint, password) as raw:
            yield PostgresConnection(raw, endpoint.timeout_s)


def meaning(error: psycopg.Error) -> RejectedError | UnavailableError:
    """Return the port's error; its text is PostgreSQL's first line, which names no password."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if error.sqlstate and error.sqlstate.startswith(FOR_GOOD):
        return RejectedError(first)
    return UnavailableError(first)
