"""Earlier versions of a page. Invariant: going back to one makes a new version; none is lost."""

import asyncio
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.doc import diff as differ
from notes.doc.markdown_out import markdown
from notes.http.call import Call
from notes.http.endpoint import Table
from notes.http.problems import not_found
from notes.pages import access
from notes.pages.api import SaveIn, Version, save
from notes.pages.content import VersionNumber
from notes.pages.roles import Role

table = Table("revisions")


class Revision(msgspec.Struct, frozen=True):
    """That a version exists."""

    version: int
    title: str
    author_id: UUID | None
    author_name: str | None
    created_at: datetime
    restored_from: int | None


class RevisionsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Newest first; `before` pages on."""

    before: VersionNumber = 2**31 - 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which two versions."""

    old: VersionNumber
    new: VersionNumber


class Diff(msgspec.Struct, frozen=True):
    """What changed, in the Markdown of the two versions."""

    old_title: str
    new_title: str
    pieces: list[differ.Piece]


class RevertIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Based on which version one goes back."""

    base_version: VersionNumber


@table("GET", "/api/v1/nodes/{id}/revisions")
async def list_revisions(call: Call, id: UUID, query: RevisionsQuery) -> list[Revision]:
    """The versions of a page, newest first."""

    async def work(conn: Conn) -> list[Revision]:
        await access.page(conn, call, id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT r.version, r.title, r.author_id, u.name AS author_name, r.created_at,"
            " r.restored_from FROM revisions r LEFT JOIN users u ON u.id = r.author_id"
            " WHERE r.node_id = %s AND r.version < %s ORDER BY r.version DESC LIMIT %s",
            (id, query.before, query.limit),
        )
        return [Revision(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("GET", "/api/v1/nodes/{id}/revisions/{version}")
async def get_revision(call: Call, id: UUID, version: VersionNumber) -> Version:
    """One version of a page."""

    async def work(conn: Conn) -> Version:
        await access.page(conn, call, id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT version, title, doc FROM revisions WHERE node_id = %s AND version = %s",
            (id, version),
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("version")
        return Version(**row)

    return await call.app.db.run(work)


@table("GET", "/api/v1/nodes/{id}/diff")
async def get_diff(call: Call, id: UUID, query: DiffQuery) -> Diff:
    """What changed between two versions."""
    old, new = [await get_revision(call, id, number) for number in (query.old, query.new)]
    pieces = await asyncio.to_thread(_diff, old, new)
    return Diff(old.title, new.title, pieces)


def _diff(old: Version, new: Version) -> list[differ.Piece]:
    texts = [markdown(msgspec.json.decode(version.doc)) for version in (old, new)]
    return differ.diff(*texts)


@table("POST", "/api/v1/nodes/{id}/revisions/{version}/restore", scope="write")
async def restore_revision(call: Call, id: UUID, version: VersionNumber, body: RevertIn) -> Version:
    """Go back to an earlier version, as a new one."""
    old = await get_revision(call, id, version)
    doc = msgspec.json.decode(old.doc)
    return await save(call, id, SaveIn(body.base_version, old.title, doc), restored_from=version)
