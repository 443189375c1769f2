"""API of the steps after the first setup: what is there already, and the demo space.

Invariant: a step is done if its result is there, by any way; nothing is stored.
"""

from uuid import UUID

import msgspec

from notes.auth import rate_limits
from notes.db.connect import Conn
from notes.db.migrate import LOCK
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.transfer.demo_space import SLUGS, Language, offer_demo

table = Table("account")


class NextSteps(msgspec.Struct, frozen=True):
    """The steps that follow the setup: true for each that is done.

    `people`: there is a second active account, or an invitation that holds. `space`: there is one
    besides the demo space. `sign_on`: a provider is set. `archive`: the database archives its
    changes, and the last attempt succeeded; other backups are not seen here. `demo_space` is null
    if there is none.
    """

    people: bool
    space: bool
    sign_on: bool
    archive: bool
    demo_space: UUID | None


class DemoIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The language of the demo space."""

    language: Language = "en"


class DemoSpace(msgspec.Struct, frozen=True):
    """The demo space; its pages come by an import, some moments later."""

    space_id: UUID


@table("GET", "/api/v1/next-steps", scope="admin", main_site_only=True)
async def get_next_steps(call: Call) -> NextSteps:
    """Show what of the steps after the setup is done."""
    row = await call.app.db.one(
        "SELECT (SELECT count(*) > 1 FROM users WHERE disabled_at IS NULL) OR EXISTS (SELECT 1"
        " FROM invitations WHERE accepted_at IS NULL AND expires_at > now()) AS people,"
        " EXISTS (SELECT 1 FROM spaces WHERE slug <> ALL (%(demo)s)) AS space,"
        " current_setting('archive_mode') <> 'off' AND coalesce((SELECT last_archived_time"
        " > coalesce(last_failed_time, '-infinity') FROM pg_stat_archiver), false) AS archive,"
        " (SELECT id FROM spaces WHERE slug = ANY (%(demo)s) ORDER BY created_at, id LIMIT 1)"
        " AS demo_space",
        {"demo": list(SLUGS)},
    )
    assert row is not None  # noqa: S101 - the statement has one row
    sign_on = await call.app.sign_on.configured() is not None
    return NextSteps(row["people"], row["space"], sign_on, row["archive"], row["demo_space"])


@table("POST", "/api/v1/demo-space", scope="admin", status=201, main_site_only=True)
async def post_demo_space(call: Call, body: DemoIn) -> DemoSpace:
    """Make the demo space, as the setup does. Raises a 409 if there is one."""
    await rate_limits.count(call.app.db, rate_limits.SETUP, call.seen.address)

    async def work(conn: Conn) -> UUID:
        # One at a time: of two languages both short names would be free.
        await conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        cursor = await conn.execute(
            "SELECT 1 FROM spaces WHERE slug = ANY (%s) LIMIT 1", (list(SLUGS),)
        )
        if await cursor.fetchone() is not None:
            raise Problem(409, "There is a demo space already.")
        return await offer_demo(conn, call.viewer, body.language)

    return DemoSpace(await call.app.db.transact(work))
