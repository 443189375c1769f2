"""Exports a space, or a page with all below it, as a zip of Markdown and files.

Invariants: importing the zip gives the same pages in the same order with the same files, and links
between them lead to the new ones. Each page and file is read only if the user may see it at that
moment, even if permissions change while the zip is written.
"""

import posixpath
import re
import zlib
from collections.abc import AsyncIterator
from typing import Any, LiteralString
from urllib.parse import quote
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.edits import newest
from notes.files import chunks
from notes.files.names import disposition, file_name
from notes.files.ranges import Span
from notes.files.serve import stream_out
from notes.http.context import Call
from notes.http.routing import Table
from notes.notifications import mentions
from notes.pages import access
from notes.pages.roles import Role
from notes.transfer.export_plan import plan
from notes.transfer.manifest import (
    HISTORY,
    MANIFEST,
    CommentEntry,
    FileEntry,
    Manifest,
    PageEntry,
    VersionEntry,
)
from notes.transfer.zip_write import Entry, zip_stream

table = Table("import and export")

_LOCAL = re.compile(r"^(/p/|/api/v1/attachments/)([0-9a-f-]{36})(.*)$", re.DOTALL)


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options: export comments and earlier versions too."""

    comments: bool = False
    history: bool = False


class ZipResponse(Response):
    """Streams a zip while it is being written."""

    media_type = "application/zip"

    def __init__(self, parts: AsyncIterator[bytes], name: str) -> None:
        super().__init__(
            headers={
                "content-disposition": disposition(f"{file_name(name)}.zip", shown=False),
                "cache-control": "no-store",
            }
        )
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            await stream_out(self._parts, receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@table("GET", "/api/v1/spaces/{id}/export", media_type="application/zip")
async def export_space(call: Call, id: UUID, query: ExportQuery) -> Response:
    """Export all pages of a space that you may see, with their files, as a zip."""
    row = await call.app.db.run(lambda conn: access.space(conn, call, id, Role.VIEWER))
    return ZipResponse(zip_stream(_Export(call, query, row["name"]).entries(id)), row["name"])


@table("GET", "/api/v1/nodes/{id}/export", media_type="application/zip")
async def export_node(call: Call, id: UUID, query: ExportQuery) -> Response:
    """Export a page and all below it, with their files, as a zip."""
    row = await call.app.db.run(lambda conn: access.page(conn, call, id, Role.VIEWER))
    entries = _Export(call, query, row["title"]).entries(row["space_id"], id)
    return ZipResponse(zip_stream(entries), row["title"])


class _Export:
    """Produces the entries of one zip."""

    def __init__(self, call: Call, query: ExportQuery, name: str) -> None:
        self._call = call
        self._query = query
        self._name = name
        self._places: dict[UUID, str] = {}

    async def entries(self, space_id: UUID, root: UUID | None = None) -> AsyncIterator[Entry]:
        db = self._call.app.db
        pages, files = await db.run(lambda conn: plan(conn, self._call, space_id, root))
        self._places = {page["id"]: page["path"] for page in pages}
        self._places |= {file["id"]: file["path"] for file in files}
        written = list[PageEntry]()
        for number, page in enumerate(pages):
            row = await self._newest(page["id"])
            if row is None:
                continue
            yield await self._page_entry(page["path"], page["path"], row)
            entry = PageEntry(page["path"], row["title"], page["is_template"], page["parent"])
            async for made in self._around(page, entry, number, written):
                yield made
        listed = list[FileEntry]()
        for file in files:
            if await self._visible("SELECT 1", file["node_id"]) is None:
                continue
            crc = file["crc32"]
            if crc is None:
                crc = (await chunks.sums(db, file["id"], file["size"])).crc32
            data = chunks.stream(db, file["id"], Span(0, file["size"]))
            listed.append(FileEntry(file["path"], file["page"], file["name"], file["media_type"]))
            yield Entry(file["path"], file["size"], crc, data)
        manifest = Manifest(1, self._name, written, listed)
        yield _json(MANIFEST, manifest)

    async def _newest(self, node_id: UUID) -> DictRow | None:
        """A page with what was written a moment ago; None if the user may not see it now."""
        columns: LiteralString = (
            "SELECT n.title, n.doc, EXISTS (SELECT 1 FROM page_logs l"
            " WHERE l.node_id = n.id AND l.seq > l.saved_seq) AS waits"
        )
        row = await self._visible(columns, node_id)
        if row is None or not row["waits"]:
            return row
        unsaved = await newest.save(self._call.app.db, self._call.app.edits, node_id)
        row = await self._visible(columns, node_id)
        return {**row, **unsaved._asdict()} if row and unsaved else row

    async def _visible(self, select: LiteralString, node_id: UUID) -> DictRow | None:
        """The columns in `select` of a page; None if the user may not see it now."""
        rights = self._call.viewer.access
        return await self._call.app.db.one(
            select + ", page_insider(n.space_id, n.access_root, %s, %s, %s) AS named"
            " FROM nodes n WHERE n.id = %s AND n.trashed_at IS NULL"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0",
            (*rights, node_id, *rights),
        )

    async def _around(
        self, page: DictRow, entry: PageEntry, number: int, written: list[PageEntry]
    ) -> AsyncIterator[Entry]:
        """Yields a page's versions and comments if requested; then adds it to `written`."""
        folder = f"{HISTORY}/{number + 1}"
        if self._query.history:
            versions = list[VersionEntry]()
            for row in await self._versions(page["id"]):
                path = None
                if not row["is_newest"]:
                    old = await self._version(page["id"], row["version"])
                    if old is None:
                        continue
                    path = f"{folder}/{row['version']}.md"
                    yield await self._page_entry(path, page["path"], old)
                versions.append(
                    VersionEntry(
                        row["version"],
                        row["title"],
                        row["created_at"],
                        row["author"],
                        row["restored_from"],
                        path,
                    )
                )
            entry = msgspec.structs.replace(entry, versions=versions)
        if self._query.comments:
            comments = await self._comments(page["id"])
            if comments:
                path = f"{folder}/comments.json"
                yield _json(path, comments)
                entry = msgspec.structs.replace(entry, comments=path)
        written.append(entry)

    async def _versions(self, node_id: UUID) -> list[DictRow]:
        return await self._call.app.db.all(
            "SELECT r.version, r.title, r.created_at,"
            " CASE WHEN page_insider(n.space_id, n.access_root, %s, %s, %s)"
            " THEN coalesce(u.name, r.author_name) END AS author,"
            " r.restored_from, r.version = n.version AS is_newest FROM revisions r"
            " JOIN nodes n ON n.id = r.node_id LEFT JOIN users u ON u.id = r.author_id"
            " WHERE n.id = %s AND n.trashed_at IS NULL"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0 ORDER BY r.version",
            (*self._call.viewer.access, node_id, *self._call.viewer.access),
        )

    async def _version(self, node_id: UUID, version: int) -> DictRow | None:
        rights = self._call.viewer.access
        return await self._call.app.db.one(
            "SELECT r.doc, page_insider(n.space_id, n.access_root, %s, %s, %s) AS named"
            " FROM revisions r JOIN nodes n ON n.id = r.node_id"
            " WHERE n.id = %s AND r.version = %s AND n.trashed_at IS NULL"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0",
            (*rights, node_id, version, *rights),
        )

    async def _comments(self, node_id: UUID) -> list[CommentEntry]:
        """A page's comments; empty if the user reads the page only because it is public."""
        rows = await self._call.app.db.all(
            "SELECT c.id, c.body, c.created_at AS at, coalesce(u.name, c.author_name) AS author,"
            " c.parent_id AS parent, c.quote, c.edited_at, c.resolved_at FROM comments c"
            " JOIN nodes n ON n.id = c.node_id LEFT JOIN users u ON u.id = c.author_id"
            " WHERE n.id = %s AND n.trashed_at IS NULL"
            " AND page_insider(n.space_id, n.access_root, %s, %s, %s)"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0 ORDER BY c.created_at, c.id",
            (node_id, *self._call.viewer.access, *self._call.viewer.access),
        )
        return [CommentEntry(**row) for row in rows]

    async def _page_entry(self, path: str, page_path: str, row: DictRow) -> Entry:
        """The entry of a page or one of its versions, with links relative to the page.

        One who reads the page only because it is public sees the names of mentions alone.
        """
        doc = bytes(row["doc"]) if row["named"] else mentions.hidden(bytes(row["doc"]))
        here = posixpath.dirname(page_path)

        def relative(url: str) -> str:
            match = _LOCAL.match(url)
            place = self._places.get(UUID(match[2])) if match else None
            if match is None or place is None:
                return url
            return quote(posixpath.relpath(place, here or ".")) + match[3]

        documents, account = self._call.app.documents, f"export {self._call.account}"
        found = await documents.list_addresses(account, doc, patient=True)
        addresses = {url: relative(url) for url in found if _LOCAL.match(url)}
        written = await documents.markdown(account, doc, addresses, patient=True)
        text = written.encode()
        return Entry(path, len(text), zlib.crc32(text), text)


def _json(path: str, value: Any) -> Entry:
    content = msgspec.json.format(msgspec.json.encode(value), indent=1)
    return Entry(path, len(content), zlib.crc32(content), content)
