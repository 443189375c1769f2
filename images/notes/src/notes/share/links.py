"""API of share links, with which anybody may read a page.

A link is valid while its creator could create it again: their account is active, and they may edit
the page at its present place. It ends when other permissions apply to the page than at the link's
creation. Invariant: the database alone does not reveal a link: it stores a hash and an encrypted
copy.
"""

import secrets
from datetime import datetime
from typing import Annotated, Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.auth import audit
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import Role

table = Table("sharing")

DAYS_SHOWN = 90
#: A link's password that is set now; one that was set before is good as it is.
NewLinkPassword = Annotated[str, msgspec.Meta(min_length=8, max_length=200)]


class ShareIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link to create."""

    include_children: bool = False
    password: NewLinkPassword | None = None
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class SharePatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a link to change; null takes the password or the end away."""

    include_children: bool | msgspec.UnsetType = msgspec.UNSET
    password: NewLinkPassword | msgspec.UnsetType | None = msgspec.UNSET
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | msgspec.UnsetType | None = (
        msgspec.UNSET
    )


class Share(msgspec.Struct, frozen=True):
    """A share link; `holds` is true while it is valid."""

    id: UUID
    node_id: UUID
    url: str
    include_children: bool
    has_password: bool
    holds: bool
    expires_at: datetime | None
    created_at: datetime


class Day(msgspec.Struct, frozen=True):
    """The visits of one day."""

    day: str
    views: int
    visitors: int


class ShareStatistics(msgspec.Struct, frozen=True):
    """Visits of a link; client addresses are stored only as salted hashes."""

    views: int
    visitors: int
    days: list[Day]


HOLDS: LiteralString = (
    "(n.trashed_at IS NULL AND s.ended_at IS NULL"
    " AND (n.access_root IS NULL OR n.access_root IS NOT DISTINCT FROM s.access_root)"
    " AND EXISTS (SELECT 1 FROM users u WHERE u.id = s.created_by AND u.disabled_at IS NULL"
    " AND page_role(n.space_id, n.access_root, u.id, ARRAY(SELECT group_id FROM group_members g"
    " WHERE g.user_id = u.id), u.is_admin) >= 3))"
)
SHARE: LiteralString = (
    "SELECT s.id, s.node_id, s.token_sealed, s.include_children, s.expires_at, s.created_at,"
    " s.password_hash IS NOT NULL AS has_password, n.space_id, n.trashed_at, n.title,"
    " page_role(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS role, "
    + HOLDS
    + " AND coalesce(s.expires_at > now(), true) AS holds"
    " FROM shares s JOIN nodes n ON n.id = s.node_id"
)


def _place(share_id: UUID) -> str:
    return f"shares/{share_id}"


def view(call: Call, row: DictRow) -> Share:
    token = call.app.vault.open(bytes(row["token_sealed"]), _place(row["id"])).decode()
    origin = call.app.settings.origin or call.seen.origin
    return Share(
        row["id"],
        row["node_id"],
        f"{origin}/s/{token}",
        row["include_children"],
        row["has_password"],
        row["holds"],
        row["expires_at"],
        row["created_at"],
    )


async def _one(call: Call, share_id: UUID) -> DictRow:
    row = await call.app.db.one(
        SHARE + " WHERE s.id = %(id)s", {**call.viewer.rights, "id": share_id}
    )
    try:
        return access.admit(call, row, Role.EDITOR)
    except Problem:
        raise not_found("link") from None


@table("GET", "/api/v1/nodes/{id}/shares", has_secret=True)
async def list_shares(call: Call, id: UUID) -> list[Share]:
    """List the links of a page."""
    await call.app.db.run(lambda conn: access.page(conn, call, id, Role.EDITOR))
    rows = await call.app.db.all(
        SHARE + " WHERE s.node_id = %(id)s ORDER BY s.created_at, s.id",
        {**call.viewer.rights, "id": id},
    )
    return [view(call, row) for row in rows]


@table("POST", "/api/v1/nodes/{id}/shares", scope="write", status=201, has_secret=True)
async def post_share(call: Call, id: UUID, body: ShareIn) -> Share:
    """Create a link to a page."""
    _check_end(body.expires_at)
    password_hash = await call.app.passwords.hash(body.password) if body.password else None
    token = secrets.token_urlsafe(24)

    async def work(conn: Conn) -> UUID:
        page = await access.page(conn, call, id, Role.EDITOR)
        cursor = await conn.execute("SELECT gen_random_uuid() AS id")
        row = await cursor.fetchone()
        made: UUID = row["id"]  # type: ignore[index]
        await conn.execute(
            "INSERT INTO shares (id, node_id, token_hash, token_sealed, include_children,"
            " password_hash, expires_at, created_by, access_root)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            (
                made,
                id,
                digest(token),
                call.app.vault.seal(token.encode(), _place(made)),
                body.include_children,
                password_hash,
                body.expires_at,
                call.viewer.user_id,
                page["access_root"],
            ),
        )
        where = {"space_id": page["space_id"], "node_id": id}
        await audit.note(conn, call.viewer, "share.made", page["title"], **where)
        return made

    made = await call.app.db.transact(work)
    return view(call, await _one(call, made))


def _check_end(at: datetime | msgspec.UnsetType | None) -> None:
    """Raises a 422 for a date that the database cannot store, or nobody means."""
    if isinstance(at, datetime) and not 2000 <= at.year <= 9000:
        raise Problem(422, "The date is too far away.", field="expires_at")


@table("PATCH", "/api/v1/shares/{id}", scope="write", has_secret=True)
async def patch_share(call: Call, id: UUID, body: SharePatch) -> Share:
    """Change a link; its address stays the same.

    With another password, visitors have to enter that one.
    """
    _check_end(body.expires_at)
    row = await _one(call, id)
    changes: dict[str, Any] = {
        "include_children": body.include_children,
        "expires_at": body.expires_at,
    }
    if body.password is not msgspec.UNSET:
        changes["password_hash"] = (
            await call.app.passwords.hash(body.password) if body.password else None
        )
    changes = {name: value for name, value in changes.items() if value is not msgspec.UNSET}

    async def work(conn: Conn) -> None:
        for name, value in changes.items():
            await conn.execute(_SET[name], (value, id))
        where = {"space_id": row["space_id"], "node_id": row["node_id"]}
        # A password is named, never written.
        fields = [name.removesuffix("_hash") for name in changes]
        await audit.note(conn, call.viewer, "share.changed", row["title"], **where, fields=fields)

    await call.app.db.transact(work)
    return view(call, await _one(call, id))


_SET: dict[str, LiteralString] = {
    "include_children": "UPDATE shares SET include_children = %s WHERE id = %s",
    "expires_at": "UPDATE shares SET expires_at = %s WHERE id = %s",
    "password_hash": "UPDATE shares SET password_hash = %s WHERE id = %s",
}


@table("DELETE", "/api/v1/shares/{id}", scope="write", status=204)
async def delete_share(call: Call, id: UUID) -> None:
    """Revoke a link."""
    row = await _one(call, id)

    async def work(conn: Conn) -> None:
        await conn.execute("DELETE FROM shares WHERE id = %s", (id,))
        where = {"space_id": row["space_id"], "node_id": row["node_id"]}
        await audit.note(conn, call.viewer, "share.revoked", row["title"], **where)

    await call.app.db.transact(work)


@table("GET", "/api/v1/shares/{id}/qr.svg", media_type="image/svg+xml")
async def get_share_qr(call: Call, id: UUID) -> Response:
    """Get a link as a QR code."""
    import io

    import segno

    share = view(call, await _one(call, id))
    out = io.BytesIO()
    segno.make(share.url, error="m").save(out, kind="svg", scale=6, border=4, xmldecl=False)
    return Response(out.getvalue(), media_type="image/svg+xml")


@table("GET", "/api/v1/shares/{id}/statistics")
async def get_share_statistics(call: Call, id: UUID) -> ShareStatistics:
    """Count a link's visits and visitors; who comes back after 90 days is another visitor."""
    await _one(call, id)
    total = await call.app.db.one(
        "SELECT s.past_views + coalesce(sum(v.views), 0) AS views,"
        " s.past_visitors + count(DISTINCT v.visitor) AS visitors FROM shares s"
        " LEFT JOIN share_views v ON v.share_id = s.id WHERE s.id = %s GROUP BY s.id",
        (id,),
    )
    rows = await call.app.db.all(
        "SELECT to_char(at, 'YYYY-MM-DD') AS day, sum(views) AS views,"
        " count(DISTINCT visitor) AS visitors FROM share_views WHERE share_id = %s"
        " AND at > now() - make_interval(days => %s) GROUP BY 1 ORDER BY 1",
        (id, DAYS_SHOWN),
    )
    days = [Day(**row) for row in rows]
    return ShareStatistics(total["views"], total["visitors"], days) if total else _NOTHING


_NOTHING = ShareStatistics(0, 0, [])
