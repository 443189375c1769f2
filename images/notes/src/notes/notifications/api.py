"""API of notifications: the list, the count, the settings, watching, and the lookup for mentions.

Invariant: a notification is shown only while its person may read the page (or see the space) that
it is about, however it was when it was made.
"""

from datetime import datetime
from typing import Annotated, Any, LiteralString
from uuid import UUID

import msgspec

from notes.auth.rate_limits import Limit, count
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.notifications import mentions
from notes.notifications.record import KINDS
from notes.pages import access
from notes.pages.people import Mentionable, find_mentionable
from notes.pages.roles import Role

table = Table("notifications")

MOST_COUNTED = 100
EXCERPT, EXCERPT_OF = 200, 2_000
#: Per account: each letter that is typed after an @ may be a lookup.
LOOKUPS = Limit("mentions", 900, 900)

Seq = Annotated[int, msgspec.Meta(ge=1, le=2**62)]


class Notification(msgspec.Struct, frozen=True):
    """One or more events of a kind at a place; `times` counts them until they are read.

    `kind` is `mention`, `reply` (in a thread that you take part in), `comment` or `edit` (of a page
    that you watch), or `access` (you got access). `title` is the page's, or the space's without
    `node_id`. `excerpt` is the beginning of the last comment, if it is about one. `actor_name` is
    the last person's; null if they do not exist any more.
    """

    id: UUID
    seq: int
    kind: str
    space_id: UUID
    node_id: UUID | None
    comment_id: UUID | None
    title: str
    excerpt: str | None
    actor_id: UUID | None
    actor_name: str | None
    times: int
    at: datetime
    is_read: bool


class Listed(msgspec.Struct, frozen=True):
    """A part of the list, newest first, and the count of all unread ones (at most 100)."""

    unread: int
    notifications: list[Notification]


class ListQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the list: those before the `seq` of one, only unread ones, and how many."""

    before: Seq = 2**62
    unread: bool = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 30


class Unread(msgspec.Struct, frozen=True):
    """The count of unread notifications; at most 100."""

    unread: int


class ReadIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Those that have been read: the ones with these ids, or all up to the `seq` of one."""

    ids: Annotated[list[UUID], msgspec.Meta(max_length=100)] | None = None
    until: Seq | None = None


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds that you want. `comment` and `edit` are about the pages that you watch."""

    mention: bool = True
    reply: bool = True
    comment: bool = True
    edit: bool = True
    access: bool = True


class Watching(msgspec.Struct, frozen=True):
    """True if you watch the page: you chose to, or created it and did not choose otherwise."""

    watching: bool


class MentionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The beginning of a word of the name; empty for the first people in order."""

    q: Annotated[str, msgspec.Meta(max_length=100, pattern=r"^[^\x00]*$")] = ""


_MINE: LiteralString = (
    " FROM notifications o JOIN spaces s ON s.id = o.space_id"
    " LEFT JOIN nodes n ON n.id = o.node_id"
    " WHERE o.user_id = %(person)s"
    " AND CASE WHEN o.node_id IS NULL"
    " THEN space_insider(s.id, %(person)s, %(groups)s, %(admin)s)"
    " ELSE n.trashed_at IS NULL"
    " AND page_insider(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) END"
    " AND (%(site)s::uuid IS NULL OR coalesce(n.space_id, s.id) = %(site)s)"
)
_COUNTED: LiteralString = (
    "SELECT count(*) AS unread FROM (SELECT 1"
    + _MINE
    + f" AND o.read_at IS NULL LIMIT {MOST_COUNTED}) c"
)
_LISTED: LiteralString = (
    "SELECT o.id, o.seq, o.kind, coalesce(n.space_id, s.id) AS space_id, o.node_id, o.comment_id,"
    " coalesce(n.title, s.name) AS title, o.times, o.at, o.read_at IS NOT NULL AS is_read,"
    " o.actor_id, (SELECT u.name FROM users u WHERE u.id = o.actor_id) AS actor_name,"
    f" (SELECT left(c.body, {EXCERPT_OF}) FROM comments c WHERE c.id = o.comment_id) AS excerpt"
    + _MINE
    + " AND o.seq < %(before)s AND (o.read_at IS NULL OR NOT %(unread)s)"
    " ORDER BY o.seq DESC LIMIT %(limit)s"
)


def _given(call: Call, **more: Any) -> dict[str, Any]:
    # Raises a 401 for a visitor, before the statement.
    return {
        **call.viewer.rights,
        "person": call.viewer.person,
        "site": call.seen.site.space_id,
    } | more


@table("GET", "/api/v1/notifications")
async def list_notifications(call: Call, query: ListQuery) -> Listed:
    """List your notifications, newest first."""

    async def work(conn: Conn) -> Listed:
        given = _given(call, before=query.before, unread=query.unread, limit=query.limit)
        counted = await (await conn.execute(_COUNTED, given)).fetchone()
        rows = await (await conn.execute(_LISTED, given)).fetchall()
        return Listed(counted["unread"] if counted else 0, [_shown(row) for row in rows])

    return await call.app.db.run(work)


def _shown(row: dict[str, Any]) -> Notification:
    text = row["excerpt"]
    excerpt = None if text is None else mentions.said(text)[:EXCERPT]
    return Notification(**{**row, "excerpt": excerpt})


@table("GET", "/api/v1/notifications/unread")
async def count_unread(call: Call) -> Unread:
    """Count your unread notifications."""
    row = await call.app.db.one(_COUNTED, _given(call))
    return Unread(row["unread"] if row else 0)


@table("POST", "/api/v1/notifications/read", scope="write", status=204)
async def read_notifications(call: Call, body: ReadIn) -> None:
    """Mark notifications as read; ids of others change nothing."""
    if (body.ids is None) == (body.until is None):
        raise Problem(422, "Send ids or until.", field="ids")

    async def work(conn: Conn) -> None:
        person = call.viewer.person
        cursor = await conn.execute(
            "UPDATE notifications SET read_at = now() WHERE user_id = %s AND read_at IS NULL"
            " AND (id = ANY (%s::uuid[]) OR seq <= %s)",
            (person, body.ids or [], body.until or 0),
        )
        if cursor.rowcount:
            await tell(conn, "notification.read", user_id=person)

    await call.app.db.transact(work)


@table("GET", "/api/v1/notification-settings")
async def get_wanted(call: Call) -> Wanted:
    """Get the kinds of notifications that you want."""
    row = await call.app.db.one("SELECT notify_off FROM users WHERE id = %s", (call.viewer.person,))
    off = row["notify_off"] if row else []
    return Wanted(**{kind: kind not in off for kind in KINDS})


@table("PUT", "/api/v1/notification-settings", scope="write")
async def put_wanted(call: Call, body: Wanted) -> Wanted:
    """Set the kinds of notifications that you want, from now on."""
    off = [kind for kind in KINDS if not getattr(body, kind)]
    await call.app.db.do(
        "UPDATE users SET notify_off = %s WHERE id = %s", (off, call.viewer.person)
    )
    return body


@table("GET", "/api/v1/nodes/{id}/watch")
async def get_watch(call: Call, id: UUID) -> Watching:
    """Show if you watch a page."""

    async def work(conn: Conn) -> Watching:
        person = call.viewer.person
        await access.page(conn, call, id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT coalesce((SELECT is_on FROM watches w WHERE w.node_id = n.id"
            " AND w.user_id = %(person)s), n.created_by = %(person)s, false) AS watching"
            " FROM nodes n WHERE n.id = %(id)s",
            {"person": person, "id": id},
        )
        row = await cursor.fetchone()
        return Watching(row is not None and row["watching"])

    return await call.app.db.run(work)


@table("PUT", "/api/v1/nodes/{id}/watch", scope="write", status=204)
async def put_watch(call: Call, id: UUID) -> None:
    """Watch a page: you get notifications of comments on it and of its changes.

    Who reads it only because it is public gets none.
    """
    await _watch(call, id, is_on=True)


@table("DELETE", "/api/v1/nodes/{id}/watch", scope="write", status=204)
async def delete_watch(call: Call, id: UUID) -> None:
    """Stop watching a page, also one that you created."""
    await _watch(call, id, is_on=False)


async def _watch(call: Call, id: UUID, *, is_on: bool) -> None:
    async def work(conn: Conn) -> None:
        person = call.viewer.person
        await access.page(conn, call, id, Role.VIEWER)
        await conn.execute(
            "INSERT INTO watches (user_id, node_id, is_on) VALUES (%s, %s, %s)"
            " ON CONFLICT (user_id, node_id) DO UPDATE SET is_on = excluded.is_on",
            (person, id, is_on),
        )

    await call.app.db.transact(work)


@table("GET", "/api/v1/nodes/{id}/mentionable")
async def find_to_mention(call: Call, id: UUID, query: MentionQuery) -> list[Mentionable]:
    """Find people by their names, to mention them on a page.

    At most eight, all of whom may read the page. Administrators find everybody; others find whom
    they share a space or a group with, and who has written on the page.
    """
    await call.app.db.run(lambda conn: access.page(conn, call, id, Role.COMMENTER))
    await count(call.app.db, LOOKUPS, "", str(call.viewer.person))
    return await call.app.db.run(lambda conn: find_mentionable(conn, call, query.q.strip(), id))
