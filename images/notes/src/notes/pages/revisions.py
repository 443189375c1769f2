"""API of page versions. Invariant: a restore makes a new version; no version is lost.

Versions that edits made shortly after each other replace each other, unless a person keeps one.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.doc import diff as differ
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.notifications import mentions
from notes.pages import access
from notes.pages.content import BaseMoment, VersionNumber
from notes.pages.roles import Role
from notes.pages.saves import SaveIn, Version, save

table = Table("revisions")

ATTEMPTS = 5


class Revision(msgspec.Struct, frozen=True):
    """A version's metadata."""

    version: int
    title: str
    author_id: UUID | None
    author_name: str | None
    created_at: datetime
    restored_from: int | None


class KeptVersion(msgspec.Struct, frozen=True):
    """The number of a version that stays."""

    version: int


class RevisionsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the list; `before` is the last version of the previous page."""

    before: VersionNumber = 2**31 - 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The two versions to compare."""

    old: VersionNumber
    new: VersionNumber


class Diff(msgspec.Struct, frozen=True):
    """The differences between the Markdown of two versions."""

    old_title: str
    new_title: str
    pieces: list[differ.Piece]


class RevertIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The version that the page must have at the restore."""

    base_version: VersionNumber
    base_updated_at: BaseMoment | None = None

    def of(self, title: str, doc: msgspec.Raw) -> SaveIn:
        """The save of a version that is restored."""
        return SaveIn(self.base_version, title, doc, base_updated_at=self.base_updated_at)


@table("GET", "/api/v1/nodes/{id}/revisions")
async def list_revisions(call: Call, id: UUID, query: RevisionsQuery) -> list[Revision]:
    """List the versions of a page, newest first."""

    async def work(conn: Conn) -> list[Revision]:
        row = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, row)
        cursor = await conn.execute(
            "SELECT r.version, r.title, u.id AS author_id, "
            " CASE WHEN %s THEN coalesce(u.name, r.author_name) END AS author_name, r.created_at,"
            " r.restored_from FROM revisions r LEFT JOIN users u ON u.id = r.author_id AND %s"
            " WHERE r.node_id = %s AND r.version < %s ORDER BY r.version DESC LIMIT %s",
            (named, named, id, query.before, query.limit),
        )
        return [Revision(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("POST", "/api/v1/nodes/{id}/revisions", scope="write")
async def post_revision(call: Call, id: UUID) -> KeptVersion:
    """Save the edits that wait as a version that later edits do not replace."""

    async def waiting(conn: Conn) -> int:
        await access.page(conn, call, id, Role.EDITOR)
        return (await _log_end(conn, id))[0]

    seq = await call.app.db.run(waiting)

    async def work(conn: Conn) -> KeptVersion | None:
        page = await access.page(conn, call, id, Role.EDITOR, lock=True)
        last, saved = await _log_end(conn, id)
        # A failover may have lost edits of which this request has heard; later ones may wait.
        if saved < min(seq, last):
            return None
        # Only one with a beginning is replaced by the next one.
        cursor = await conn.execute(
            "UPDATE revisions SET begun_at = NULL WHERE node_id = %s AND version = %s"
            " AND begun_at IS NOT NULL",
            (id, page["version"]),
        )
        if cursor.rowcount:
            where = {"space_id": page["space_id"], "node_id": id, "version": page["version"]}
            await audit.note(conn, call.viewer, "page.kept", page["title"], **where)
        return KeptVersion(page["version"])

    for _ in range(ATTEMPTS):
        # Another replica, or this one by itself, may save them meanwhile.
        await call.app.edits.save(id)
        kept = await call.app.db.transact(work)
        if kept is not None:
            return kept
    raise Problem(503, "The page is being replaced by others; try again.")


async def _log_end(conn: Conn, node_id: UUID) -> tuple[int, int]:
    """The numbers of the last edit and of the last one that is saved."""
    cursor = await conn.execute(
        "SELECT seq, saved_seq FROM page_logs WHERE node_id = %s", (node_id,)
    )
    row = await cursor.fetchone()
    return (row["seq"], row["saved_seq"]) if row else (0, 0)


@table("GET", "/api/v1/nodes/{id}/revisions/{version}")
async def get_revision(call: Call, id: UUID, version: VersionNumber) -> Version:
    """Get one version of a page."""

    async def work(conn: Conn) -> Version:
        page = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, page)
        cursor = await conn.execute(
            "SELECT version, title, doc, created_at AS updated_at FROM revisions"
            " WHERE node_id = %s AND version = %s",
            (id, version),
        )
        row = await cursor.fetchone()
        if row is None:
            raise not_found("version")
        if not named:
            row["doc"] = msgspec.Raw(mentions.hidden(bytes(row["doc"])))
        return Version(**row)

    return await call.app.db.run(work)


@table("GET", "/api/v1/nodes/{id}/diff")
async def get_diff(call: Call, id: UUID, query: DiffQuery) -> Diff:
    """Compare two versions."""
    old, new = [await get_revision(call, id, number) for number in (query.old, query.new)]
    pieces = await call.app.documents.compare(call.account, bytes(old.doc), bytes(new.doc))
    return Diff(old.title, new.title, pieces)


@table("POST", "/api/v1/nodes/{id}/revisions/{version}/restore", scope="write")
async def restore_revision(call: Call, id: UUID, version: VersionNumber, body: RevertIn) -> Version:
    """Restore an earlier version as a new version."""
    old = await get_revision(call, id, version)
    given = body.of(old.title, old.doc)
    return await save(call, id, given, restored_from=version)
