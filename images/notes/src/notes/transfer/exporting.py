"""A space, or a page with all below it, as a zip of Markdown and files.

Invariant: importing the zip gives the same pages in the same order with the same files, and links
between them lead to the new ones.
"""

import posixpath
import re
import zlib
from collections.abc import AsyncIterator
from urllib.parse import quote
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.db.connect import Conn
from notes.doc.html import rewrite
from notes.doc.markdown_out import markdown
from notes.files import chunks
from notes.files.names import disposition, file_name
from notes.files.ranges import Span
from notes.files.serve import stream_out
from notes.http.call import Call
from notes.http.endpoint import Table
from notes.pages import access
from notes.pages.roles import Role
from notes.transfer.zip_write import Entry, zip_stream

table = Table("import and export")

MANIFEST = "notes-export.json"
NAME_BYTES = 100
_LOCAL = re.compile(r"^(/p/|/api/v1/attachments/)([0-9a-f-]{36})(.*)$", re.DOTALL)


class PageEntry(msgspec.Struct, frozen=True):
    """What a Markdown file's name cannot say about its page."""

    path: str
    title: str
    is_template: bool = False


class FileEntry(msgspec.Struct, frozen=True):
    """What a file's name cannot say about an attachment."""

    path: str
    page: str
    name: str
    type: str


class Manifest(msgspec.Struct, frozen=True):
    """The order and the exact names of what a zip holds."""

    format: int
    name: str
    pages: list[PageEntry]
    files: list[FileEntry]


class ZipResponse(Response):
    """Streams a zip while it is being made."""

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
async def export_space(call: Call, id: UUID) -> Response:
    """All pages of a space that one may see, with their files, as a zip."""
    row = await call.app.db.run(lambda conn: access.space(conn, call, id, Role.VIEWER))
    return ZipResponse(zip_stream(_entries(call, id, None, row["name"])), row["name"])


@table("GET", "/api/v1/nodes/{id}/export", media_type="application/zip")
async def export_node(call: Call, id: UUID) -> Response:
    """A page and all below it, with their files, as a zip."""
    row = await call.app.db.run(lambda conn: access.page(conn, call, id, Role.VIEWER))
    return ZipResponse(zip_stream(_entries(call, row["space_id"], id, row["title"])), row["title"])


async def _entries(
    call: Call, space_id: UUID, root: UUID | None, name: str
) -> AsyncIterator[Entry]:
    pages, files = await call.app.db.run(lambda conn: _plan(conn, call, space_id, root))
    places = {page["id"]: page["path"] for page in pages}
    places |= {file["id"]: file["path"] for file in files}
    for page in pages:
        row = await call.app.db.one("SELECT doc FROM nodes WHERE id = %s", (page["id"],))
        if row is not None:
            yield _page_entry(page["path"], row["doc"], places)
    for file in files:
        crc = file["crc32"]
        if crc is None:
            crc = (await chunks.sums(call.app.db, file["id"], file["size"])).crc32
        data = chunks.stream(call.app.db, file["id"], Span(0, file["size"]))
        yield Entry(file["path"], file["size"], crc, data)
    manifest = Manifest(
        1,
        name,
        [PageEntry(page["path"], page["title"], page["is_template"]) for page in pages],
        [FileEntry(f["path"], f["page"], f["name"], f["media_type"]) for f in files],
    )
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    yield Entry(MANIFEST, len(content), zlib.crc32(content), content)


def _page_entry(path: str, doc: msgspec.Raw, places: dict[UUID, str]) -> Entry:
    here = posixpath.dirname(path)

    def relative(url: str) -> str:
        match = _LOCAL.match(url)
        place = places.get(UUID(match[2])) if match else None
        if match is None or place is None:
            return url
        return quote(posixpath.relpath(place, here or ".")) + match[3]

    text = markdown(rewrite(msgspec.json.decode(doc), relative)).encode()
    return Entry(path, len(text), zlib.crc32(text), text)


async def _plan(
    conn: Conn, call: Call, space_id: UUID, root: UUID | None
) -> tuple[list[DictRow], list[DictRow]]:
    """Every page and file with its path, parents before children, siblings in order."""
    person, groups, is_admin = call.viewer.access
    cursor = await conn.execute(
        "SELECT id, parent_id, title, is_template FROM nodes n WHERE space_id = %(space)s"
        " AND trashed_at IS NULL AND (access_root IS NULL OR"
        " page_role(space_id, access_root, %(person)s, %(groups)s, %(admin)s) > 0)"
        " ORDER BY position, id",
        {"space": space_id, "person": person, "groups": groups, "admin": is_admin},
    )
    children = dict[UUID | None, list[DictRow]]()
    known = dict[UUID, DictRow]()
    for row in await cursor.fetchall():
        known[row["id"]] = row
        children.setdefault(row["parent_id"], []).append(row)
    # A page whose parent may not be seen is at the top.
    tops = (
        [known[root]] if root else [row for row in known.values() if row["parent_id"] not in known]
    )
    used = {MANIFEST.lower(): 2}
    pages = list[DictRow]()
    stack = [(row, "") for row in reversed(tops)]
    while stack:
        row, folder = stack.pop()
        stem = _unused(used, folder, row["title"], ".md")
        row["path"] = f"{stem}.md"
        pages.append(row)
        stack += [(child, f"{stem}/") for child in reversed(children.get(row["id"], []))]
    cursor = await conn.execute(
        "SELECT id, node_id, name, media_type, size, crc32 FROM attachments"
        " WHERE node_id = ANY (%s) ORDER BY node_id, name, id",
        ([page["id"] for page in pages],),
    )
    files = await cursor.fetchall()
    by_id = {page["id"]: page for page in pages}
    for file in files:
        file["page"] = by_id[file["node_id"]]["path"]
        folder = file["page"].removesuffix(".md") + ".files/"
        base, dot, ending = file["name"].rpartition(".")
        ending = f"{dot}{ending}" if base and len(ending) < 20 else ""
        stem = _unused(used, folder, base if ending else file["name"], ending)
        file["path"] = f"{stem}{ending}"
    return pages, files


def _unused(used: dict[str, int], folder: str, title: str, ending: str) -> str:
    """A path less its ending that no other entry has, whatever a file system thinks of case.

    `used` has the paths in use, and for each the number to try next.
    """
    name = file_name(title.replace("/", "-").replace("\\", "-"))
    while len(name.encode()) > NAME_BYTES:
        name = name[:-1]
    plain = f"{folder}{name}{ending}".lower()
    number = used.get(plain, 1)
    while True:
        stem = folder + (name if number == 1 else f"{name} ({number})")
        if f"{stem}{ending}".lower() not in used:
            used[f"{stem}{ending}".lower()] = 2
            used[plain] = number + 1
            return stem
        number += 1
