"""How every connection is opened and dressed.

Invariant: a connection that goes silent is noticed within seconds (keepalives and
`tcp_user_timeout`), and one to a standby is not used at all.
"""

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
DELETE_TIMEOUT_S = 600  # a file goes with all its chunks, a space with all its files

set_json_dumps(lambda value: msgspec.json.encode(value).decode())


class RawJson(Loader):
    """Hands `json` columns over as they are: most are sent on without being looked into."""

    def load(self, data: Buffer) -> msgspec.Raw:
        return msgspec.Raw(bytes(data))


def conninfo(url: str, application: str) -> str:
    """`url` with our patience, except where it says otherwise itself."""
    given = conninfo_to_dict(url)
    extra = {key: value for key, value in _PATIENCE.items() if key not in given}
    return make_conninfo(url, **extra, application_name=given.get("application_name", application))


async def dress(conn: psycopg.AsyncConnection[Any]) -> None:
    """Sets what every statement relies on."""
    conn.adapters.register_loader("json", RawJson)
    conn.adapters.register_loader("tsvector", TextLoader)
    await conn.set_autocommit(True)
    conn.row_factory = dict_row
    await conn.execute(
        f"SET statement_timeout = '{STATEMENT_TIMEOUT_S}s';"
        " SET idle_in_transaction_session_timeout = '60s'; SET timezone = 'UTC';"
        " SET default_transaction_isolation = 'read committed'"
    )


async def take_time(conn: psycopg.AsyncConnection[Any]) -> None:
    """Lets this transaction's statements take as long as deleting many files does."""
    await conn.execute(f"SET LOCAL statement_timeout = '{DELETE_TIMEOUT_S}s'")


async def open_connection(url: str, application: str) -> Conn:
    """One connection outside the pool."""
    conn: Conn = await psycopg.AsyncConnection.connect(
        conninfo(url, application), autocommit=True, row_factory=dict_row
    )
    try:
        await dress(conn)
    except BaseException:
        await conn.close()
        raise
    return conn
