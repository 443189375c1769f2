"""API of users and groups, for administrators."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from psycopg import errors

from notes.auth import audit, sessions
from notes.auth.accounts import Email, Name, NewPassword, make_user
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.notifications import gained
from notes.pages import left

table = Table("people")


class User(msgspec.Struct, frozen=True):
    """A user account."""

    id: UUID
    email: str
    name: str
    is_admin: bool
    disabled: bool
    created_at: datetime


class UserIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user to add; without a password they sign in by single sign-on."""

    email: Email
    name: Name
    password: NewPassword | None = None
    is_admin: bool = False


class UserPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a user to change."""

    name: Name | None = None
    password: NewPassword | None = None
    is_admin: bool | None = None
    disabled: bool | None = None


class Group(msgspec.Struct, frozen=True):
    """A group and its members."""

    id: UUID
    name: str
    members: list[UUID]


class GroupIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name and all members of a group."""

    name: Name
    members: Annotated[list[UUID], msgspec.Meta(max_length=1000)] = []


@table("GET", "/api/v1/users", scope="admin", main_site_only=True)
async def list_users(call: Call) -> list[User]:
    """List all users."""
    rows = await call.app.db.all(
        "SELECT id, email, name, is_admin, disabled_at IS NOT NULL AS disabled, created_at"
        " FROM users ORDER BY name, id"
    )
    return [User(**row) for row in rows]


@table("POST", "/api/v1/users", scope="admin", status=201, main_site_only=True)
async def post_user(call: Call, body: UserIn) -> User:
    """Add a user."""
    password_hash = await call.app.passwords.hash(body.password) if body.password else None

    async def work(conn: Conn) -> UUID:
        made = await make_user(conn, body.email, body.name, password_hash, is_admin=body.is_admin)
        await audit.note(conn, call.viewer, "user.added", body.email, is_admin=body.is_admin)
        return made

    return await _user(call, await call.app.db.transact(work))


@table("PATCH", "/api/v1/users/{id}", scope="admin", main_site_only=True)
async def patch_user(call: Call, id: UUID, body: UserPatch) -> User:
    """Change a user; disabling them, or setting a password, ends all their sessions and tokens.

    One active administrator has to remain.
    """
    password_hash = await call.app.passwords.hash(body.password) if body.password else None

    async def work(conn: Conn) -> None:
        try:
            cursor = await conn.execute(
                "UPDATE users SET name = coalesce(%s, name), is_admin = coalesce(%s, is_admin),"
                " password_hash = coalesce(%s, password_hash),"
                " disabled_at = CASE %s::boolean WHEN true THEN coalesce(disabled_at, now())"
                " WHEN false THEN NULL ELSE disabled_at END WHERE id = %s RETURNING email",
                (body.name, body.is_admin, password_hash, body.disabled, id),
            )
        except errors.RestrictViolation:
            raise Problem(409, "One administrator has to remain.") from None
        row = await cursor.fetchone()
        if row is None:
            raise not_found("person")
        if password_hash:
            await sessions.end_all(conn, id)
        if body.is_admin is False:
            await left.tell_out_of_groups(conn, [id])
        detail = audit.changes(body, but=("password",))
        await audit.note(conn, call.viewer, "user.changed", row["email"], **detail)

    await call.app.db.transact(work)
    return await _user(call, id)


async def _user(call: Call, id: UUID) -> User:
    row = await call.app.db.one(
        "SELECT id, email, name, is_admin, disabled_at IS NOT NULL AS disabled, created_at"
        " FROM users WHERE id = %s",
        (id,),
    )
    if row is None:
        raise not_found("person")
    return User(**row)


@table("GET", "/api/v1/groups", scope="admin", main_site_only=True)
async def list_groups(call: Call) -> list[Group]:
    """List all groups."""
    rows = await call.app.db.all(
        "SELECT id, name, ARRAY(SELECT user_id FROM group_members m WHERE m.group_id = g.id"
        " ORDER BY user_id) AS members FROM groups g ORDER BY name"
    )
    return [Group(**row) for row in rows]


@table("POST", "/api/v1/groups", scope="admin", status=201, main_site_only=True)
async def post_group(call: Call, body: GroupIn) -> Group:
    """Create a group."""

    async def work(conn: Conn) -> Group:
        cursor = await conn.execute(
            "INSERT INTO groups (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING id",
            (body.name,),
        )
        row = await cursor.fetchone()
        if row is None:
            raise Problem(409, "A group with this name exists.", field="name")
        return await _set_members(conn, call, row["id"], body)

    return await call.app.db.transact(work)


@table("PUT", "/api/v1/groups/{id}", scope="admin", main_site_only=True)
async def put_group(call: Call, id: UUID, body: GroupIn) -> Group:
    """Rename a group and set its members."""

    async def work(conn: Conn) -> Group:
        try:
            cursor = await conn.execute(
                "UPDATE groups SET name = %s WHERE id = %s", (body.name, id)
            )
        except errors.UniqueViolation:
            raise Problem(409, "A group with this name exists.", field="name") from None
        if cursor.rowcount == 0:
            raise not_found("group")
        return await _set_members(conn, call, id, body)

    return await call.app.db.transact(work)


@table("DELETE", "/api/v1/groups/{id}", scope="admin", status=204, main_site_only=True)
async def delete_group(call: Call, id: UUID) -> None:
    """Remove a group, also as a member of spaces; pages that are restricted to it stay so."""

    async def work(conn: Conn) -> None:
        members = await _members(conn, id)
        cursor = await conn.execute("DELETE FROM groups WHERE id = %s RETURNING name", (id,))
        row = await cursor.fetchone()
        if row is None:
            raise not_found("group")
        await left.tell_out_of_groups(conn, members)
        await conn.execute("DELETE FROM space_members WHERE principal = %s", (id,))
        # Its permissions of pages stay: without its last ones a page would be open.
        await audit.note(conn, call.viewer, "group.removed", row["name"])

    await call.app.db.transact(work)


async def _set_members(conn: Conn, call: Call, id: UUID, body: GroupIn) -> Group:
    cursor = await conn.execute("SELECT id, email FROM users WHERE id = ANY(%s)", (body.members,))
    known = {row["id"]: row["email"] for row in await cursor.fetchall()}
    unknown = set(body.members) - set(known)
    if unknown:
        raise Problem(422, f"There is no user with the id {min(unknown)}.", field="members")
    before = await _members(conn, id)
    new = await gained.by_groups(conn, known.keys() - before.keys(), [id])
    # The others keep their rows, which say who is there by the identity provider.
    await conn.execute(
        "DELETE FROM group_members WHERE group_id = %s AND user_id <> ALL (%s)", (id, sorted(known))
    )
    await conn.execute(
        "INSERT INTO group_members (group_id, user_id) SELECT %s, unnest(%s::uuid[])"
        " ON CONFLICT DO NOTHING",
        (id, sorted(known)),
    )
    await gained.tell(conn, new, call.viewer.user_id)
    await left.tell_out_of_groups(conn, before.keys() - known.keys())
    detail: dict[str, Any] = {
        "members": len(known),
        "added": sorted(known[one] for one in known.keys() - before.keys()),
        "removed": sorted(before[one] for one in before.keys() - known.keys()),
    }
    await audit.note(conn, call.viewer, "group.set", body.name, **detail)
    return Group(id, body.name, sorted(known))


async def _members(conn: Conn, group_id: UUID) -> dict[UUID, str]:
    """The people of a group, with their e-mail addresses."""
    cursor = await conn.execute(
        "SELECT user_id, email FROM group_members m JOIN users u ON u.id = m.user_id"
        " WHERE group_id = %s",
        (group_id,),
    )
    return {row["user_id"]: row["email"] for row in await cursor.fetchall()}
