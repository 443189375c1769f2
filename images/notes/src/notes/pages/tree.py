"""API of a space's page tree: list, move, trash, restore and delete pages.

Invariant: one transaction at a time changes a space's tree, so no page is ever below itself.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from notes.auth import audit
from notes.db.connect import Conn, rows_of, take_time
from notes.events.record import tell, tell_of_its_end
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.pages import access, left
from notes.pages.roles import Role

table = Table("tree")

STEP = 1024


class TreeNode(msgspec.Struct, frozen=True, gc=False):
    """A page's place in the tree, without its content."""

    id: UUID
    parent_id: UUID | None
    title: str
    is_template: bool
    is_restricted: bool
    updated_at: datetime


class TrashedNode(msgspec.Struct, frozen=True):
    """A page in the trash; the pages below it are restored with it."""

    id: UUID
    title: str
    trashed_at: datetime
    trashed_by: UUID | None


class MoveIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The new place: below `parent_id` (or at the top), right after the sibling `after_id`.

    Without `after_id` it becomes the first. `space_id` moves it to another space.
    """

    parent_id: UUID | None = None
    after_id: UUID | None = None
    space_id: UUID | None = None


class DeleteQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With `forever` a page in the trash is deleted permanently."""

    forever: bool = False


@table("GET", "/api/v1/spaces/{id}/tree")
async def get_tree(call: Call, id: UUID) -> list[TreeNode]:
    """List all pages of a space that you may see, siblings in their order."""
    return await first_pages(call, id, None)


async def first_pages(call: Call, id: UUID, limit: int | None) -> list[TreeNode]:
    """The first `limit` pages of a space in the order of `get_tree`, the top level first."""

    async def work(conn: Conn) -> list[TreeNode]:
        await access.space(conn, call, id, Role.VIEWER)
        person, groups, is_admin = call.viewer.access
        cursor = await conn.execute(
            "SELECT id, parent_id, title, is_template, access_root IS NOT NULL AS is_restricted,"
            " updated_at FROM nodes WHERE space_id = %(space)s AND trashed_at IS NULL"
            " AND (access_root IS NULL OR"
            " page_role(space_id, access_root, %(person)s, %(groups)s, %(admin)s) > 0)"
            " ORDER BY parent_id NULLS FIRST, position, id LIMIT %(limit)s",
            {
                "space": id,
                "person": person,
                "groups": groups,
                "admin": is_admin,
                "limit": limit,
            },
        )
        return [TreeNode(**row) async for row in rows_of(cursor)]

    return await call.app.db.run(work)


@table("POST", "/api/v1/nodes/{id}/move", scope="write", status=204)
async def move_node(call: Call, id: UUID, body: MoveIn) -> None:
    """Move a page with all pages below it."""

    async def work(conn: Conn) -> None:
        target = body.space_id
        if target is None and body.parent_id is not None:
            below = await access.page(conn, call, body.parent_id, Role.EDITOR)
            target = below["space_id"]
        others = [target] if target else []
        row = await access.page_in_tree(conn, call, id, Role.EDITOR, *others)
        target = target or row["space_id"]
        parent = None
        if body.parent_id is None:
            await access.space(conn, call, target, Role.EDITOR)
        else:
            parent = await access.page(conn, call, body.parent_id, Role.EDITOR)
            if parent["space_id"] != target:
                raise Problem(422, "The parent is in another space.", field="parent_id")
            if await access.in_subtree(conn, id, body.parent_id):
                raise Problem(422, "A page cannot be below itself.", field="parent_id")
        if target != row["space_id"] or body.parent_id != row["parent_id"]:
            # A move among its siblings needs no role on the pages below.
            await access.subtree_to(conn, call, row, target, parent)
        position = await _place(conn, target, id, body)
        await conn.execute(
            "UPDATE nodes SET parent_id = %s, position = %s WHERE id = %s",
            (body.parent_id, position, id),
        )
        if target != row["space_id"]:
            await conn.execute(
                "WITH RECURSIVE t AS (SELECT id FROM nodes WHERE id = %s UNION ALL"
                " SELECT n.id FROM nodes n JOIN t ON n.parent_id = t.id)"
                " UPDATE nodes n SET space_id = %s FROM t WHERE n.id = t.id",
                (id, target),
            )
            await left.tell_readers(conn, row)
        else:
            await left.tell_outer(conn, row, parent["access_root"] if parent else None)
        await access.renew_access_roots(conn, id)
        await tell(conn, "page.moved", space_id=target, node_id=id, parent_id=body.parent_id)
        await audit.note(conn, call.viewer, "page.moved", row["title"], space_id=target, node_id=id)

    await call.app.db.transact(work)


async def _place(conn: Conn, space_id: UUID, node_id: UUID, body: MoveIn) -> int:
    cursor = await conn.execute(
        "SELECT id, position FROM nodes WHERE space_id = %s AND parent_id IS NOT DISTINCT FROM %s"
        " AND id <> %s AND trashed_at IS NULL ORDER BY position, id FOR UPDATE",
        (space_id, body.parent_id, node_id),
    )
    siblings = await cursor.fetchall()
    if body.after_id is None:
        return siblings[0]["position"] - STEP if siblings else STEP
    ids = [row["id"] for row in siblings]
    if body.after_id not in ids:
        raise Problem(422, "That page is not a sibling at the new place.", field="after_id")
    at = ids.index(body.after_id)
    if at == len(ids) - 1:
        return int(siblings[at]["position"]) + STEP
    low, high = siblings[at]["position"], siblings[at + 1]["position"]
    if high - low > 1:
        return int((low + high) // 2)
    # No room between the two: give every sibling a new number.
    for number, sibling in enumerate(ids):
        behind = number > at
        await conn.execute(
            "UPDATE nodes SET position = %s WHERE id = %s",
            ((number + 1 + behind) * STEP, sibling),
        )
    return (at + 2) * STEP


@table("DELETE", "/api/v1/nodes/{id}", scope="write", status=204)
async def delete_node(call: Call, id: UUID, query: DeleteQuery) -> None:
    """Move a page and all below it to the trash, or with `forever` delete it from there."""
    await (_purge if query.forever else _trash)(call, id)


async def _trash(call: Call, node_id: UUID) -> None:
    async def work(conn: Conn) -> None:
        row = await access.page_in_tree(conn, call, node_id, Role.EDITOR)
        await access.subtree(conn, call, row, Role.EDITOR, trashed=False)
        await conn.execute(
            "WITH RECURSIVE t AS (SELECT id FROM nodes WHERE id = %(id)s UNION ALL"
            " SELECT n.id FROM nodes n JOIN t ON n.parent_id = t.id WHERE n.trashed_at IS NULL)"
            " UPDATE nodes n SET trashed_at = now(), trashed_by = %(by)s, trash_root = %(id)s"
            " FROM t WHERE n.id = t.id",
            {"id": node_id, "by": call.viewer.user_id},
        )
        await tell(conn, "page.trashed", space_id=row["space_id"], node_id=node_id)
        await audit.note(
            conn,
            call.viewer,
            "page.trashed",
            row["title"],
            space_id=row["space_id"],
            node_id=node_id,
        )

    await call.app.db.transact(work)


async def _purge(call: Call, node_id: UUID) -> None:
    """Deletes a page permanently, in a separate transaction without the tree's lock."""

    async def set_apart(conn: Conn) -> datetime:
        row = await access.page_in_tree(conn, call, node_id, Role.EDITOR, trashed=True)
        if row["trashed_at"] is None:
            raise Problem(409, "Put the page in the trash first.")
        # Pages below that were trashed separately stay in the trash: they are not to be deleted.
        cursor = await conn.execute(
            "WITH RECURSIVE t AS (SELECT id FROM nodes WHERE id = %(id)s UNION ALL"
            " SELECT n.id FROM nodes n JOIN t ON n.parent_id = t.id)"
            " SELECT n.id FROM nodes n JOIN t ON n.id = t.id"
            " WHERE n.trash_root = n.id AND n.id <> %(id)s ORDER BY n.trashed_at, n.id",
            {"id": node_id},
        )
        for apart in await cursor.fetchall():
            await access.to_the_top(conn, apart["id"])
        await access.subtree(conn, call, row, Role.EDITOR)
        trashed_at: datetime = row["trashed_at"]
        return trashed_at

    since = await call.app.db.transact(set_apart)

    async def work(conn: Conn) -> None:
        row = await access.page(conn, call, node_id, Role.EDITOR, lock=True, trashed=True)
        if row["trashed_at"] != since:
            raise Problem(409, "The page has been taken out of the trash in the meantime.")
        await access.subtree(conn, call, row, Role.EDITOR)
        await tell_of_its_end(conn, row["space_id"], node_id)
        await take_time(conn)
        await conn.execute("DELETE FROM nodes WHERE id = %s", (node_id,))
        await audit.note(
            conn,
            call.viewer,
            "page.deleted",
            row["title"],
            space_id=row["space_id"],
            node_id=node_id,
        )

    await call.app.db.transact(work)


@table("POST", "/api/v1/nodes/{id}/restore", scope="write", status=204)
async def restore_node(call: Call, id: UUID) -> None:
    """Restore a page from the trash, with all pages trashed with it.

    It returns to its parent, or to the top of the space if the parent is in the trash or deleted.
    """

    async def work(conn: Conn) -> None:
        row = await access.page_in_tree(conn, call, id, Role.EDITOR, trashed=True)
        if row["trash_root"] != id:
            raise not_found("page at the top of the trash")
        await access.subtree(conn, call, row, Role.EDITOR, trashed=True)
        cursor = await conn.execute(
            "UPDATE nodes SET trashed_at = NULL, trashed_by = NULL, trash_root = NULL"
            " WHERE trash_root = %s",
            (id,),
        )
        if cursor.rowcount == 0:
            raise not_found("page at the top of the trash")  # it is being deleted permanently
        cursor = await conn.execute(
            "SELECT 1 FROM nodes WHERE id = %s AND trashed_at IS NOT NULL", (row["parent_id"],)
        )
        if await cursor.fetchone() is not None:
            await access.to_the_top(conn, id)
        await access.renew_access_roots(conn, id)
        await tell(conn, "page.restored", space_id=row["space_id"], node_id=id)
        await audit.note(
            conn, call.viewer, "page.restored", row["title"], space_id=row["space_id"], node_id=id
        )

    await call.app.db.transact(work)


@table("GET", "/api/v1/spaces/{id}/trash")
async def get_trash(call: Call, id: UUID) -> list[TrashedNode]:
    """List a space's trash, latest first; a page is deleted after 30 days."""

    async def work(conn: Conn) -> list[TrashedNode]:
        await access.space(conn, call, id, Role.EDITOR)
        person, groups, is_admin = call.viewer.access
        cursor = await conn.execute(
            "SELECT id, title, trashed_at, trashed_by FROM nodes WHERE space_id = %s"
            " AND trash_root = id AND page_role(space_id, access_root, %s, %s, %s) > 0"
            " ORDER BY trashed_at DESC, id LIMIT 500",
            (id, person, groups, is_admin),
        )
        return [TrashedNode(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)
