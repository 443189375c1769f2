"""Setup, login, one's own account, and API tokens.

Invariant: setup happens once, whoever asks how often and through however many replicas.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from psycopg import errors
from starlette.responses import Response

from notes.auth import audit, limits, sessions
from notes.auth.passwords import MAX_CHARACTERS, MIN_CHARACTERS
from notes.db.connect import Conn
from notes.db.migrate import LOCK
from notes.http.call import SCOPES, Call, Viewer
from notes.http.endpoint import Table
from notes.http.problems import Problem

table = Table("account")

Email = Annotated[
    str,
    # `$` alone would let a last line feed through.
    msgspec.Meta(pattern=r"^[^\s@\x00-\x1f]{1,64}@[^\s@\x00-\x1f]{1,190}$(?!\n)", max_length=254),
]
Name = Annotated[
    str, msgspec.Meta(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)")
]
NewPassword = Annotated[str, msgspec.Meta(min_length=MIN_CHARACTERS, max_length=MAX_CHARACTERS)]
Password = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_CHARACTERS)]


class SetupIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first administrator, and what the installation is called."""

    email: Email
    name: Name
    password: NewPassword
    site_name: Name = "Notes"


class LoginIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """E-mail address and password."""

    email: Annotated[str, msgspec.Meta(max_length=254)]
    password: Password


class Me(msgspec.Struct, frozen=True):
    """The person who asks."""

    id: UUID
    email: str
    name: str
    is_admin: bool
    scopes: list[str]


class MeIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; a new password needs the present one."""

    name: Name | None = None
    password: NewPassword | None = None
    current_password: Password | None = None


class SetupState(msgspec.Struct, frozen=True):
    """Whether the setup has been done."""

    done: bool


async def is_set_up(call: Call) -> bool:
    row = await call.app.db.one("SELECT installed_at IS NOT NULL AS done FROM settings")
    return row is not None and row["done"]


@table("GET", "/api/v1/setup", scope=None, main_site_only=True)
async def get_setup(call: Call) -> SetupState:
    """Whether the first-time setup has been done."""
    return SetupState(await is_set_up(call))


@table("POST", "/api/v1/setup", scope=None, status=201, main_site_only=True)
async def post_setup(call: Call, body: SetupIn) -> Me:
    """Do the first-time setup: possible once."""
    token, me = await set_up(call, body)
    return signed_in(call, token, me, 201)  # type: ignore[return-value]


async def set_up(call: Call, body: SetupIn) -> tuple[str, Me]:
    """Makes the first administrator and their session. Raises a 409 when that was done before."""
    await limits.count(call.app.db, limits.SETUP, call.seen.address)
    password_hash = await call.app.passwords.hash(body.password)
    previous = sessions.cookie(call.request, call.seen)

    async def work(conn: Conn) -> tuple[str, Me]:
        await conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        cursor = await conn.execute(
            "UPDATE settings SET installed_at = now(), site_name = %s WHERE installed_at IS NULL",
            (body.site_name,),
        )
        if cursor.rowcount != 1:
            raise Problem(409, "The setup has been done already; sign in.")
        row = await (
            await conn.execute(
                "INSERT INTO users (email, name, password_hash, is_admin)"
                " VALUES (%s, %s, %s, true) RETURNING id",
                (body.email.lower(), body.name, password_hash),
            )
        ).fetchone()
        user_id: UUID = row["id"]  # type: ignore[index]
        who = Viewer(user_id, body.name, body.email)
        await audit.note(conn, who, "setup.done", body.site_name)
        token = await sessions.start(conn, user_id, previous)
        return token, Me(user_id, body.email.lower(), body.name, is_admin=True, scopes=[*SCOPES])

    return await call.app.db.transact(work)


@table("POST", "/api/v1/session", scope=None)
async def post_session(call: Call, body: LoginIn) -> Me:
    """Sign in with a password; the session comes as a cookie."""
    token, me = await log_in(call, body)
    return signed_in(call, token, me)  # type: ignore[return-value]


async def log_in(call: Call, body: LoginIn) -> tuple[str, Me]:
    """A new session's token. Raises a 401 without saying which of the two was wrong."""
    app = call.app
    email = body.email.lower()
    await limits.count_login(app.db, call.seen.address, email)
    row = None
    if "\0" not in email:
        row = await app.db.one(
            "SELECT id, name, is_admin, password_hash FROM users"
            " WHERE email = %s AND disabled_at IS NULL",
            (email,),
        )
    if not await app.passwords.matches(body.password, row["password_hash"] if row else None):
        raise Problem(401, "The e-mail address or the password is wrong.")
    assert row is not None  # noqa: S101 - nobody's hash never matches
    previous = sessions.cookie(call.request, call.seen)
    token = await app.db.transact(lambda conn: sessions.start(conn, row["id"], previous))
    await limits.uncount_login(app.db, call.seen.address, email)
    scopes = [*SCOPES] if row["is_admin"] else ["read", "write"]
    return token, Me(row["id"], email, row["name"], row["is_admin"], list(scopes))


def signed_in(call: Call, token: str, me: Me, status: int = 200) -> Response:
    response = Response(
        msgspec.json.encode(me), status, {"cache-control": "no-store"}, "application/json"
    )
    sessions.set_cookie(response, call.seen, token)
    return response


@table("DELETE", "/api/v1/session", scope=None, status=204)
async def delete_session(call: Call) -> None:
    """Sign out: the session ends for every copy of its cookie."""
    response = Response(status_code=204)
    await log_out(call, response)
    return response  # type: ignore[return-value]


async def log_out(call: Call, response: Response) -> None:
    token = sessions.cookie(call.request, call.seen)
    if token:
        await call.app.db.do(
            "DELETE FROM sessions WHERE token_hash = %s", (sessions.digest(token),)
        )
    sessions.clear_cookie(response, call.seen)
    # What a browser has kept for offline reading belongs to the person who leaves.
    response.headers["clear-site-data"] = '"cache", "storage"'


@table("GET", "/api/v1/me")
async def get_me(call: Call) -> Me:
    """The person who asks."""
    who = call.viewer
    return Me(who.person, who.email, who.name, who.is_admin, sorted(who.scopes))


@table("PATCH", "/api/v1/me", scope="write")
async def patch_me(call: Call, body: MeIn) -> Me:
    """Change one's name or password; a new password ends all other sessions."""
    app, who = call.app, call.viewer
    new_hash = None
    if body.password is not None:
        row = await app.db.one("SELECT password_hash FROM users WHERE id = %s", (who.person,))
        await limits.count_login(app.db, call.seen.address, who.email)
        stored = row["password_hash"] if row else None
        if not await app.passwords.matches(body.current_password or "", stored):
            raise Problem(403, "The present password is wrong.", field="current_password")
        new_hash = await app.passwords.hash(body.password)
    token = sessions.cookie(call.request, call.seen)

    async def work(conn: Conn) -> None:
        await conn.execute(
            "UPDATE users SET name = coalesce(%s, name),"
            " password_hash = coalesce(%s, password_hash) WHERE id = %s",
            (body.name, new_hash, who.person),
        )
        if new_hash is not None:
            await conn.execute(
                "DELETE FROM sessions WHERE user_id = %s AND token_hash <> %s",
                (who.person, sessions.digest(token or "")),
            )
            await audit.note(conn, who, "password.changed", who.email)

    await app.db.transact(work)
    return Me(who.person, who.email, body.name or who.name, who.is_admin, sorted(who.scopes))


async def make_user(
    conn: Conn, email: str, name: str, password_hash: str | None, *, is_admin: bool
) -> UUID:
    """Raises a 409 when the address is taken."""
    try:
        cursor = await conn.execute(
            "INSERT INTO users (email, name, password_hash, is_admin) VALUES (%s, %s, %s, %s)"
            " RETURNING id",
            (email.lower(), name, password_hash, is_admin),
        )
    except errors.UniqueViolation:
        raise Problem(409, "Somebody has this e-mail address.", field="email") from None
    row = await cursor.fetchone()
    return row["id"]  # type: ignore[index, no-any-return]
