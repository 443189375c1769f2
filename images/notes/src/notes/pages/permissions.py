"""A page's own permissions, which replace those of its space."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.notifications import gained, record
from notes.pages import access, left
from notes.pages.roles import Role, RoleName

table = Table("around a page")


class Grant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user or a group, and their role."""

    principal: UUID
    kind: Literal["user", "group"]
    role: RoleName


class GrantsIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All grants; an empty list removes the page's own permissions."""

    grants: Annotated[list[Grant], msgspec.Meta(max_length=500)]


@table("GET", "/api/v1/nodes/{id}/permissions")
async def get_permissions(call: Call, id: UUID) -> list[Grant]:
    """List a page's own permissions; they replace the space's for it and all below it."""

    async def work(conn: Conn) -> list[Grant]:
        await access.page(conn, call, id, Role.MANAGER)
        return await _own(conn, id)

    return await call.app.db.run(work)


async def _own(conn: Conn, id: UUID) -> list[Grant]:
    """The page's own permissions."""
    cursor = await conn.execute(
        "SELECT principal, kind, role FROM node_permissions WHERE node_id = %s"
        " ORDER BY kind, principal",
        (id,),
    )
    return [grant(row) for row in await cursor.fetchall()]


@table("PUT", "/api/v1/nodes/{id}/permissions", scope="write")
async def put_permissions(call: Call, id: UUID, body: GrantsIn) -> list[Grant]:
    """Set a page's own permissions; with an empty list those of above or of the space apply again.

    With own permissions, you have to remain a manager of the page. Other ones than before end the
    share links that were made under those.
    """

    async def work(conn: Conn) -> list[Grant]:
        row = await access.page_in_tree(conn, call, id, Role.MANAGER)
        await check_principals(conn, body.grants, row["access_root"])
        named = users_and_groups(body.grants)
        outside = await gained.by_grants(conn, *named, row["space_id"], id)
        before = await _own(conn, id)
        if body.grants:
            await left.tell_outer(conn, row, id)
        await _replace(conn, id, before, body.grants)
        if body.grants:
            await _require_a_manager(conn, call, row["space_id"], id)
        where = {"space_id": row["space_id"], "node_id": id}
        await tell(conn, "page.permissions", **where)
        former = {one.principal for one in before} - {one.principal for one in body.grants}
        await left.tell_former(conn, row, former)
        by = record.Where(row["space_id"], id, call.viewer.user_id)
        await record.make(conn, "access", outside, by)
        roles = await changed(conn, before, body.grants)
        detail: dict[str, Any] = {"grants": len(body.grants), "roles": roles}
        await audit.note(conn, call.viewer, "page.permissions", row["title"], **where, **detail)
        return body.grants

    return await call.app.db.transact(work)


async def _replace(conn: Conn, id: UUID, before: list[Grant], grants: list[Grant]) -> None:
    """Sets a page's own permissions, and ends the links that were made under others of them."""
    await conn.execute("DELETE FROM node_permissions WHERE node_id = %s", (id,))
    for one in grants:
        await conn.execute(
            "INSERT INTO node_permissions (node_id, principal, kind, role) VALUES (%s, %s, %s, %s)",
            (id, one.principal, one.kind, Role.named(one.role)),
        )
    await access.renew_access_roots(conn, id)
    # While the page has no own permissions, they hold: it is open to more people anyway.
    if grants and set(grants) != set(before):
        await conn.execute(
            "UPDATE shares SET ended_at = now() WHERE access_root = %s AND ended_at IS NULL", (id,)
        )


async def _require_a_manager(conn: Conn, call: Call, space_id: UUID, node_id: UUID) -> None:
    """Raises a 422 if the viewer does not manage the page any more: nobody locks themselves out."""
    cursor = await conn.execute(
        "SELECT page_role(%s, %s, %s, %s, %s) AS role",
        (space_id, node_id, *call.viewer.access),
    )
    found = await cursor.fetchone()
    if found is None or found["role"] < Role.MANAGER:
        raise Problem(
            422,
            "You would not manage this page any more; keep the role manager for yourself or for"
            " a group that you are in.",
            field="grants",
        )


async def changed(
    conn: Conn, before: Sequence[Grant], after: Sequence[Grant]
) -> list[dict[str, Any]]:
    """Returns the changes of roles, for the audit log; the role of who has lost theirs is `none`.

    As in the log's subjects, a user is named by the e-mail address, which is theirs alone.
    """
    kinds = {one.principal: one.kind for one in (*before, *after)}
    was = {one.principal: one.role for one in before}
    now = {one.principal: one.role for one in after}
    changes = [one for one in kinds if was.get(one) != now.get(one)]
    cursor = await conn.execute(
        "SELECT id, email AS name FROM users WHERE id = ANY (%(all)s)"
        " UNION ALL SELECT id, name FROM groups WHERE id = ANY (%(all)s)",
        {"all": changes},
    )
    names = {row["id"]: row["name"] for row in await cursor.fetchall()}
    return [
        {
            "principal": str(one),
            "kind": kinds[one],
            "name": names.get(one, ""),
            "role": now.get(one, "none"),
        }
        for one in changes
    ]


def grant(row: dict[str, Any]) -> Grant:
    return msgspec.convert({**row, "role": Role(row["role"]).label}, Grant)


def users_and_groups(grants: Sequence[Grant]) -> tuple[list[UUID], list[UUID]]:
    """The users of some grants, and the groups."""
    users = [one.principal for one in grants if one.kind == "user"]
    return users, [one.principal for one in grants if one.kind == "group"]


async def check_principals(conn: Conn, grants: Sequence[Grant], root: UUID | None = None) -> None:
    """Raises a 422 for a grant to an unknown principal, or two to the same one.

    Who is gone, but still has permissions of the page `root`, may keep some: they restrict it.
    """
    if len({one.principal for one in grants}) != len(grants):
        raise Problem(422, "A user or group is listed twice.", field="grants")
    users, groups = users_and_groups(grants)
    cursor = await conn.execute(
        "SELECT 'user' AS kind, id FROM users WHERE id = ANY (%(users)s)"
        " UNION SELECT 'group', id FROM groups WHERE id = ANY (%(groups)s)"
        " UNION SELECT kind, principal FROM node_permissions WHERE node_id = %(root)s::uuid",
        {"users": users, "groups": groups, "root": root},
    )
    known = {(row["kind"], row["id"]) for row in await cursor.fetchall()}
    lacking = [one for one in grants if (one.kind, one.principal) not in known]
    if lacking:
        raise Problem(422, f"There is no {lacking[0].kind} {lacking[0].principal}.", field="grants")
