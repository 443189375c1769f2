"""API of the user's own sessions: list them, and end one or all others.

Invariant: an ended session gives no access any more, and its event streams end on every replica
(0008_access.sql notifies them of the deleted row).
"""

from datetime import datetime
from uuid import UUID

import msgspec

from notes.auth import audit, sessions
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table

table = Table("account")


class Session(msgspec.Struct, frozen=True):
    """A session; `last_seen_at` is up to an hour old, `is_current` is the one that asks."""

    id: UUID
    browser: str | None
    system: str | None
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    is_current: bool


class Ended(msgspec.Struct, frozen=True):
    """The number of sessions that have ended."""

    ended: int


@table("GET", "/api/v1/sessions")
async def list_sessions(call: Call) -> list[Session]:
    """List your sessions, the last used first."""
    session, _ = sessions.digests(call)
    rows = await call.app.db.all(
        "SELECT id, browser, system, created_at, last_seen_at, expires_at,"
        " coalesce(token_hash = %s, false) AS is_current FROM sessions"
        " WHERE user_id = %s AND expires_at > now() ORDER BY last_seen_at DESC, id",
        (session, call.viewer.person),
    )
    return [Session(**row) for row in rows]


@table("DELETE", "/api/v1/sessions/{id}", scope="write", status=204)
async def end_session(call: Call, id: UUID) -> None:
    """End one of your sessions at once."""
    who = call.viewer

    async def work(conn: Conn) -> None:
        await sessions.hold(conn, call)
        cursor = await conn.execute(
            "DELETE FROM sessions WHERE id = %s AND user_id = %s RETURNING browser, system",
            (id, who.person),
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("session")
        await audit.note(conn, who, "session.ended", who.email, **row)

    await call.app.db.transact(work)


@table("DELETE", "/api/v1/sessions", scope="write")
async def end_other_sessions(call: Call) -> Ended:
    """End all your sessions at once, except the one that asks; tokens stay."""
    who, (session, _) = call.viewer, sessions.digests(call)

    async def work(conn: Conn) -> Ended:
        await sessions.hold(conn, call)
        cursor = await conn.execute(
            "DELETE FROM sessions WHERE user_id = %s AND token_hash IS DISTINCT FROM %s",
            (who.person, session),
        )
        if cursor.rowcount:
            await audit.note(conn, who, "sessions.ended", who.email, ended=cursor.rowcount)
        return Ended(cursor.rowcount)

    return await call.app.db.transact(work)
