"""The operator's sessions at a server whose databases have a hostile owner."""

from __future__ import annotations

import asyncio

import psycopg

from queenright.adapters.postgres.connections import opened
from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.adapters.postgres.session import pinned_settings
from queenright.ports.database import Endpoint
from queenright.ports.databases import Found, Question, Server
from queenright.ports.secrets import Password
from tests.contract.hostile_owner import MALLORY
from tests.contract.real_postgres import SUPERUSER_PASSWORD, RealPostgres


def at(postgres: RealPostgres) -> Server:
    return Server("127.0.0.1", postgres.port, Password(SUPERUSER_PASSWORD))


def look(postgres: RealPostgres) -> Found:
    question = Question((MALLORY,), ("postgres",), ("prey",), ("prey",))
    return asyncio.run(PostgresCatalogs().read(at(postgres), question))


def make(postgres: RealPostgres, extension: str) -> None:
    asyncio.run(PostgresCatalogs().create_extension(at(postgres), "prey", extension))


def opened_plainly(postgres: RealPostgres) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        host="127.0.0.1",
        port=postgres.port,
        dbname="template1",
        user="postgres",
        password=SUPERUSER_PASSWORD,
        autocommit=True,
        options="-c role=none -c default_transaction_read_only=off -c statement_timeout=0"
        " -c session_authorization=postgres -c local_preload_libraries=",
    )


async def shown(postgres: RealPostgres, user: str, password: str) -> dict[str, str]:
    endpoint = Endpoint("127.0.0.1", postgres.port, "prey", user)
    wanted = pinned_settings(user, 3.0)
    async with opened(endpoint, Password(password), 3.0) as raw:
        found = {}
        for name, pinned in wanted.items():
            row = await (
                await raw.execute("SELECT pg_catalog.current_setting(%s)", [name])
            ).fetchone()
            assert row is not None
            found[name] = pinned if _same(str(row[0]), pinned) else str(row[0])
        return found


def _same(found: str, pinned: str) -> bool:
    """``3s`` is ``3000ms``, and ``ISO, MDY`` is what ``ISO`` becomes."""
    return found == pinned or (found, pinned) == ("3s", "3000ms") or found.startswith(f"{pinned}, ")
