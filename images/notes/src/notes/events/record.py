"""Writes events, in the transaction of the change that they report."""

from typing import Any
from uuid import UUID

import msgspec

from notes.db.connect import Conn


async def tell(
    conn: Conn,
    kind: str,
    *,
    space_id: UUID | None = None,
    node_id: UUID | None = None,
    user_id: UUID | None = None,
    **data: Any,
) -> None:
    """Writes an event for all readers of the page or space; with `user_id`, for that user only."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, node_id, access_root, user_id, data)"
        " VALUES (%s, %s, %s, (SELECT access_root FROM nodes WHERE id = %s), %s, %s::json)"
        " RETURNING 1) SELECT pg_notify('app_events', '') FROM told",
        (kind, space_id, node_id, node_id, user_id, msgspec.json.encode(data).decode()),
    )


async def tell_of_its_end(conn: Conn, space_id: UUID, node_id: UUID) -> None:
    """Writes the event of a page's deletion for its readers, before its permissions are deleted."""
    cursor = await conn.execute("SELECT access_root FROM nodes WHERE id = %s", (node_id,))
    row = await cursor.fetchone()
    if row is None or row["access_root"] is None:
        await tell(conn, "page.deleted", space_id=space_id, node_id=node_id)
        return
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, node_id, access_root, user_id)"
        " SELECT 'page.deleted', %(space)s, %(node)s, %(root)s, u.id FROM users u"
        " WHERE u.disabled_at IS NULL AND page_role(%(space)s, %(root)s, u.id,"
        " ARRAY(SELECT group_id FROM group_members g WHERE g.user_id = u.id), u.is_admin) > 0"
        " RETURNING 1) SELECT pg_notify('app_events', '') FROM told",
        {"space": space_id, "node": node_id, "root": row["access_root"]},
    )


async def tell_of_the_end(conn: Conn, space_id: UUID) -> None:
    """Writes the event of a space's deletion for each user who may see it now."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, user_id)"
        " SELECT 'space.deleted', %(space)s, u.id FROM users u WHERE u.disabled_at IS NULL"
        " AND space_role(%(space)s, u.id, ARRAY(SELECT group_id FROM group_members g"
        " WHERE g.user_id = u.id), u.is_admin) > 0 RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        {"space": space_id},
    )
