"""Tells people of what they could read, and cannot read any more.

Invariant: nobody learns the id of a page that they never could read. Only an event for one person
alone names a page; one for all readers of a place may reach who comes there later, and names its
space. An event of the change itself is for those who may read the page after it.
"""

from collections.abc import Collection
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn


async def tell_outer(conn: Conn, row: DictRow, root: UUID | None) -> None:
    """Writes one event for all who can read a page until the permissions of `root` apply to it.

    Call it before these apply. A page with permissions of its own keeps its readers.
    """
    if row["access_root"] not in {row["id"], root}:
        await tell_readers(conn, row)


async def tell_readers(conn: Conn, row: DictRow) -> None:
    """Writes one event for all who can read what has the permissions of a page; it names no page.

    Call it before the page moves away from them.
    """
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, access_root)"
        " VALUES ('page.left', %s, %s) RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        (row["space_id"], row["access_root"]),
    )


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


async def tell_out_of_space(conn: Conn, space_id: UUID, former: Collection[UUID]) -> None:
    """Writes an event for each of some former members of a space who cannot see it now."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, space_id, user_id)"
        " SELECT 'space.members', %(space)s, u.id FROM users u"
        " WHERE u.id IN (SELECT unnest(%(former)s::uuid[]) UNION SELECT g.user_id"
        " FROM group_members g WHERE g.group_id = ANY (%(former)s)) AND u.disabled_at IS NULL"
        " AND space_role(%(space)s, u.id, ARRAY(SELECT g.group_id FROM group_members g"
        " WHERE g.user_id = u.id), u.is_admin) = 0 RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        {"space": space_id, "former": list(former)},
    )


async def tell_out_of_groups(conn: Conn, people: Collection[UUID]) -> None:
    """Writes an event for each of some people who may have lost spaces or pages: it names none."""
    await conn.execute(
        "WITH told AS (INSERT INTO events (kind, user_id) SELECT 'space.members', u.id"
        " FROM users u WHERE u.id = ANY (%s) AND u.disabled_at IS NULL RETURNING 1)"
        " SELECT pg_notify('app_events', '') FROM told",
        (list(people),),
    )
