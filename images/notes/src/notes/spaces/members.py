"""API of the members of a space: the whole list, and one of them.

Invariants: a space keeps a manager; changes of one space's members are made one after the other, so
two of them can neither overwrite each other unseen nor remove the last manager together.
"""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.requests import Request
from starlette.responses import Response

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.compression import json_response, plain_tag
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.http.viewer import Viewer
from notes.notifications import gained, record
from notes.pages import access, left
from notes.pages.permissions import Grant, changed, check_principals, users_and_groups
from notes.pages.roles import Role, RoleName

table = Table("spaces")

MOST = 500


class Member(Grant, frozen=True, forbid_unknown_fields=True):
    """A member of a space; the answer has the name, a request may leave it out."""

    name: Annotated[str, msgspec.Meta(max_length=300)] = ""


class MembersIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All members of a space, each with a role."""

    grants: Annotated[list[Member], msgspec.Meta(max_length=MOST)]


class MemberIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The role of a member; `base_role` is the one that it replaces, `none` for a new member.

    Without `base_role` it replaces any.
    """

    kind: Literal["user", "group"]
    role: RoleName
    base_role: RoleName | Literal["none"] | None = None


class MemberQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The role that the member is expected to have; without it any."""

    base_role: RoleName | None = None


@table("GET", "/api/v1/spaces/{id}/members")
async def get_members(call: Call, id: UUID) -> list[Member]:
    """List the members of a space, with their names and roles.

    The `ETag` of the answer, sent as `If-Match` with `PUT`, keeps that from overwriting a change.
    """

    async def work(conn: Conn) -> list[Member]:
        row = await access.space(conn, call, id, Role.VIEWER)
        if not row["inside"]:
            raise Problem(403, "Only members may list the members of a public space.")
        return await _members(conn, id)

    return await _listed(call.request, await call.app.db.run(work))  # type: ignore[return-value]


@table("PUT", "/api/v1/spaces/{id}/members", scope="write")
async def put_members(call: Call, id: UUID, body: MembersIn) -> list[Member]:
    """Set the members of a space and their roles; one has to be a manager.

    With `If-Match`, raises a 412 with the members as they are now if they have changed since. For
    one member there is `PUT /api/v1/spaces/{id}/members/{principal}`.
    """
    expected = call.request.headers.get("if-match")

    async def work(conn: Conn) -> list[Member]:
        row = await _managed(conn, call, id)
        now = await _members(conn, id)
        if expected is not None and not _matches(expected, now):
            raise Problem(
                412,
                "Somebody else has changed the members in the meantime; read them again.",
                field="if-match",
                current=now,
                headers={"etag": etag(now)},
            )
        if not _has_a_manager(body.grants):
            raise _needs_a_manager("grants")
        await check_principals(conn, body.grants)
        outside = await _outside(conn, id, body.grants)
        await conn.execute("DELETE FROM space_members WHERE space_id = %s", (id,))
        for one in body.grants:
            await _set(conn, id, one)
        await record.make(conn, "access", outside, record.Where(id, None, call.viewer.user_id))
        former = {one.principal for one in now} - {one.principal for one in body.grants}
        await left.tell_out_of_space(conn, id, former)
        return await _changed(conn, call, row, roles=await changed(conn, now, body.grants))

    return await _listed(call.request, await call.app.db.transact(work))  # type: ignore[return-value]


@table("PUT", "/api/v1/spaces/{id}/members/{principal}", scope="write")
async def put_member(call: Call, id: UUID, principal: UUID, body: MemberIn) -> list[Member]:
    """Add a member to a space, or change their role. The others stay as they are.

    A repeat is answered as the first. Raises a 409, with the members as they are now, if the member
    does not have `base_role`.
    """

    async def work(conn: Conn) -> list[Member]:
        row = await _managed(conn, call, id)
        now = await _members(conn, id)
        if any((o.principal, o.kind, o.role) == (principal, body.kind, body.role) for o in now):
            return now
        expect(now, principal, body.base_role)
        grant = Grant(principal, body.kind, body.role)
        await check_principals(conn, [grant])
        others = [one for one in now if one.principal != principal]
        if len(others) >= MOST:
            raise Problem(422, f"A space has at most {MOST} members.", field="principal")
        if body.role != "manager":
            require_a_manager(now, others)
        outside = await _outside(conn, id, [grant])
        await _set(conn, id, grant)
        await record.make(conn, "access", outside, record.Where(id, None, call.viewer.user_id))
        (detail,) = await changed(conn, [], [grant])
        return await _changed(conn, call, row, **detail)

    return await _listed(call.request, await call.app.db.transact(work))  # type: ignore[return-value]


@table("DELETE", "/api/v1/spaces/{id}/members/{principal}", scope="write")
async def delete_member(call: Call, id: UUID, principal: UUID, query: MemberQuery) -> list[Member]:
    """Remove a member from a space, and list the others. A repeat is answered as the first.

    Raises a 409, with the members as they are now, if the member has another role than `base_role`.
    """

    async def work(conn: Conn) -> list[Member]:
        row = await _managed(conn, call, id)
        now = await _members(conn, id)
        others = [one for one in now if one.principal != principal]
        if len(others) == len(now):
            return now
        expect(now, principal, query.base_role)
        require_a_manager(now, others)
        await conn.execute(
            "DELETE FROM space_members WHERE space_id = %s AND principal = %s", (id, principal)
        )
        await left.tell_out_of_space(conn, id, [principal])
        (detail,) = await changed(conn, [one for one in now if one not in others], [])
        return await _changed(conn, call, row, **detail)

    return await _listed(call.request, await call.app.db.transact(work))  # type: ignore[return-value]


async def _outside(conn: Conn, id: UUID, grants: Sequence[Grant]) -> list[UUID]:
    """The people to whom some grants give access to the space; they have none yet."""
    return await gained.by_grants(conn, *users_and_groups(grants), id, None)


def expect(now: list[Member], principal: UUID, base_role: str | None) -> None:
    """Raises a 409 if the principal has another role than `base_role`; None is any."""
    role = next((one.role for one in now if one.principal == principal), "none")
    if base_role is not None and role != base_role:
        raise Problem(
            409,
            "Somebody else has changed this role in the meantime; read the members again.",
            field="base_role",
            current=now,
        )


def require_a_manager(now: list[Member], others: list[Member]) -> None:
    """Raises a 422 if the last manager of the space is not among the `others`."""
    if _has_a_manager(now) and not _has_a_manager(others):
        raise _needs_a_manager("role")


def _has_a_manager(members: list[Member]) -> bool:
    return any(one.role == "manager" for one in members)


def _needs_a_manager(field: str) -> Problem:
    return Problem(422, "The space needs a manager.", field=field)


def etag(members: list[Member]) -> str:
    """The ETag of a list of members: of their roles, not of their names."""
    roles = sorted((str(one.principal), one.kind, one.role) for one in members)
    return f'"{hashlib.blake2b(msgspec.json.encode(roles), digest_size=16).hexdigest()}"'


def _matches(header: str, now: list[Member]) -> bool:
    return header.strip() == "*" or etag(now) in {
        plain_tag(one.strip()) for one in header.split(",")
    }


async def _listed(request: Request, members: list[Member]) -> Response:
    headers = {"cache-control": "no-store", "etag": etag(members)}
    return await json_response(request, msgspec.json.encode(members), headers=headers)


async def _managed(conn: Conn, call: Call, id: UUID) -> DictRow:
    """The row of a space that the viewer manages, whose members are locked until the end."""
    await conn.execute("SELECT 1 FROM spaces WHERE id = %s FOR NO KEY UPDATE", (id,))
    # After the lock: the viewer may have lost the role meanwhile.
    return await access.space(conn, call, id, Role.MANAGER)


async def _set(conn: Conn, id: UUID, one: Grant) -> None:
    await conn.execute(
        "INSERT INTO space_members (space_id, principal, kind, role) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (space_id, principal) DO UPDATE SET kind = excluded.kind,"
        " role = excluded.role",
        (id, one.principal, one.kind, Role.named(one.role)),
    )


async def join(conn: Conn, space: DictRow, one: Grant, who: Viewer, by: UUID) -> bool:
    """Adds a person to a space (a row with id and name) that the transaction has locked.

    `by` is the administrator who has allowed it. False, without a change, if the space is full.
    """
    at: UUID = space["id"]
    if len(await _members(conn, at)) >= MOST:
        return False
    outside = await _outside(conn, at, [one])
    await _set(conn, at, one)
    await record.make(conn, "access", outside, record.Where(at, None, by))
    await tell(conn, "space.members", space_id=at)
    (detail,) = await changed(conn, [], [one])
    await audit.note(conn, who, "space.members", space["name"], space_id=at, **detail)
    return True


async def _changed(conn: Conn, call: Call, row: DictRow, **detail: Any) -> list[Member]:
    await tell(conn, "space.members", space_id=row["id"])
    await audit.note(conn, call.viewer, "space.members", row["name"], space_id=row["id"], **detail)
    return await _members(conn, row["id"])


async def _members(conn: Conn, id: UUID) -> list[Member]:
    cursor = await conn.execute(
        "SELECT m.principal, m.kind, m.role, coalesce(u.name, g.name, '') AS name"
        " FROM space_members m LEFT JOIN users u ON m.kind = 'user' AND u.id = m.principal"
        " LEFT JOIN groups g ON m.kind = 'group' AND g.id = m.principal"
        " WHERE m.space_id = %s ORDER BY m.kind, name, m.principal",
        (id,),
    )
    return [
        msgspec.convert({**row, "role": Role(row["role"]).label}, Member)
        for row in await cursor.fetchall()
    ]
