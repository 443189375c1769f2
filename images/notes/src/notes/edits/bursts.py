"""API of the times at which a page was edited: edits without a longer pause, and by whom.

Invariant: each edit that is kept is in one burst, and the bursts of two answers do not overlap.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.edits.kept import kept
from notes.http.context import Call
from notes.http.routing import Table
from notes.pages import access
from notes.pages.content import EditNumber
from notes.pages.roles import Role

table = Table("edits")

#: A longer pause ends a burst, and so do ten minutes of the clock.
PAUSE = timedelta(minutes=2)
LONGEST_S = 600
#: The edits that one answer is made of.
READ = 2_000


class Burst(msgspec.Struct, frozen=True):
    """Edits from `first` to `seq`; `authors` are names, empty for who may not see them."""

    first: int
    seq: int
    begun_at: datetime
    at: datetime
    authors: list[str]


class Bursts(msgspec.Struct, frozen=True):
    """The moments from the edit `first` to `last` can be shown; edits are kept for `days`."""

    first: int
    last: int
    days: int
    bursts: list[Burst]


class BurstsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the list; `before` is the `first` of the last burst of the previous answer."""

    before: EditNumber = 2**53
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


@table("GET", "/api/v1/nodes/{id}/bursts")
async def list_bursts(call: Call, id: UUID, query: BurstsQuery) -> Bursts:
    """List when a page was edited and by whom, newest first."""

    async def work(conn: Conn) -> Bursts:
        row = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, row)
        log = await kept(conn, id)
        cursor = await conn.execute(
            "SELECT e.seq, e.at, u.name FROM page_edits e"
            " LEFT JOIN users u ON u.id = e.author_id AND %s"
            " WHERE e.node_id = %s AND e.seq < %s ORDER BY e.seq DESC LIMIT %s",
            (named, id, query.before, READ),
        )
        found = grouped(await cursor.fetchall())
        return Bursts(log.first, log.last, log.days, found[: query.limit])

    return await call.app.db.run(work)


def grouped(edits: Sequence[DictRow]) -> list[Burst]:
    """The bursts of edits that are listed newest first.

    If the list ends because it is full, the rest of its last burst is the first of the next list.
    """
    groups = list[list[DictRow]]()
    for edit in edits:
        later = groups[-1][-1] if groups else None
        if later is not None and _are_together(edit["at"], later["at"]):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    # Its first edits may be missing; a list of one burst alone keeps it.
    if len(edits) >= READ and len(groups) > 1:
        groups.pop()
    return [_burst(group) for group in groups]


def _are_together(earlier: datetime, later: datetime) -> bool:
    same = earlier.timestamp() // LONGEST_S == later.timestamp() // LONGEST_S
    return same and later - earlier <= PAUSE


def _burst(edits: Sequence[DictRow]) -> Burst:
    # In the order in which they began to write.
    names = dict.fromkeys(edit["name"] for edit in reversed(edits) if edit["name"])
    times = [edit["at"] for edit in edits]
    return Burst(edits[-1]["seq"], edits[0]["seq"], min(times), max(times), list(names))
