"""Visits through a share link: finds the link by its token, checks its password, counts visits.

Invariant: nobody reads a page of a link that is not valid, or that does not include the page.
"""

from uuid import UUID

from psycopg.rows import DictRow

from notes.auth import rate_limits
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.pages import access
from notes.share.links import HOLDS


async def opened(call: Call, token: str) -> DictRow:
    """The valid link of a token. Raises a 404, or a 410 if it has expired."""
    row = await call.app.db.one(
        "SELECT s.id, s.node_id, s.include_children, s.password_hash, n.title, n.space_id,"
        " coalesce(s.expires_at < now(), false) AS expired, "
        + HOLDS
        + " AS holds FROM shares s JOIN nodes n ON n.id = s.node_id WHERE s.token_hash = %s",
        (digest(token),),
    )
    site = call.seen.site.space_id
    if row is None or not row["holds"] or site not in {None, row["space_id"]}:
        raise not_found("link")
    if row["expired"]:
        raise Problem(410, "This link has expired.")
    return row


def proof(call: Call, share: DictRow) -> str:
    """The signed cookie value for a visitor who entered the password."""
    return call.app.vault.sign(f"{share['id']}/{share['password_hash']}", "share password")


async def check_password(call: Call, share: DictRow, password: str) -> bool:
    places = [
        (rate_limits.SHARE_PASSWORD, call.seen.address, str(share["id"])),
        (rate_limits.SHARE_EVERYWHERE, "", str(share["id"])),
    ]
    for place in places:
        await rate_limits.count(call.app.db, *place)
    same = await call.app.passwords.matches(password, share["password_hash"])
    for place in places if same else ():
        await rate_limits.uncount(call.app.db, *place)
    return same


async def shared_page(call: Call, share: DictRow, node_id: UUID) -> DictRow:
    """The row of a page that the link includes. Raises a 404 for any other page."""

    async def work(conn: Conn) -> DictRow | None:
        allowed = node_id == share["node_id"] or (
            share["include_children"] and await access.in_subtree(conn, share["node_id"], node_id)
        )
        if not allowed:
            return None
        cursor = await conn.execute(
            "SELECT n.id, n.title, n.doc, n.updated_at FROM nodes n JOIN nodes r ON r.id = %s"
            # Pages with their own permissions are not included.
            " WHERE n.id = %s AND n.trashed_at IS NULL"
            " AND n.access_root IS NOT DISTINCT FROM r.access_root",
            (share["node_id"], node_id),
        )
        return await cursor.fetchone()

    row = await call.app.db.run(work)
    if row is None:
        raise not_found()
    return row


async def record_visit(call: Call, share: DictRow) -> None:
    """Counts a visit. The address is stored only as a hash keyed with the link and our key."""
    salted = call.app.vault.sign(f"{share['id']}/{call.seen.address}", "share visitors")
    referrer = call.request.headers.get("referer", "")
    host = referrer.split("/")[2][:200] if referrer.count("/") >= 2 else None
    await call.app.db.do(
        # One row for each visitor and hour: who reloads the page does not fill the database.
        "INSERT INTO share_views AS v (share_id, visitor, referrer, at)"
        " VALUES (%s, %s, %s, date_trunc('hour', now(), 'UTC'))"
        " ON CONFLICT (share_id, visitor, at) DO UPDATE SET views = v.views + 1",
        (share["id"], bytes.fromhex(salted)[:16], host),
    )
