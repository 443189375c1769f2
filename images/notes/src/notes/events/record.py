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
