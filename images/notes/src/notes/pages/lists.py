"""Lists of pages: those that link to a page, favourites, and those saved last."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import Role

table = Table("around a page")


class Reference(msgspec.Struct, frozen=True):
    """A page in a list of links, favourites or recent pages."""

    id: UUID
    space_id: UUID
    title: str
    updated_at: datetime


class RecentQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The length of the list."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


@table("GET", "/api/v1/nodes/{id}/backlinks")
async def list_backlinks(call: Call, id: UUID) -> list[Reference]:
    """List the pages that link to a page, as far as you may see them."""

    async def work(conn: Conn) -> list[Reference]:
        await access.page(conn, call, id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT n.id, n.space_id, n.title, n.updated_at FROM links l"
            " JOIN nodes n ON n.id = l.from_node WHERE l.to_node = %s AND n.trashed_at IS NULL"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0 ORDER BY n.title, n.id",
            (id, *call.viewer.access),
        )
        return [Reference(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("GET", "/api/v1/favourites")
async def list_favourites(call: Call) -> list[Reference]:
    """List your favourite pages in the order in which you chose them."""
    rows = await call.app.db.all(
        "SELECT n.id, n.space_id, n.title, n.updated_at FROM favourites f"
        " JOIN nodes n ON n.id = f.node_id WHERE f.user_id = %s AND n.trashed_at IS NULL"
        " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0 ORDER BY f.created_at, n.id",
        (call.viewer.person, *call.viewer.access),
    )
    return [Reference(**row) for row in rows]


@table("GET", "/api/v1/recent")
async def list_recent(call: Call, query: RecentQuery) -> list[Reference]:
    """List the pages that were saved last."""
    rows = await call.app.db.all(
        "SELECT n.id, n.space_id, n.title, n.updated_at FROM nodes n WHERE n.trashed_at IS NULL"
        " AND (%s::uuid IS NULL OR n.space_id = %s)"
        " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0"
        " ORDER BY n.updated_at DESC LIMIT %s",
        (call.seen.site.space_id, call.seen.site.space_id, *call.viewer.access, query.limit),
    )
    return [Reference(**row) for row in rows]


@table("PUT", "/api/v1/nodes/{id}/favourite", scope="write", status=204)
async def put_favourite(call: Call, id: UUID) -> None:
    """Add a page to your favourites."""

    async def work(conn: Conn) -> None:
        await access.page(conn, call, id, Role.VIEWER)
        await conn.execute(
            "INSERT INTO favourites (user_id, node_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (call.viewer.person, id),
        )

    await call.app.db.transact(work)


@table("DELETE", "/api/v1/nodes/{id}/favourite", scope="write", status=204)
async def delete_favourite(call: Call, id: UUID) -> None:
    """Remove a page from your favourites."""
    await call.app.db.do(
        "DELETE FROM favourites WHERE user_id = %s AND node_id = %s", (call.viewer.person, id)
    )
