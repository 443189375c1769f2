"""Opens and configures database connections.

Invariant: a dead connection is noticed within seconds (keepalives and `tcp_user_timeout`), and a
connection to a standby is never used.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_dumps
from psycopg.types.string import TextLoader

Conn = psycopg.AsyncConnection[DictRow]

_PATIENCE: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # ms
    "target_session_attrs": "read-write",
    "client_encoding": "utf8",
}
STATEMENT_TIMEOUT_S = 30
ROWS_AT_ONCE = 1000
DELETE_TIMEOUT_S = 600  # deleting a file deletes all its chunks, a space all its files

set_json_dumps(lambda value: msgspec.json.encode(value).decode())


class RawJson(Loader):
    """Loads `json` columns unparsed: most are sent to the client as they are."""

    def load(self, data: Buffer) -> msgspec.Raw:
        return msgspec.Raw(bytes(data))


def conninfo(url: str, application: str) -> str:
    """`url` with default timeouts and keepalives, unless it sets them itself."""
    given = conninfo_to_dict(url)
    extra = {key: value for key, value in _PATIENCE.items() if key not in given}
    return make_conninfo(url, **extra, application_name=given.get("application_name", application))


async def dress(conn: psycopg.AsyncConnection[Any]) -> None:
    """Configures a new connection: loaders, autocommit, timeouts and time zone."""
    conn.adapters.register_loader("json", RawJson)
    conn.adapters.register_loader("tsvector", TextLoader)
    await conn.set_autocommit(True)
    conn.row_factory = dict_row
    await conn.execute(
        f"SET statement_timeout = '{STATEMENT_TIMEOUT_S}s';"
        " SET idle_in_transaction_session_timeout = '60s'; SET timezone = 'UTC';"
        " SET default_transaction_isolation = 'read committed'"
    )


async def rows_of(cursor: psycopg.AsyncCursor[DictRow]) -> AsyncIterator[DictRow]:
    """Yields every row of a long result and lets other tasks run in between."""
    while rows := await cursor.fetchmany(ROWS_AT_ONCE):
        for row in rows:
            yield row
        await asyncio.sleep(0)


async def take_time(conn: psycopg.AsyncConnection[Any]) -> None:
    """Raises the statement timeout of this transaction, for deleting many files."""
    await conn.execute(f"SET LOCAL statement_timeout = '{DELETE_TIMEOUT_S}s'")


async def open_connection(url: str, application: str) -> Conn:
    """Opens one connection outside the pool."""
    conn: Conn = await psycopg.AsyncConnection.connect(
        conninfo(url, application), autocommit=True, row_factory=dict_row
    )
    try:
        await dress(conn)
    except BaseException:
        await conn.close()
        raise
    return conn
