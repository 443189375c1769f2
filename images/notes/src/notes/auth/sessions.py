"""Sessions: a random token in a cookie, its hash in the database.

Invariant: every sign-in creates a new token and ends the browser's previous session; a new password
ends the sessions and tokens of the old one.
"""

import secrets
from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow
from starlette.requests import Request
from starlette.responses import Response

from notes.auth.token_digest import digest
from notes.auth.user_agents import device_of
from notes.db.connect import Conn
from notes.db.pool import Database
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.viewer import ANYBODY, Scope, Seen, Viewer

LIFETIME_DAYS = 30
#: For so many days more the browser knows whose sign-in has expired: their page stays in view while
#: the workspace asks them to sign in again.
NAMED_DAYS = 7
#: In a 401: the session has expired; nobody has ended it.
EXPIRED = {"x-notes-session": "expired"}
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


def cookie_name(seen: Seen) -> str:
    """The cookie's name; with https its `__Host-` prefix binds it to this host."""
    return "__Host-notes" if seen.secure else "notes"


def set_cookie(response: Response, seen: Seen, token: str, user_id: UUID) -> None:
    response.set_cookie(
        cookie_name(seen),
        token,
        max_age=LIFETIME_DAYS * 86_400,
        secure=seen.secure,
        httponly=True,
        samesite="lax",
    )
    name_user(response, seen, user_id)


def name_user(response: Response, seen: Seen, user_id: UUID) -> None:
    """Sets the cookie that tells the workspace's script, also offline, who is signed in.

    It gives no access: the script only compares it with the user whose pages the browser stores.
    """
    response.set_cookie(
        user_cookie_name(seen),
        str(user_id),
        max_age=(LIFETIME_DAYS + NAMED_DAYS) * 86_400,
        secure=seen.secure,
        samesite="lax",
    )


def user_cookie_name(seen: Seen) -> str:
    return f"{cookie_name(seen)}-user"


def clear_cookie(response: Response, seen: Seen) -> None:
    response.delete_cookie(cookie_name(seen), secure=seen.secure, httponly=True, samesite="lax")
    response.delete_cookie(user_cookie_name(seen), secure=seen.secure, samesite="lax")


def cookie(request: Request, seen: Seen) -> str | None:
    return request.cookies.get(cookie_name(seen))


def bearer(request: Request) -> str | None:
    """The bearer token of a request; None if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def start(
    conn: Conn,
    user_id: UUID,
    previous: str | None,
    address: bytes | None = None,
    *,
    password_hash: str | None = None,
    user_agent: str = "",
) -> str | None:
    """Starts a session and ends the browser's previous one; returns the new token.

    None if the account is disabled, or its password hash is no longer `password_hash`.
    """
    cursor = await conn.execute(
        "SELECT 1 FROM users WHERE id = %s AND disabled_at IS NULL"
        " AND (%s::text IS NULL OR password_hash = %s) FOR SHARE",
        (user_id, password_hash, password_hash),
    )
    if await cursor.fetchone() is None:
        return None
    if previous:
        await conn.execute("DELETE FROM sessions WHERE token_hash = %s", (digest(previous),))
    token = secrets.token_urlsafe(32)
    await conn.execute(
        "INSERT INTO sessions (token_hash, user_id, expires_at, address, browser, system)"
        " VALUES (%s, %s, now() + make_interval(days => %s), %s, %s, %s)",
        (digest(token), user_id, LIFETIME_DAYS, address, *device_of(user_agent)),
    )
    return token


def digests(call: Call) -> tuple[bytes | None, bytes | None]:
    """Returns the digests of the session and of the token that a request came with; one is None."""
    if call.viewer.via == "token":
        return None, digest(bearer(call.request) or "")
    return digest(cookie(call.request, call.seen) or ""), None


async def hold(conn: Conn, call: Call) -> None:
    """Locks the session or token of the request until the commit. Raises a 401 if it has ended.

    Without it, a token that a user creates while being signed out would remain valid.
    """
    if call.viewer.via == "token":
        given = digest(bearer(call.request) or "")
        cursor = await conn.execute(
            "SELECT 1 FROM api_tokens WHERE secret_hash = %s FOR KEY SHARE", (given,)
        )
    else:
        given = digest(cookie(call.request, call.seen) or "")
        cursor = await conn.execute(
            "SELECT 1 FROM sessions WHERE token_hash = %s FOR KEY SHARE", (given,)
        )
    if await cursor.fetchone() is None:
        raise Problem(401, "Sign in first.")


async def end_all(conn: Conn, user_id: UUID, but_of: Call | None = None) -> None:
    """Ends a user's sessions and tokens, except the one that the request `but_of` uses."""
    session = token = b""
    if but_of is not None and but_of.viewer.via == "token":
        token = digest(bearer(but_of.request) or "")
    elif but_of is not None:
        session = digest(cookie(but_of.request, but_of.seen) or "")
    await conn.execute(
        "DELETE FROM sessions WHERE user_id = %s AND token_hash <> %s", (user_id, session)
    )
    await conn.execute(
        "WITH kept AS (UPDATE api_tokens SET made_by = NULL WHERE secret_hash = %(kept)s)"
        " DELETE FROM api_tokens WHERE user_id = %(person)s AND secret_hash <> %(kept)s",
        {"person": user_id, "kept": token},
    )


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


async def has_expired(db: Database, request: Request, seen: Seen) -> bool:
    """True if the session of a request has expired; false if it was ended, or there was none.

    A browser deletes the session's cookie when it expires, and keeps the user's a while longer; a
    sign-out deletes both.
    """
    token = cookie(request, seen)
    if token is None:
        return user_cookie_name(seen) in request.cookies
    row = await db.one(
        "SELECT 1 FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = %s"
        " AND s.expires_at <= now() AND u.disabled_at IS NULL",
        (digest(token),),
    )
    return row is not None


async def viewer_of_token(db: Database, token: str) -> Viewer | None:
    """The viewer of an API token; None if it is unknown, expired or revoked."""
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
    # An administrator's token without that scope has no administrator's rights.
    return Viewer(
        row["id"],
        row["name"],
        row["email"],
        row["is_admin"] and "admin" in scopes,
        tuple(row["groups"]),
        scopes,
        "token" if via_token else "session",
    )
