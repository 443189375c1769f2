"""Tells people of a page that they could read, and cannot read any more.

Invariant: they learn the id alone, which they knew. An event of the change itself is for those who
may read the page after it.
"""

from collections.abc import Collection
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.events.record import tell


async def tell_outer(conn: Conn, row: DictRow, root: UUID | None) -> None:
    """Writes one event for all who can read a page until the permissions of `root` apply to it.

    Call it before these apply. A page with permissions of its own keeps its readers.
    """
    if row["access_root"] not in {row["id"], root}:
        await tell(conn, "page.left", space_id=row["space_id"], node_id=row["id"])


async def tell_former(conn: Conn, row: DictRow, former: Collection[UUID]) -> None:
    """Writes an event for each of some former users and groups of a page who cannot read it now."""
    if not former:
        return
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, node_id, user_id)"
        " SELECT 'page.left', n.space_id, n.id, u.id FROM nodes n, users u WHERE n.id = %(node)s"
        " AND u.id IN (SELECT unnest(%(former)s::uuid[]) UNION SELECT g.user_id"
        " FROM group_members g WHERE g.group_id = ANY (%(former)s)) AND u.disabled_at IS NULL"
        " AND page_role(n.space_id, n.access_root, u.id, ARRAY(SELECT g.group_id"
        " FROM group_members g WHERE g.user_id = u.id), u.is_admin) = 0 RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        {"node": row["id"], "former": list(former)},
    )
