"""Sessions: a random token in a cookie, its hash in the database.

Invariant: every sign-in makes a new token and ends the session that the browser came with.
"""

import hashlib
import secrets
from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow
from starlette.requests import Request
from starlette.responses import Response

from notes.db.connect import Conn
from notes.db.pool import Database
from notes.http.call import ANYBODY, Scope, Seen, Viewer

LIFETIME_DAYS = 30
_BY_SESSION: LiteralString = (
    "SELECT u.id, u.name, u.email, u.is_admin, ARRAY(SELECT group_id FROM group_members g"
    " WHERE g.user_id = u.id) AS groups, s.last_seen_at < now() - interval '1 hour' AS stale"
    " FROM sessions s JOIN users u ON u.id = s.user_id"
    " WHERE s.token_hash = %s AND s.expires_at > now() AND u.disabled_at IS NULL"
)
_BY_TOKEN: LiteralString = (
    "SELECT u.id, u.name, u.email, u.is_admin, ARRAY(SELECT group_id FROM group_members g"
    " WHERE g.user_id = u.id) AS groups, t.scopes, t.id AS token_id,"
    " coalesce(t.last_used_at < now() - interval '1 hour', true) AS stale"
    " FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE t.secret_hash = %s"
    " AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.disabled_at IS NULL"
)


def digest(token: str) -> bytes:
    """What the database keeps of a token."""
    return hashlib.sha256(token.encode()).digest()


def cookie_name(seen: Seen) -> str:
    """The `__Host-` prefix pins a cookie to this very host; it needs https."""
    return "__Host-notes" if seen.secure else "notes"


def set_cookie(response: Response, seen: Seen, token: str) -> None:
    response.set_cookie(
        cookie_name(seen),
        token,
        max_age=LIFETIME_DAYS * 86_400,
        secure=seen.secure,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, seen: Seen) -> None:
    response.delete_cookie(cookie_name(seen), secure=seen.secure, httponly=True, samesite="lax")


def cookie(request: Request, seen: Seen) -> str | None:
    return request.cookies.get(cookie_name(seen))


def bearer(request: Request) -> str | None:
    """The token that a request names instead of a cookie; None where it names none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def start(conn: Conn, user_id: UUID, previous: str | None) -> str:
    """A new session's token; the session that the browser had before ends."""
    if previous:
        await conn.execute("DELETE FROM sessions WHERE token_hash = %s", (digest(previous),))
    token = secrets.token_urlsafe(32)
    await conn.execute(
        "INSERT INTO sessions (token_hash, user_id, expires_at)"
        " VALUES (%s, %s, now() + make_interval(days => %s))",
        (digest(token), user_id, LIFETIME_DAYS),
    )
    return token


async def viewer_of_session(db: Database, token: str) -> Viewer:
    row = await db.one(_BY_SESSION, (digest(token),))
    if row is None:
        return ANYBODY
    if row["stale"]:
        await db.do(
            "UPDATE sessions SET last_seen_at = now(), expires_at = now() +"
            " make_interval(days => %s) WHERE token_hash = %s",
            (LIFETIME_DAYS, digest(token)),
        )
    scopes = set[Scope](("read", "write"))
    if row["is_admin"]:
        scopes.add("admin")
    return _viewer(row, frozenset(scopes), via_token=False)


async def viewer_of_token(db: Database, token: str) -> Viewer | None:
    """None for a token that is unknown, expired or revoked."""
    row = await db.one(_BY_TOKEN, (digest(token),))
    if row is None:
        return None
    if row["stale"]:
        await db.do("UPDATE api_tokens SET last_used_at = now() WHERE id = %s", (row["token_id"],))
    scopes: frozenset[Scope] = frozenset(row["scopes"])
    if not row["is_admin"]:
        scopes -= {"admin"}
    return _viewer(row, scopes, via_token=True)


def _viewer(row: DictRow, scopes: frozenset[Scope], *, via_token: bool) -> Viewer:
    # An administrator's token without that scope has no more power than anybody's.
    return Viewer(
        row["id"],
        row["name"],
        row["email"],
        row["is_admin"] and "admin" in scopes,
        tuple(row["groups"]),
        scopes,
        "token" if via_token else "session",
    )
