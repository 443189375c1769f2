"""API tokens, with which a program acts for a user.

Invariant: a token has no scope that its creator lacked, it ends with the token that created it, and
its secret is stored only as a digest.
"""

import secrets
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.auth import audit, sessions
from notes.auth.accounts import Name
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.http.viewer import Scope

table = Table("account")


class TokenIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token to create."""

    name: Name
    scopes: Annotated[list[Scope], msgspec.Meta(min_length=1, max_length=3)]
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class Token(msgspec.Struct, frozen=True):
    """A token, without its secret."""

    id: UUID
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class NewToken(Token, frozen=True):
    """A new token; its secret is shown only in this answer."""

    secret: str = ""


@table("GET", "/api/v1/tokens", has_secret=True)
async def list_tokens(call: Call) -> list[Token]:
    """List your API tokens."""
    rows = await call.app.db.all(
        "SELECT id, name, scopes, created_at, expires_at, last_used_at FROM api_tokens"
        " WHERE user_id = %s ORDER BY created_at",
        (call.viewer.person,),
    )
    return [Token(**row) for row in rows]


@table("POST", "/api/v1/tokens", scope="write", status=201, has_secret=True)
async def post_token(call: Call, body: TokenIn) -> NewToken:
    """Create an API token; its secret is shown only in this answer."""
    who = call.viewer
    lacking = set(body.scopes) - who.scopes
    if lacking:
        raise Problem(403, f"You cannot pass on the scope {min(lacking)!r}.", field="scopes")
    if body.expires_at is not None and not 2000 <= body.expires_at.year <= 9000:
        raise Problem(422, "The date is too far away.", field="expires_at")
    maker = await _maker(call, body)
    secret = f"nt_{secrets.token_urlsafe(32)}"

    async def work(conn: Conn) -> NewToken:
        await sessions.hold(conn, call)
        cursor = await conn.execute(
            "INSERT INTO api_tokens (user_id, name, secret_hash, scopes, expires_at, made_by)"
            " VALUES (%s, %s, %s, %s, %s, %s)"
            " RETURNING id, name, scopes, created_at, expires_at, last_used_at",
            (
                who.person,
                body.name,
                digest(secret),
                sorted(set(body.scopes)),
                body.expires_at,
                maker,
            ),
        )
        row = await cursor.fetchone()
        await audit.note(conn, who, "token.made", body.name, scopes=sorted(set(body.scopes)))
        return NewToken(**(row or {}), secret=secret)

    return await call.app.db.transact(work)


async def _maker(call: Call, body: TokenIn) -> UUID | None:
    """The id of the token that creates this one; None for a session.

    Raises a 403 if the new token would expire later than its creator, and a 401 if the creator was
    revoked in the meantime.
    """
    if call.viewer.via != "token":
        return None
    bearer = sessions.bearer(call.request) or ""
    row = await call.app.db.one(
        "SELECT id, expires_at FROM api_tokens WHERE secret_hash = %s", (digest(bearer),)
    )
    if row is None:
        raise Problem(401, "The token has been revoked.")
    end = row["expires_at"]
    if end is not None and (body.expires_at is None or body.expires_at > end):
        raise Problem(403, "It would expire later than its creating token.", field="expires_at")
    made: UUID = row["id"]
    return made


@table("DELETE", "/api/v1/tokens/{id}", scope="write", status=204)
async def delete_token(call: Call, id: UUID) -> None:
    """Revoke one of your API tokens and the tokens that it created."""
    who = call.viewer

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "DELETE FROM api_tokens WHERE id = %s AND user_id = %s RETURNING name", (id, who.person)
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("token")
        await audit.note(conn, who, "token.revoked", row["name"])

    await call.app.db.transact(work)
