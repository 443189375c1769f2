"""What is kept around a page: who links to it, whose favourite it is, who may do what with it."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.call import Call
from notes.http.endpoint import Table
from notes.http.problems import Problem
from notes.pages import access
from notes.pages.roles import Role, RoleName

table = Table("around a page")


class Reference(msgspec.Struct, frozen=True):
    """A page that another one refers to."""

    id: UUID
    space_id: UUID
    title: str
    updated_at: datetime


class Grant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person or a group, and what they may do."""

    principal: UUID
    kind: Literal["user", "group"]
    role: RoleName


class GrantsIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All grants; with none the page has no permissions of its own."""

    grants: Annotated[list[Grant], msgspec.Meta(max_length=500)]


class RecentQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


@table("GET", "/api/v1/nodes/{id}/backlinks")
async def list_backlinks(call: Call, id: UUID) -> list[Reference]:
    """The pages that link to a page, and that one may see."""

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
    """One's favourite pages, oldest choice first."""
    rows = await call.app.db.all(
        "SELECT n.id, n.space_id, n.title, n.updated_at FROM favourites f"
        " JOIN nodes n ON n.id = f.node_id WHERE f.user_id = %s AND n.trashed_at IS NULL"
        " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0 ORDER BY f.created_at, n.id",
        (call.viewer.person, *call.viewer.access),
    )
    return [Reference(**row) for row in rows]


@table("GET", "/api/v1/recent")
async def list_recent(call: Call, query: RecentQuery) -> list[Reference]:
    """The pages that were saved last."""
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
    """Make a page a favourite."""

    async def work(conn: Conn) -> None:
        await access.page(conn, call, id, Role.VIEWER)
        await conn.execute(
            "INSERT INTO favourites (user_id, node_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (call.viewer.person, id),
        )

    await call.app.db.transact(work)


@table("DELETE", "/api/v1/nodes/{id}/favourite", scope="write", status=204)
async def delete_favourite(call: Call, id: UUID) -> None:
    """Make a page no favourite any more."""
    await call.app.db.do(
        "DELETE FROM favourites WHERE user_id = %s AND node_id = %s", (call.viewer.person, id)
    )


@table("GET", "/api/v1/nodes/{id}/permissions")
async def get_permissions(call: Call, id: UUID) -> list[Grant]:
    """A page's own permissions; they replace the space's for it and all below it."""

    async def work(conn: Conn) -> list[Grant]:
        await access.page(conn, call, id, Role.MANAGER)
        cursor = await conn.execute(
            "SELECT principal, kind, role FROM node_permissions WHERE node_id = %s"
            " ORDER BY kind, principal",
            (id,),
        )
        return [grant(row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("PUT", "/api/v1/nodes/{id}/permissions", scope="write")
async def put_permissions(call: Call, id: UUID, body: GrantsIn) -> list[Grant]:
    """Set a page's own permissions; none at all lets the space's hold again."""

    async def work(conn: Conn) -> list[Grant]:
        row = await access.page_in_tree(conn, call, id, Role.MANAGER)
        await check_principals(conn, body.grants)
        await conn.execute("DELETE FROM node_permissions WHERE node_id = %s", (id,))
        for one in body.grants:
            await conn.execute(
                "INSERT INTO node_permissions (node_id, principal, kind, role)"
                " VALUES (%s, %s, %s, %s)",
                (id, one.principal, one.kind, Role.named(one.role)),
            )
        await access.renew_access_roots(conn, id)
        where = {"space_id": row["space_id"], "node_id": id}
        await tell(conn, "page.permissions", **where)
        await audit.note(
            conn, call.viewer, "page.permissions", row["title"], **where, grants=len(body.grants)
        )
        return body.grants

    return await call.app.db.transact(work)


def grant(row: dict[str, Any]) -> Grant:
    return msgspec.convert({**row, "role": Role(row["role"]).label}, Grant)


async def check_principals(conn: Conn, grants: list[Grant]) -> None:
    """Raises a 422 for a grant to nobody, or two to the same."""
    if len({one.principal for one in grants}) != len(grants):
        raise Problem(422, "Somebody is named twice.", field="grants")
    for kind in ("user", "group"):
        wanted = {one.principal for one in grants if one.kind == kind}
        cursor = await (
            conn.execute("SELECT id FROM users WHERE id = ANY(%s)", (list(wanted),))
            if kind == "user"
            else conn.execute("SELECT id FROM groups WHERE id = ANY(%s)", (list(wanted),))
        )
        lacking = wanted - {row["id"] for row in await cursor.fetchall()}
        if lacking:
            raise Problem(422, f"There is no {kind} {min(lacking)}.", field="grants")
