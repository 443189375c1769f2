"""Writes an event in the transaction of what it tells about."""

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
    """Tells whoever may read the page or the space; with `user_id`, that person alone."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, node_id, user_id, data)"
        " VALUES (%s, %s, %s, %s, %s::json) RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        (kind, space_id, node_id, user_id, msgspec.json.encode(data).decode()),
    )


async def tell_of_the_end(conn: Conn, space_id: UUID) -> None:
    """Tells everybody who may see a space that it is deleted: afterwards nobody may see it."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, user_id)"
        " SELECT 'space.deleted', %(space)s, u.id FROM users u WHERE u.disabled_at IS NULL"
        " AND space_role(%(space)s, u.id, ARRAY(SELECT group_id FROM group_members g"
        " WHERE g.user_id = u.id), u.is_admin) > 0 RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        {"space": space_id},
    )
