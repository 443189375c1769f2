"""Sign-in, sign-out, and the user's own account."""

from typing import Annotated
from uuid import UUID

import msgspec
from psycopg import errors
from starlette.responses import Response

from notes.auth import audit, devices, rate_limits, sessions, unsent
from notes.auth.passwords import MAX_CHARACTERS, MIN_CHARACTERS
from notes.auth.token_digest import digest
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.http.viewer import SCOPES, network

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


class LoginIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """E-mail address and password."""

    email: Annotated[str, msgspec.Meta(max_length=254)]
    password: Password


class Me(msgspec.Struct, frozen=True):
    """The signed-in user."""

    id: UUID
    email: str
    name: str
    is_admin: bool
    scopes: list[str]


class MeNow(Me, frozen=True):
    """The signed-in user, and where an event stream begins that tells of all that is read later."""

    events_since: str


class MeIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields to change; a new password needs the current one."""

    name: Name | None = None
    password: NewPassword | None = None
    current_password: Password | None = None


class SignOutQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With `keep_stored` the browser keeps what it has stored for offline reading.

    With `keep_others` it deletes only its cache. Only the workspace asks for these: it deletes what
    it has stored of one user by itself, and shows that of each to no other one.
    """

    keep_stored: bool = False
    keep_others: bool = False


@table("POST", "/api/v1/session", scope=None)
async def post_session(call: Call, body: LoginIn) -> Me:
    """Sign in with a password; the answer sets the session's cookie."""
    token, me = await log_in(call, body)
    return signed_in(call, token, me)  # type: ignore[return-value]


async def log_in(call: Call, body: LoginIn) -> tuple[str, Me]:
    """A new session's token. The 401 does not tell if the address or the password was wrong."""
    app = call.app
    email = body.email.lower()
    attempt = await _attempt(call, email)
    await rate_limits.count_login(app.db, attempt)
    row = None
    if "\0" not in email:
        row = await app.db.one(
            "SELECT id, name, is_admin, password_hash FROM users"
            " WHERE email = %s AND disabled_at IS NULL",
            (email,),
        )
    wrong = Problem(401, "The e-mail address or the password is wrong.")
    stored = row["password_hash"] if row else None
    if not await app.passwords.matches(body.password, stored):
        raise wrong
    assert row is not None  # noqa: S101 - without an account no password matches
    previous = sessions.cookie(call.request, call.seen)
    token = await app.db.transact(
        lambda conn: sessions.start(
            conn,
            row["id"],
            previous,
            address_of(call),
            password_hash=stored,
            user_agent=agent_of(call),
        )
    )
    if token is None:
        raise wrong  # the password was changed, or the account disabled, in the meantime
    await rate_limits.uncount_login(app.db, attempt)
    scopes = [*SCOPES] if row["is_admin"] else ["read", "write"]
    return token, Me(row["id"], email, row["name"], row["is_admin"], list(scopes))


async def _attempt(call: Call, email: str) -> rate_limits.Attempt:
    row = None
    if "\0" not in email:
        row = await call.app.db.one(
            "SELECT EXISTS (SELECT 1 FROM sessions s JOIN users u ON u.id = s.user_id"
            " WHERE u.email = %s AND s.address = %s AND s.expires_at > now()) AS near",
            (email, address_of(call)),
        )
    is_near = row is not None and row["near"]
    return rate_limits.Attempt(email, call.seen.address, devices.known(call, email), is_near)


def address_of(call: Call) -> bytes:
    """The keyed hash of the client's address that is stored with a session."""
    signed = call.app.vault.sign(network(call.seen.address), "session addresses")
    return bytes.fromhex(signed)[:16]


def agent_of(call: Call) -> str:
    """The user agent of the request; empty without one."""
    return call.request.headers.get("user-agent", "")


def told(me: Me, status: int = 200) -> Response:
    """The answer with a user, to which cookies can be added."""
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(me), status, headers, "application/json")


def signed_in(call: Call, token: str, me: Me, status: int = 200) -> Response:
    response = told(me, status)
    sessions.set_cookie(response, call.seen, token, me.id)
    devices.remember(call, response, me.email)
    return response


@table("DELETE", "/api/v1/session", scope=None, status=204)
async def delete_session(call: Call, query: SignOutQuery) -> None:
    """Sign out: the session ends, also for copies of its cookie."""
    response = Response(status_code=204)
    await log_out(call, response)
    if query.keep_others and not query.keep_stored:
        response.headers["clear-site-data"] = '"cache"'
    elif not query.keep_stored:
        unsent.delete(call, response)
    return response  # type: ignore[return-value]


async def log_out(call: Call, response: Response) -> None:
    token = sessions.cookie(call.request, call.seen)
    if token:
        await call.app.db.do("DELETE FROM sessions WHERE token_hash = %s", (digest(token),))
    sessions.clear_cookie(response, call.seen)


@table("GET", "/api/v1/me")
async def get_me(call: Call) -> MeNow:
    """The signed-in user.

    `GET /api/v1/events?since=` with `events_since` misses no change of what is read after this.
    """
    who = call.viewer
    since = str(await call.app.hub.begin())
    me = MeNow(who.person, who.email, who.name, who.is_admin, sorted(who.scopes), since)
    named = call.request.cookies.get(sessions.user_cookie_name(call.seen))
    if who.via == "token" or named == str(me.id):
        return me
    # A session of an older version, or a cookie that was changed.
    response = told(me)
    sessions.name_user(response, call.seen, me.id)
    return response  # type: ignore[return-value]


@table("PATCH", "/api/v1/me", scope="write")
async def patch_me(call: Call, body: MeIn) -> Me:
    """Change your name or password; a new password ends all other sessions and all tokens."""
    app, who = call.app, call.viewer
    new_hash = None
    if body.password is not None:
        row = await app.db.one("SELECT password_hash FROM users WHERE id = %s", (who.person,))
        place = (rate_limits.PRESENT, "", _present(call))
        await rate_limits.count(app.db, *place)
        stored = row["password_hash"] if row else None
        if not await app.passwords.matches(body.current_password or "", stored):
            raise Problem(403, "The current password is wrong.", field="current_password")
        await rate_limits.uncount(app.db, *place)
        new_hash = await app.passwords.hash(body.password)

    async def work(conn: Conn) -> None:
        await conn.execute(
            "UPDATE users SET name = coalesce(%s, name),"
            " password_hash = coalesce(%s, password_hash) WHERE id = %s",
            (body.name, new_hash, who.person),
        )
        # The UPDATE locked the user's row: of two concurrent changes one ends the other's session.
        await sessions.hold(conn, call)
        if new_hash is not None:
            await sessions.end_all(conn, who.person, but_of=call)
            await audit.note(conn, who, "password.changed", who.email)

    await app.db.transact(work)
    return Me(who.person, who.email, body.name or who.name, who.is_admin, sorted(who.scopes))


def _present(call: Call) -> str:
    """The rate-limit subject for the current password: one a session, one for all tokens."""
    if call.viewer.via == "token":
        return f"token:{call.viewer.person}"
    cookie = sessions.cookie(call.request, call.seen) or ""
    return f"session:{digest(cookie).hex()[:32]}"


async def make_user(
    conn: Conn, email: str, name: str, password_hash: str | None, *, is_admin: bool
) -> UUID:
    """Inserts a user and returns its id. Raises a 409 if the address is taken."""
    try:
        cursor = await conn.execute(
            "INSERT INTO users (email, name, password_hash, is_admin) VALUES (%s, %s, %s, %s)"
            " RETURNING id",
            (email.lower(), name, password_hash, is_admin),
        )
    except errors.UniqueViolation:
        raise Problem(409, "Another account has this e-mail address.", field="email") from None
    row = await cursor.fetchone()
    return row["id"]  # type: ignore[index, no-any-return]
