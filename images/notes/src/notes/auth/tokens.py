"""API tokens, with which a program acts as a person.

Invariant: a token can do nothing that whoever made it could not do then, and its secret is stored
only as a digest.
"""

import secrets
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.auth import audit, sessions
from notes.auth.accounts import Name
from notes.db.connect import Conn
from notes.http.call import Call, Scope
from notes.http.endpoint import Table
from notes.http.problems import Problem, not_found

table = Table("account")


class TokenIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token to make."""

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
    """A token just made: its secret is shown this once."""

    secret: str = ""


@table("GET", "/api/v1/tokens")
async def list_tokens(call: Call) -> list[Token]:
    """One's own API tokens."""
    rows = await call.app.db.all(
        "SELECT id, name, scopes, created_at, expires_at, last_used_at FROM api_tokens"
        " WHERE user_id = %s ORDER BY created_at",
        (call.viewer.person,),
    )
    return [Token(**row) for row in rows]


@table("POST", "/api/v1/tokens", scope="write", status=201)
async def post_token(call: Call, body: TokenIn) -> NewToken:
    """Make an API token; its secret is shown this once."""
    who = call.viewer
    lacking = set(body.scopes) - who.scopes
    if lacking:
        raise Problem(403, f"You cannot pass on the scope {min(lacking)!r}.", field="scopes")
    if body.expires_at is not None and not 2000 <= body.expires_at.year <= 9000:
        raise Problem(422, "The date is too far away.", field="expires_at")
    await _outlives_nothing(call, body)
    secret = f"nt_{secrets.token_urlsafe(32)}"

    async def work(conn: Conn) -> NewToken:
        cursor = await conn.execute(
            "INSERT INTO api_tokens (user_id, name, secret_hash, scopes, expires_at)"
            " VALUES (%s, %s, %s, %s, %s)"
            " RETURNING id, name, scopes, created_at, expires_at, last_used_at",
            (
                who.person,
                body.name,
                sessions.digest(secret),
                sorted(set(body.scopes)),
                body.expires_at,
            ),
        )
        row = await cursor.fetchone()
        await audit.note(conn, who, "token.made", body.name, scopes=sorted(set(body.scopes)))
        return NewToken(**(row or {}), secret=secret)

    return await call.app.db.transact(work)


async def _outlives_nothing(call: Call, body: TokenIn) -> None:
    """Raises a 403 for a token that would go on where the token that makes it ends."""
    if call.viewer.via != "token":
        return
    bearer = sessions.bearer(call.request) or ""
    row = await call.app.db.one(
        "SELECT expires_at FROM api_tokens WHERE secret_hash = %s", (sessions.digest(bearer),)
    )
    end = row["expires_at"] if row else None
    if end is not None and (body.expires_at is None or body.expires_at > end):
        raise Problem(403, "It would outlive the token that makes it.", field="expires_at")


@table("DELETE", "/api/v1/tokens/{id}", scope="write", status=204)
async def delete_token(call: Call, id: UUID) -> None:
    """Revoke one of one's own API tokens."""
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
