"""Accepts an invitation: makes the account with its rights, and signs the person in.

Invariants: an invitation is accepted once, however many requests ask for it on however many
replicas; the account has the rights of the invitation that still exist, and no others.
"""

from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit, sessions
from notes.auth.accounts import Name, NewPassword, address_of, agent_of, make_user
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.viewer import Viewer
from notes.invitations.holding import IS_OPEN, refused
from notes.notifications import gained
from notes.pages.permissions import Grant
from notes.pages.roles import Role
from notes.spaces import members


class AcceptIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name and the password of the new account."""

    name: Name
    password: NewPassword


async def accept(call: Call, secret: str, body: AcceptIn) -> tuple[str, Viewer]:
    """Makes the account of an invitation; the token of its first session, and the person.

    Raises a 404 if the invitation does not hold, and a 409 if another account has its address. Call
    `opened` before: it counts guesses, and a hash is costly.
    """
    password_hash = await call.app.passwords.hash(body.password)
    previous = sessions.cookie(call.request, call.seen)

    async def work(conn: Conn) -> tuple[str, Viewer]:
        row = await _held(conn, secret)
        made = await make_user(
            conn, row["email"], body.name, password_hash, is_admin=row["is_admin"]
        )
        who = Viewer(made, body.name, row["email"], row["is_admin"])
        await conn.execute("UPDATE invitations SET accepted_at = now() WHERE id = %s", (row["id"],))
        spaces, left_out = await _join_spaces(conn, row, who)
        groups = await _join_groups(conn, row, made)
        await audit.note(
            conn,
            who,
            "invitation.accepted",
            row["email"],
            is_admin=row["is_admin"],
            made_by=str(row["made_by"]),
            groups=groups,
            spaces=spaces,
            full_spaces=left_out,
        )
        token = await sessions.start(
            conn, made, previous, address_of(call), user_agent=agent_of(call)
        )
        return token or "", who

    return await call.app.db.transact(work)


async def _held(conn: Conn, secret: str) -> DictRow:
    """The invitation, locked until the end; its creator stays an administrator until then."""
    cursor = await conn.execute(
        "SELECT i.id, i.email, i.is_admin, i.made_by FROM invitations i"
        " JOIN users maker ON maker.id = i.made_by WHERE i.secret_hash = %s AND "
        + IS_OPEN
        + " FOR UPDATE OF i FOR SHARE OF maker",
        (digest(secret),),
    )
    row = await cursor.fetchone()
    if row is None:
        raise refused()  # another request was faster
    return row


async def _join_spaces(conn: Conn, row: DictRow, who: Viewer) -> tuple[int, int]:
    """Makes the person a member; the numbers of spaces that had room, and that had none."""
    # In one order, and before the groups, as other changes of members lock them.
    cursor = await conn.execute(
        "SELECT s.id, s.name, v.role FROM invitation_spaces v JOIN spaces s ON s.id = v.space_id"
        " WHERE v.invitation_id = %s ORDER BY s.id FOR NO KEY UPDATE OF s",
        (row["id"],),
    )
    joined = left_out = 0
    for space in await cursor.fetchall():
        grant = Grant(who.person, "user", Role(space["role"]).label)  # type: ignore[arg-type]
        if await members.join(conn, space, grant, who, row["made_by"]):
            joined += 1
        else:
            left_out += 1
    return joined, left_out


async def _join_groups(conn: Conn, row: DictRow, made: UUID) -> int:
    """Makes the person a member of the groups that still exist; returns their number."""
    # The lock waits for a change that gives access to the group: its place is to be found.
    cursor = await conn.execute(
        "SELECT g.id FROM invitation_groups v JOIN groups g ON g.id = v.group_id"
        " WHERE v.invitation_id = %s ORDER BY g.id FOR NO KEY UPDATE OF g",
        (row["id"],),
    )
    groups = [one["id"] for one in await cursor.fetchall()]
    places = await gained.by_groups(conn, [made], groups)
    await conn.execute(
        "INSERT INTO group_members (group_id, user_id) SELECT unnest(%s::uuid[]), %s",
        (groups, made),
    )
    await gained.tell(conn, places, row["made_by"])
    return len(groups)
