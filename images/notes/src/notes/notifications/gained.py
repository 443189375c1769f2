"""Finds who gains access to a space or a page, and tells them, in the transaction that gives it.

Invariants: who had access before gets no notification, nor who may not read; each person gets one
for a space or page. A change for a group with many people makes none.
"""

from collections.abc import Collection
from uuid import UUID

from notes.db.connect import Conn
from notes.notifications import record

#: So many people can get a notification of one change of groups; of one with more nobody does.
MOST_OF_GROUPS = 200
#: Who comes to a group gets notifications of at most so many of its spaces and pages.
MOST_PLACES = 20


async def by_grants(
    conn: Conn,
    users: Collection[UUID],
    groups: Collection[UUID],
    space_id: UUID,
    node_id: UUID | None,
) -> list[UUID]:
    """Those to whom new permissions of a page (or a space) will give access; none have it now.

    The groups stay as they are until the end of the transaction: a change of their members waits,
    and sees then what they may read.
    """
    members = await _members(conn, await _new(conn, groups, space_id, node_id))
    return await record.outsiders(conn, {*users, *members}, space_id, node_id)


async def by_groups(
    conn: Conn, people: Collection[UUID], groups: Collection[UUID]
) -> list[tuple[record.Where, list[UUID]]]:
    """The spaces and pages to which people who come to groups gain access, and who does.

    Who gains a space is not listed for its pages. The actor is still unknown: `tell` sets it.
    """
    if not people or not groups or len(people) > MOST_OF_GROUPS:
        return []
    cursor = await conn.execute(
        "SELECT space_id, NULL::uuid AS node_id FROM space_members WHERE principal = ANY (%(all)s)"
        " UNION SELECT n.space_id, n.id FROM node_permissions p JOIN nodes n ON n.id = p.node_id"
        " WHERE p.principal = ANY (%(all)s) AND n.trashed_at IS NULL"
        f" ORDER BY node_id NULLS FIRST, space_id LIMIT {MOST_PLACES}",
        {"all": list(groups)},
    )
    found = []
    of_space: dict[UUID, set[UUID]] = {}
    for row in await cursor.fetchall():
        space_id, node_id = row["space_id"], row["node_id"]
        outside = await record.outsiders(conn, people, space_id, node_id)
        gaining = [one for one in outside if one not in of_space.get(space_id, ())]
        if node_id is None:
            of_space[space_id] = set(gaining)
        if gaining:
            found.append((record.Where(space_id, node_id, None), gaining))
    return found


async def tell(
    conn: Conn, gained: list[tuple[record.Where, list[UUID]]], actor: UUID | None
) -> None:
    """Tells people of the places to which they have gained access, after the change."""
    for where, people in gained:
        by = record.Where(where.space_id, where.node_id, actor)
        await record.make(conn, "access", people, by)


async def _new(
    conn: Conn, groups: Collection[UUID], space_id: UUID, node_id: UUID | None
) -> list[UUID]:
    """Those of the groups that have no permissions there yet, locked as they are."""
    if not groups:
        return []
    wanted = {"groups": list(groups), "space": space_id, "node": node_id}
    await conn.execute(
        "SELECT 1 FROM groups WHERE id = ANY (%(groups)s) ORDER BY id FOR SHARE", wanted
    )
    cursor = await conn.execute(
        "SELECT g.id FROM groups g WHERE g.id = ANY (%(groups)s) AND NOT CASE"
        " WHEN %(node)s::uuid IS NULL THEN EXISTS (SELECT 1 FROM space_members m"
        " WHERE m.space_id = %(space)s AND m.principal = g.id)"
        " ELSE EXISTS (SELECT 1 FROM node_permissions p"
        " WHERE p.node_id = %(node)s AND p.principal = g.id) END",
        wanted,
    )
    return [row["id"] for row in await cursor.fetchall()]


async def _members(conn: Conn, groups: list[UUID]) -> list[UUID]:
    """The people of groups; nobody if there are more than the limit."""
    cursor = await conn.execute(
        "SELECT DISTINCT user_id FROM group_members WHERE group_id = ANY (%s)"
        f" LIMIT {MOST_OF_GROUPS + 1}",
        (groups,),
    )
    found = [row["user_id"] for row in await cursor.fetchall()]
    return found if len(found) <= MOST_OF_GROUPS else []
