"""API of space domains: a space's manager claims one, an administrator approves it.

Invariant: a domain is served, and may get a certificate, only for the space and in the spelling
that an administrator has approved; a claim alone does not reserve the name.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from psycopg import errors

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.middleware.hostname import is_domain, normal_host, without_port

table = Table("spaces")

CLAIMS = 5
"""The number of domains that one account may claim, approved or not."""


class ClaimedDomain(msgspec.Struct, frozen=True):
    """The claimed domain of a space; `approved` if an administrator has approved it."""

    space_id: UUID
    space_name: str
    domain: str
    approved: bool
    site_enabled: bool
    claimed_by: UUID | None
    claimed_by_name: str | None


class ApprovalIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The domain to approve; refused if the space has claimed another one in the meantime."""

    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


@table("GET", "/api/v1/domains", scope="admin", main_site_only=True)
async def list_domains(call: Call) -> list[ClaimedDomain]:
    """List the domains of all spaces, first those that wait for approval."""
    rows = await call.app.db.all(
        "SELECT s.id AS space_id, s.name AS space_name, s.domain,"
        " s.domain IS NOT DISTINCT FROM s.approved_domain AS approved, s.site_enabled,"
        " s.domain_claimed_by AS claimed_by, u.name AS claimed_by_name FROM spaces s"
        " LEFT JOIN users u ON u.id = s.domain_claimed_by WHERE s.domain IS NOT NULL"
        " ORDER BY approved, s.domain, s.id"
    )
    return [ClaimedDomain(**row) for row in rows]


@table("PUT", "/api/v1/spaces/{id}/domain/approval", scope="admin", status=204, main_site_only=True)
async def approve_domain(call: Call, id: UUID, body: ApprovalIn) -> None:
    """Approve the domain that a space has claimed."""
    domain = checked(call, body.domain)

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "SELECT name, domain FROM spaces WHERE id = %s FOR UPDATE", (id,)
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("space")
        if domain is None or row["domain"] != domain:
            raise Problem(409, "The space has claimed another domain since.", field="domain")
        await approve(conn, id, domain)
        await announce(conn, id)
        await audit.note(
            conn, call.viewer, "domain.approved", row["name"], space_id=id, domain=domain
        )

    await call.app.db.transact(work)


@table(
    "DELETE", "/api/v1/spaces/{id}/domain/approval", scope="admin", status=204, main_site_only=True
)
async def withdraw_domain(call: Call, id: UUID) -> None:
    """Withdraw the approval of a space's domain; the claim remains and waits for approval."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute(
            "UPDATE spaces SET approved_domain = NULL WHERE id = %s RETURNING name, domain", (id,)
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("space")
        await announce(conn, id)
        await audit.note(
            conn, call.viewer, "domain.withdrawn", row["name"], space_id=id, domain=row["domain"]
        )

    await call.app.db.transact(work)


async def claim(conn: Conn, call: Call, space_id: UUID, domain: str | None) -> None:
    """Sets the domain of a space; an administrator's claim is approved at once.

    Raises a 409 for a domain that is approved for another space, and for too many claims.
    """
    if domain is not None and not call.viewer.is_admin:
        # One claim at a time: two concurrent ones could exceed the limit.
        await conn.execute(
            "SELECT pg_advisory_xact_lock(73, hashtext(%s))", (str(call.viewer.person),)
        )
        cursor = await conn.execute(
            "SELECT EXISTS (SELECT 1 FROM spaces WHERE approved_domain = %(domain)s AND"
            " id <> %(space)s) AS taken, (SELECT count(*) FROM spaces WHERE domain IS NOT NULL"
            " AND domain_claimed_by = %(person)s AND id <> %(space)s) AS claims",
            {"domain": domain, "space": space_id, "person": call.viewer.person},
        )
        row = await cursor.fetchone()
        assert row is not None  # noqa: S101 - the query has no condition
        if row["taken"]:
            raise Problem(409, "Another space has this domain.", field="domain")
        if row["claims"] >= CLAIMS:
            raise Problem(
                409, f"You have claimed {CLAIMS} domains; remove one first.", field="domain"
            )
    # A new name loses the approval; an unchanged one keeps it.
    await conn.execute(
        "UPDATE spaces SET domain = %(domain)s, domain_claimed_by = CASE WHEN domain = %(domain)s"
        " THEN domain_claimed_by ELSE %(person)s END, approved_domain = CASE WHEN"
        " approved_domain = %(domain)s THEN approved_domain END WHERE id = %(space)s",
        {"domain": domain, "person": call.viewer.user_id, "space": space_id},
    )
    if domain is not None and call.viewer.is_admin:
        await approve(conn, space_id, domain)


async def approve(conn: Conn, space_id: UUID, domain: str) -> None:
    """Approves a space's domain. Raises a 409 if it is approved for another space."""
    try:
        await conn.execute(
            "UPDATE spaces SET approved_domain = %s WHERE id = %s", (domain, space_id)
        )
    except errors.UniqueViolation:
        raise Problem(409, "Another space has this domain.", field="domain") from None


async def announce(conn: Conn, space_id: UUID) -> None:
    """Notifies every replica to reload its host map (spec: notes-app §6)."""
    await conn.execute("SELECT pg_notify('app_spaces', %s)", (str(space_id),))
    await tell(conn, "space.changed", space_id=space_id)


def checked(call: Call, text: str) -> str | None:
    """The normal form of a domain; None for an empty text. Raises a 422 if it is invalid."""
    if not text.strip():
        return None
    host = normal_host(text)
    if host is None or not is_domain(host):
        raise Problem(422, "This is not a domain name.", field="domain")
    settings = call.app.settings
    main = settings.main_host
    if host in settings.extra_hosts or (main is not None and host == without_port(main)):
        raise Problem(422, "This is a host of the main site.", field="domain")
    return host
