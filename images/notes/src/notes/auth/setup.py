"""The first-time setup: the first administrator, and the name of the installation.

Invariant: setup succeeds once, however many requests ask for it on however many replicas.
"""

from uuid import UUID

import msgspec

from notes.auth import audit, rate_limits, sessions
from notes.auth.accounts import Email, Me, Name, NewPassword, address_of, agent_of, signed_in
from notes.db.connect import Conn
from notes.db.migrate import LOCK
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.http.viewer import SCOPES, Viewer
from notes.transfer.demo_space import Language, offer_demo

table = Table("account")


class SetupIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first administrator, the name of the installation, and the language of a demo space.

    Without `demo` there is no demo space.
    """

    email: Email
    name: Name
    password: NewPassword
    site_name: Name = "Notes"
    demo: Language | None = None


class SetupState(msgspec.Struct, frozen=True):
    """The state of the first-time setup; `origin` is the address that the application sees.

    If a browser has another one, proxy headers are missing, and forms are refused.
    """

    done: bool
    origin: str


async def is_set_up(call: Call) -> bool:
    row = await call.app.db.one("SELECT installed_at IS NOT NULL AS done FROM settings")
    return row is not None and row["done"]


@table("GET", "/api/v1/setup", scope=None, main_site_only=True)
async def get_setup(call: Call) -> SetupState:
    """Tell if the first-time setup has been done."""
    return SetupState(await is_set_up(call), call.seen.origin)


@table("POST", "/api/v1/setup", scope=None, status=201, main_site_only=True)
async def post_setup(call: Call, body: SetupIn) -> Me:
    """Do the first-time setup; it is possible only once."""
    token, me = await set_up(call, body)
    return signed_in(call, token, me, 201)  # type: ignore[return-value]


async def set_up(call: Call, body: SetupIn) -> tuple[str, Me]:
    """Creates the first administrator and their session. Raises a 409 if setup was done before."""
    await rate_limits.count(call.app.db, rate_limits.SETUP, call.seen.address)
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
        if body.demo is not None:
            await offer_demo(conn, who, body.demo)
        token = await sessions.start(
            conn, user_id, previous, address_of(call), user_agent=agent_of(call)
        )
        return token or "", Me(
            user_id, body.email.lower(), body.name, is_admin=True, scopes=[*SCOPES]
        )

    return await call.app.db.transact(work)
