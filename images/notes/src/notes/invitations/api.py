"""API of invitations, with which administrators give people accounts without their passwords.

The person who has the link of an invitation chooses a name and a password (`accepting`).
Invariants: the secret of a link is in the answer that creates it and nowhere else, neither in the
database nor in a log; an address has one invitation that is not accepted.
"""

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Annotated, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit
from notes.auth.accounts import Email, Name
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.invitations.holding import HAS_ACCOUNT, IS_OPEN
from notes.pages.roles import Role, RoleName

table = Table("people")

DAYS, MOST_DAYS = 7, 30
MOST = 200
"""So many groups, and so many spaces, an invitation has at most."""


class SpaceRole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A space and the role that the invited person gets there."""

    space_id: UUID
    role: RoleName


class InvitationIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person to invite, and the rights of their account; `days` is how long the link is valid.

    The name is proposed to the person.
    """

    email: Email
    name: Name | None = None
    is_admin: bool = False
    groups: Annotated[list[UUID], msgspec.Meta(max_length=MOST)] = []
    spaces: Annotated[list[SpaceRole], msgspec.Meta(max_length=MOST)] = []
    days: Annotated[int, msgspec.Meta(ge=1, le=MOST_DAYS)] = DAYS


class Invitation(msgspec.Struct, frozen=True):
    """An invitation, without its secret; `holds` is true while its link can be used."""

    id: UUID
    email: str
    name: str
    is_admin: bool
    groups: list[UUID]
    spaces: list[SpaceRole]
    made_by: UUID
    made_by_name: str
    made_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    holds: bool


class NewInvitation(Invitation, frozen=True):
    """A new invitation; its link is shown only in this answer."""

    url: str = ""


_LISTED: LiteralString = (
    "SELECT i.id, i.email, i.name, i.is_admin, i.made_by, maker.name AS made_by_name, i.made_at,"
    " i.expires_at, i.accepted_at,"
    " ARRAY(SELECT g.group_id FROM invitation_groups g WHERE g.invitation_id = i.id"
    " ORDER BY g.group_id) AS groups,"
    " ARRAY(SELECT s.space_id FROM invitation_spaces s WHERE s.invitation_id = i.id"
    " ORDER BY s.space_id) AS spaces,"
    " ARRAY(SELECT s.role FROM invitation_spaces s WHERE s.invitation_id = i.id"
    " ORDER BY s.space_id) AS roles, "
    + IS_OPEN
    + " AND NOT "
    + HAS_ACCOUNT
    + " AS holds FROM invitations i JOIN users maker ON maker.id = i.made_by"
)


def _invitation(row: DictRow) -> Invitation:
    pairs = zip(row["spaces"], row["roles"], strict=True)
    spaces = [SpaceRole(space, Role(role).label) for space, role in pairs]  # type: ignore[arg-type]
    return Invitation(**{k: v for k, v in row.items() if k != "roles"} | {"spaces": spaces})


@table("GET", "/api/v1/invitations", scope="admin", main_site_only=True, has_secret=True)
async def list_invitations(call: Call) -> list[Invitation]:
    """List invitations, newest first: also those that were accepted, or have expired, lately."""
    rows = await call.app.db.all(_LISTED + " ORDER BY i.made_at DESC, i.id")
    return [_invitation(row) for row in rows]


@table(
    "POST", "/api/v1/invitations", scope="admin", status=201, main_site_only=True, has_secret=True
)
async def post_invitation(call: Call, body: InvitationIn) -> NewInvitation:
    """Invite a person; the link is shown only in this answer, and nothing is sent.

    It replaces an invitation of the same address that is not accepted.
    """
    email = body.email.lower()
    secret = secrets.token_urlsafe(32)

    async def work(conn: Conn) -> DictRow:
        # Of two at once for one address the second replaces the first.
        await conn.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"invite {email}",))
        cursor = await conn.execute(
            "DELETE FROM invitations WHERE email = %s AND accepted_at IS NULL", (email,)
        )
        replaced = cursor.rowcount > 0
        # After the deletion, which waits for somebody who is just accepting.
        await _check_address(conn, email)
        cursor = await conn.execute(
            "INSERT INTO invitations (secret_hash, email, name, is_admin, made_by, expires_at)"
            " VALUES (%s, %s, %s, %s, %s, now() + make_interval(days => %s)) RETURNING id",
            (
                digest(secret),
                email,
                body.name or "",
                body.is_admin,
                call.viewer.person,
                body.days,
            ),
        )
        row = await cursor.fetchone()
        made: UUID = row["id"]  # type: ignore[index]
        await _give(conn, made, body)
        await audit.note(
            conn,
            call.viewer,
            "invitation.made",
            email,
            is_admin=body.is_admin,
            groups=len(body.groups),
            spaces=len(body.spaces),
            days=body.days,
            replaced=replaced,
        )
        cursor = await conn.execute(_LISTED + " WHERE i.id = %s", (made,))
        return await cursor.fetchone()  # type: ignore[return-value]

    one = _invitation(await call.app.db.transact(work))
    origin = call.app.settings.origin or call.seen.origin
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return NewInvitation(**fields, url=f"{origin}{path_of(secret)}")


def path_of(secret: str) -> str:
    """The path of an invitation's page.

    It begins as that of a share link: what keeps tokens of share links out of logs, also in proxies
    that were set up before there were invitations, keeps this secret out of them.
    """
    return f"/s/{secret}/invitation"


async def _check_address(conn: Conn, email: str) -> None:
    cursor = await conn.execute("SELECT 1 FROM users WHERE email = %s", (email,))
    if await cursor.fetchone() is not None:
        raise Problem(409, "Another account has this e-mail address.", field="email")


async def _give(conn: Conn, made: UUID, body: InvitationIn) -> None:
    """Stores the groups and spaces of an invitation. Raises a 422 for one that does not exist."""
    roles = {one.space_id: Role.named(one.role) for one in body.spaces}
    if len(roles) != len(body.spaces) or len(set(body.groups)) != len(body.groups):
        field = "spaces" if len(roles) != len(body.spaces) else "groups"
        raise Problem(422, "A space or a group is listed twice.", field=field)
    # The locks keep them until the commit: a deletion at the same time removes these rows, too.
    cursor = await conn.execute(
        "SELECT id FROM spaces WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE", (list(roles),)
    )
    _check_known(roles, await cursor.fetchall(), "spaces")
    cursor = await conn.execute(
        "SELECT id FROM groups WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE", (body.groups,)
    )
    _check_known(body.groups, await cursor.fetchall(), "groups")
    await conn.execute(
        "INSERT INTO invitation_spaces (invitation_id, space_id, role)"
        " SELECT %s, unnest(%s::uuid[]), unnest(%s::smallint[])",
        (made, list(roles), list(roles.values())),
    )
    await conn.execute(
        "INSERT INTO invitation_groups (invitation_id, group_id) SELECT %s, unnest(%s::uuid[])",
        (made, body.groups),
    )


def _check_known(wanted: Collection[UUID], found: list[DictRow], field: str) -> None:
    if len(found) < len(wanted):
        kind = field.removesuffix("s")
        raise Problem(422, f"A {kind} is gone; reload the page and choose again.", field=field)


@table("DELETE", "/api/v1/invitations/{id}", scope="admin", status=204, main_site_only=True)
async def delete_invitation(call: Call, id: UUID) -> None:
    """Revoke an invitation that is not accepted."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "DELETE FROM invitations WHERE id = %s AND accepted_at IS NULL RETURNING email", (id,)
        )
        row = await cursor.fetchone()
        if row is not None:
            await audit.note(conn, call.viewer, "invitation.revoked", row["email"])
            return
        cursor = await conn.execute("SELECT 1 FROM invitations WHERE id = %s", (id,))
        if await cursor.fetchone() is None:
            raise not_found("invitation")
        raise Problem(409, "This invitation was accepted; disable the account instead.")

    await call.app.db.transact(work)
