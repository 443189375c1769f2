"""Makes notifications, in the transaction of the change that they tell of.

Invariants: nobody gets one of what they did themselves, of what they may not read, or of a kind
that they have turned off; a person has at most one unread notification of a kind and place.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, LiteralString
from uuid import UUID

from notes.db.connect import Conn
from notes.notifications import mentions

Kind = Literal["mention", "reply", "comment", "edit", "access"]
KINDS: tuple[Kind, ...] = ("mention", "reply", "comment", "edit", "access")

#: So many people get a notification of one person's actions in an hour.
MOST_TOLD = 1_000
#: So many people can get notifications of mentions by one save or comment.
MOST_MENTIONED = 50
#: Mentions that were removed for so long are new when they are put back.
FORGOTTEN = "1 day"
#: Access that is taken away and given again in this time is not told again.
REPEATED = "1 hour"

_GROUPS: LiteralString = "ARRAY(SELECT g.group_id FROM group_members g WHERE g.user_id = u.id)"
_MADE: LiteralString = (
    "WITH able AS (SELECT u.id FROM users u WHERE u.id = ANY (%(people)s)"
    " AND u.disabled_at IS NULL AND u.id IS DISTINCT FROM %(actor)s::uuid"
    " AND NOT %(kind)s = ANY (u.notify_off)"
    " AND CASE WHEN %(node)s::uuid IS NULL"
    f" THEN space_insider(%(space)s, u.id, {_GROUPS}, u.is_admin)"
    f" ELSE (SELECT n.trashed_at IS NULL AND page_insider(n.space_id, n.access_root, u.id,"
    f" {_GROUPS}, u.is_admin) FROM nodes n WHERE n.id = %(node)s) END"
    " AND NOT (%(kind)s = 'access' AND EXISTS (SELECT 1 FROM notifications o"
    " WHERE o.user_id = u.id AND o.kind = 'access' AND o.place = %(place)s"
    f" AND o.at > now() - interval '{REPEATED}'))"
    # In one order, so that two transactions cannot wait for each other's rows.
    f" ORDER BY u.id LIMIT greatest(0, {MOST_TOLD} - (SELECT count(*) FROM notifications o"
    " WHERE o.actor_id = %(actor)s::uuid AND o.at > now() - interval '1 hour'))),"
    " made AS (INSERT INTO notifications"
    " (user_id, kind, place, space_id, node_id, comment_id, actor_id)"
    " SELECT id, %(kind)s, %(place)s, %(space)s, %(node)s, %(comment)s, %(actor)s FROM able"
    " ON CONFLICT (user_id, kind, place) WHERE read_at IS NULL DO UPDATE SET"
    " times = least(notifications.times + 1, 1000), actor_id = excluded.actor_id,"
    " comment_id = excluded.comment_id, at = now(), seq = DEFAULT"
    " RETURNING user_id, xmax = 0 AS is_new),"
    " told AS (INSERT INTO events (kind, user_id)"
    " SELECT 'notification.made', user_id FROM made WHERE is_new RETURNING 1),"
    " woken AS (SELECT pg_notify('app_events', '') FROM told LIMIT 1)"
    " SELECT user_id, (SELECT count(*) FROM woken) FROM made"
)


@dataclass(frozen=True, slots=True)
class Where:
    """The page (or the space, if `node_id` is None) of an event, and who caused it."""

    space_id: UUID
    node_id: UUID | None
    actor: UUID | None
    comment_id: UUID | None = None


async def make(
    conn: Conn, kind: Kind, people: Iterable[UUID], where: Where, place: UUID | None = None
) -> set[UUID]:
    """Tells people of an event; returns those who got one. Events of a `place` are counted in one.

    The place is the page, or the space, unless it is given.
    """
    wanted = list(people)
    if not wanted:
        return set()
    cursor = await conn.execute(
        _MADE,
        {
            "kind": kind,
            "people": wanted,
            "space": where.space_id,
            "node": where.node_id,
            "actor": where.actor,
            "comment": where.comment_id,
            "place": place or where.node_id or where.space_id,
        },
    )
    return {row["user_id"] for row in await cursor.fetchall()}


async def page_mentions(
    conn: Conn,
    where: Where,
    found: Counter[UUID],
    *,
    is_new: bool = False,
    quiet: bool = False,
) -> None:
    """Stores whom a page mentions, and tells those who are mentioned more often than before.

    The page is locked, and still has the content before the change, unless it `is_new`. A `quiet`
    change (a restore) tells nobody.
    """
    node_id = where.node_id
    if not found:
        await conn.execute(
            "UPDATE page_mentions SET n = 0, fell_at = now() WHERE node_id = %s AND n > 0",
            (node_id,),
        )
        return
    before = await _told_before(conn, node_id, is_new=is_new)
    more = [user for user, times in found.items() if times > before[user]]
    await conn.execute(
        "WITH now_there AS (SELECT f.id, f.n FROM unnest(%(ids)s::uuid[], %(counts)s::integer[])"
        " AS f (id, n) JOIN users u ON u.id = f.id)"
        " INSERT INTO page_mentions AS m (node_id, user_id, n, told)"
        " SELECT %(node)s, id, n, n FROM now_there ON CONFLICT (node_id, user_id) DO UPDATE SET"
        " n = excluded.n, told = CASE WHEN m.n < m.told"
        f" AND m.fell_at < now() - interval '{FORGOTTEN}'"
        " THEN excluded.n ELSE greatest(m.told, excluded.n) END,"
        " fell_at = CASE WHEN excluded.n < m.n THEN now()"
        " WHEN excluded.n < m.told THEN m.fell_at END",
        {"node": node_id, "ids": list(found), "counts": list(found.values())},
    )
    await conn.execute(
        "UPDATE page_mentions SET n = 0, fell_at = now() WHERE node_id = %s AND n > 0"
        " AND user_id <> ALL (%s)",
        (node_id, list(found)),
    )
    if not quiet:
        await make(conn, "mention", more[:MOST_MENTIONED], where)


async def _told_before(conn: Conn, node_id: UUID | None, *, is_new: bool) -> Counter[UUID]:
    """The mentions of each user that a page had, or lost less than a day ago."""
    if is_new:
        return Counter()
    cursor = await conn.execute(
        f"SELECT user_id, CASE WHEN n < told AND fell_at < now() - interval '{FORGOTTEN}'"
        " THEN n ELSE told END AS told FROM page_mentions WHERE node_id = %s",
        (node_id,),
    )
    rows = await cursor.fetchall()
    if rows:
        return Counter({row["user_id"]: row["told"] for row in rows})
    # An import stores no mentions: those that a page came with are not new.
    cursor = await conn.execute("SELECT doc FROM nodes WHERE id = %s", (node_id,))
    row = await cursor.fetchone()
    return mentions.in_document(bytes(row["doc"])) if row else Counter()


async def watchers(conn: Conn, node_id: UUID) -> list[UUID]:
    """Those who watch a page; its creator does unless they have said otherwise."""
    cursor = await conn.execute(
        "SELECT user_id FROM watches WHERE node_id = %(id)s AND is_on"
        " UNION SELECT n.created_by FROM nodes n WHERE n.id = %(id)s AND n.created_by IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM watches w WHERE w.node_id = n.id"
        " AND w.user_id = n.created_by AND NOT w.is_on)",
        {"id": node_id},
    )
    return [row["user_id"] for row in await cursor.fetchall()]


async def page_saved(conn: Conn, where: Where) -> None:
    """Tells those who watch a page that it has a new version."""
    assert where.node_id is not None  # noqa: S101 - only pages have versions
    await make(conn, "edit", await watchers(conn, where.node_id), where)


async def comment_made(conn: Conn, where: Where, thread: UUID | None, body: str) -> None:
    """Tells of a new comment: whom it mentions, who takes part in its thread, who watches."""
    assert where.node_id is not None  # noqa: S101 - only pages have comments
    own = thread or where.comment_id
    told = await make(conn, "mention", mentions.in_text(body)[:MOST_MENTIONED], where, own)
    if thread is not None:
        cursor = await conn.execute(
            "SELECT DISTINCT author_id FROM comments WHERE (id = %(id)s OR parent_id = %(id)s)"
            " AND author_id IS NOT NULL",
            {"id": thread},
        )
        part = {row["author_id"] for row in await cursor.fetchall()}
        told |= await make(conn, "reply", part - told, where, thread)
    await make(conn, "comment", set(await watchers(conn, where.node_id)) - told, where)


async def comment_changed(conn: Conn, where: Where, thread: UUID, old: str, new: str) -> None:
    """Tells those whom a comment mentions after a change, and whom it has never told before."""
    more = [user for user in mentions.in_text(new) if user not in mentions.in_text(old)]
    if not more:
        return
    cursor = await conn.execute(
        "SELECT user_id FROM notifications WHERE comment_id = %s AND kind = 'mention'",
        (where.comment_id,),
    )
    told = {row["user_id"] for row in await cursor.fetchall()}
    wanted = [user for user in more if user not in told]
    await make(conn, "mention", wanted[:MOST_MENTIONED], where, thread)


async def outsiders(
    conn: Conn, people: Collection[UUID], space_id: UUID, node_id: UUID | None
) -> list[UUID]:
    """Those of `people` who have no access to a page (or a space) now."""
    cursor = await conn.execute(
        "SELECT u.id FROM users u WHERE u.id = ANY (%(people)s) AND NOT CASE"
        " WHEN %(node)s::uuid IS NULL"
        f" THEN space_insider(%(space)s, u.id, {_GROUPS}, u.is_admin)"
        f" ELSE (SELECT page_insider(n.space_id, n.access_root, u.id, {_GROUPS}, u.is_admin)"
        " FROM nodes n WHERE n.id = %(node)s) END",
        {"people": list(people), "space": space_id, "node": node_id},
    )
    return [row["id"] for row in await cursor.fetchall()]
