"""API of spaces: create, change and delete them.

Invariant: a change of a domain or of its site notifies `app_spaces` in the same transaction, so
every replica serves it within moments (spec: notes-app §6).
"""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from psycopg import errors

from notes.auth import audit
from notes.auth.accounts import Name
from notes.db.connect import Conn, take_time
from notes.events.record import tell_of_the_end
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import EveryoneName, Role
from notes.spaces import domains
from notes.spaces.making import NewSpace, make_space

table = Table("spaces")

Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9](-?[a-z0-9]){0,49}$(?!\n)")]
Description = Annotated[str, msgspec.Meta(max_length=2000, pattern=r"^[^\x00]*$")]
Domain = Annotated[str, msgspec.Meta(max_length=253)]


class Space(msgspec.Struct, frozen=True):
    """A space and the viewer's role in it."""

    id: UUID
    slug: str
    name: str
    description: str
    domain: str | None
    domain_approved: bool
    site_enabled: bool
    public: bool
    everyone_role: str
    role: str
    created_at: datetime


class SpaceIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A space to create."""

    slug: Slug
    name: Name
    description: Description = ""
    everyone_role: EveryoneName = "none"


class SpacePatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields to change; an empty domain removes it. Another space's slug is a 409.

    `public` lets anybody read; the site is served at `domain` while `site_enabled`, after an
    administrator has approved the domain.
    """

    slug: Slug | None = None
    name: Name | None = None
    description: Description | None = None
    everyone_role: EveryoneName | None = None
    public: bool | None = None
    domain: Domain | None = None
    site_enabled: bool | None = None


def _space(row: dict[str, Any]) -> Space:
    return Space(
        row["id"],
        row["slug"],
        row["name"],
        row["description"],
        row["domain"],
        row["domain"] is not None and row["domain"] == row["approved_domain"],
        row["site_enabled"],
        row["public"],
        Role(row["everyone_role"]).label,
        Role(row["role"]).label,
        row["created_at"],
    )


def _slug_is_taken() -> Problem:
    return Problem(409, "A space with this slug exists.", field="slug")


@table("GET", "/api/v1/spaces")
async def list_spaces(call: Call) -> list[Space]:
    """List the spaces that you may see."""
    rows = await call.app.db.all(
        "SELECT * FROM (SELECT s.*, space_role(s.id, %s, %s, %s) AS role FROM spaces s) s"
        " WHERE role > 0 AND (%s::uuid IS NULL OR id = %s) ORDER BY name, id",
        (*call.viewer.access, call.seen.site.space_id, call.seen.site.space_id),
    )
    return [_space(row) for row in rows]


@table("POST", "/api/v1/spaces", scope="write", status=201, main_site_only=True)
async def post_space(call: Call, body: SpaceIn) -> Space:
    """Create a space; its creator becomes its manager."""

    role = Role.named(body.everyone_role)
    new = NewSpace(body.slug, body.name, body.description, role)
    made = await call.app.db.transact(lambda conn: make_space(conn, call.viewer, new))
    return await get_space(call, made)  # type: ignore[no-any-return]


@table("GET", "/api/v1/spaces/{id}")
async def get_space(call: Call, id: UUID) -> Space:
    """Get a space."""
    return _space(await call.app.db.run(lambda conn: access.space(conn, call, id, Role.VIEWER)))


@table("PATCH", "/api/v1/spaces/{id}", scope="write", main_site_only=True)
async def patch_space(call: Call, id: UUID, body: SpacePatch) -> Space:
    """Change a space, its domain and its site."""
    domain = None if body.domain is None else domains.checked(call, body.domain)

    async def work(conn: Conn) -> None:
        row = await access.space(conn, call, id, Role.MANAGER)
        new_domain = row["domain"] if body.domain is None else domain
        enabled = row["site_enabled"] if body.site_enabled is None else body.site_enabled
        if enabled and new_domain is None:
            raise Problem(422, "A site needs a domain to be served at.", field="site_enabled")
        try:
            await conn.execute(
                "UPDATE spaces SET slug = coalesce(%s, slug), name = coalesce(%s, name),"
                " description = coalesce(%s, description), public = coalesce(%s, public),"
                " everyone_role = coalesce(%s, everyone_role), site_enabled = %s,"
                " updated_at = now() WHERE id = %s",
                (
                    body.slug,
                    body.name,
                    body.description,
                    body.public,
                    None if body.everyone_role is None else Role.named(body.everyone_role),
                    enabled,
                    id,
                ),
            )
        except errors.UniqueViolation:
            raise _slug_is_taken() from None
        if body.domain is not None and domain != row["domain"]:
            await domains.claim(conn, call, id, domain)
        await domains.announce(conn, id)
        detail = audit.changes(body, but=("description",))
        if body.domain is not None:
            detail["domain"] = domain
        await audit.note(conn, call.viewer, "space.changed", row["name"], space_id=id, **detail)

    await call.app.db.transact(work)
    return await get_space(call, id)  # type: ignore[no-any-return]


@table("DELETE", "/api/v1/spaces/{id}", scope="write", status=204, main_site_only=True)
async def delete_space(call: Call, id: UUID) -> None:
    """Delete a space and everything in it permanently."""

    async def work(conn: Conn) -> None:
        row = await access.space(conn, call, id, Role.MANAGER)
        await take_time(conn)
        await tell_of_the_end(conn, id)
        await conn.execute("DELETE FROM spaces WHERE id = %s", (id,))
        await conn.execute("SELECT pg_notify('app_spaces', %s)", (str(id),))
        await audit.note(conn, call.viewer, "space.deleted", row["name"], space_id=id)

    await call.app.db.transact(work)
