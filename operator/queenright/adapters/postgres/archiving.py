"""Status of WAL archiving through psycopg: the real adapter behind ``ports.archiving``.

Invariant: only a primary's answer counts. What waits is counted in `pg_wal/archive_status`, since
`pg_stat_archiver` counts no try that ended by a signal or with a status above 125.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from queenright.adapters.postgres.databases import (
    DATABASE,
    LEADERS_AT_ONCE,
    READ_S,
    connection,
    fetched,
    not_primary,
)
from queenright.adapters.postgres.statements import ARCHIVING_SQL
from queenright.adapters.turns import Turns
from queenright.core.observed.archiving import Archiving
from queenright.ports.database import Row
from queenright.ports.databases import Server
from queenright.ports.errors import UnavailableError

WAL_FILE = re.compile(r"[0-9A-F]{8}(?:\.history|[0-9A-F]{16}(?:\.[0-9A-Za-z.]{1,40})?)")
"""A segment, one that a promotion cut short, a backup's or a timeline's file."""
SYSTEM = re.compile(r"[0-9]{1,20}")


class PostgresArchiving:
    """A new connection for each call, because the leader may have changed."""

    def __init__(self) -> None:
        self._turns = Turns(busy=LEADERS_AT_ONCE)

    async def read(self, server: Server) -> Archiving:
        async with (
            self._turns.turn(),
            connection(server, DATABASE, READ_S) as raw,
        ):
            (row,) = await fetched(raw, ARCHIVING_SQL)
        return decode(row, server)


def decode(row: Row, server: Server) -> Archiving:
    """Return the status out of the statement's one row; UnavailableError if it is none."""
    in_recovery, at, mode, last, last_at, failed, failed_at, waiting, since, segment, *rest = row
    system, why = rest
    if in_recovery:
        raise not_primary(server)
    if not isinstance(at, datetime) or not isinstance(waiting, int) or not isinstance(segment, int):
        raise UnavailableError(f"{server.host}:{server.port} answers in an unknown form")
    return Archiving(
        at=at.astimezone(UTC),
        is_on=str(mode) != "off",
        last_wal=file_name(last),
        last_at=moment(last_at),
        failed_wal=file_name(failed),
        failed_at=moment(failed_at),
        waiting=waiting,
        waiting_bytes=waiting * segment,
        waiting_since=moment(since) if waiting else None,
        why=cause(why) if waiting else "",
        system=system if isinstance(system, str) and SYSTEM.fullmatch(system) else "",
    )


def cause(value: object) -> str:
    """Return a member's text for people: one line of printable letters."""
    return "".join(c if c.isprintable() else " " for c in value) if isinstance(value, str) else ""


def file_name(value: object) -> str:
    return value if isinstance(value, str) and WAL_FILE.fullmatch(value) else ""


def moment(value: object) -> datetime | None:
    return value.astimezone(UTC) if isinstance(value, datetime) else None
