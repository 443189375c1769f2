"""The part of a page's edit log that is kept."""

from typing import NamedTuple
from uuid import UUID

from notes.db.connect import Conn


class Kept(NamedTuple):
    """The moments from `first` to `last` can be shown: edits are kept for `days`."""

    first: int
    last: int
    days: int


async def kept(conn: Conn, node_id: UUID) -> Kept:
    """The kept part of a page's log; of a page without edits the moment 0 alone."""
    cursor = await conn.execute(
        "SELECT coalesce(l.seq, 0) AS last, s.edit_log_days AS days,"
        # Of edits that are deleted, a snapshot of the last one is kept.
        " coalesce((SELECT min(e.seq) - 1 FROM page_edits e WHERE e.node_id = %(id)s), l.seq, 0)"
        " AS first FROM settings s LEFT JOIN page_logs l ON l.node_id = %(id)s",
        {"id": node_id},
    )
    row = await cursor.fetchone()
    return Kept(row["first"], row["last"], row["days"]) if row else Kept(0, 0, 0)
