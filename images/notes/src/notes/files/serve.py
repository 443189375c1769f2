"""Downloads of whole files and of ranges, and HEAD requests.

Invariant: a file that could run scripts in a browser is offered for saving only; an SVG image is
shown, in a sandbox without scripts.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.auth import audit
from notes.db.connect import Conn, take_time
from notes.db.pool import Database
from notes.events.record import tell
from notes.files import chunks
from notes.files.attachments import Attachment
from notes.files.names import DEFAULT_TYPE, charset, disposition, is_shown, policy
from notes.files.ranges import Span, UnsatisfiableError, unchanged, wanted
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.pages import access, repeats
from notes.pages.roles import Role

table = Table("attachments")

HEAD_BYTES = 64 * 1024
PIECE_BYTES = 512 * 1024
_FILE: LiteralString = (
    "SELECT a.id, a.node_id, a.name, a.media_type, a.size, a.sha256, n.space_id, n.trashed_at,"
    " page_role(n.space_id, n.access_root, %s, %s, %s) AS role"
    " FROM attachments a JOIN nodes n ON n.id = a.node_id WHERE a.id = %s"
)


class DownloadQuery(msgspec.Struct, frozen=True):
    """With `download` the browser saves the file even if it could show it."""

    download: bool = False


@table(
    "GET",
    "/api/v1/attachments/{id}",
    scope=None,
    statuses=(206, 304),
    media_type="*/*",
)
async def get_attachment(call: Call, id: UUID, query: DownloadQuery) -> Response:
    """Download a file; supports Range, If-Range and If-None-Match."""
    row = await call.app.db.one(_FILE, (*call.viewer.access, id))
    if call.viewer.user_id is None and (row is None or row["role"] == Role.NONE):
        raise Problem(401, "Sign in to see this file.")
    access.admit(call, row, Role.VIEWER, trashed=False)
    assert row is not None  # noqa: S101 - admit raises for None
    return await respond(call, row, download=query.download)


async def respond(call: Call, row: DictRow, *, download: bool = False) -> Response:
    """The answer with a file's bytes or the requested range. Raises a 416."""
    size: int = row["size"]
    etag = f'"{bytes(row["sha256"]).hex() if row["sha256"] else row["id"]}"'
    headers = {
        "etag": etag,
        "accept-ranges": "bytes",
        "cache-control": "private, no-cache",
        "content-security-policy": policy(row["media_type"]),
    }
    request = call.request
    if unchanged(request.headers, etag):
        return Response(status_code=304, headers=headers)
    try:
        span = wanted(request.headers, size, etag) if request.method in {"GET", "HEAD"} else None
    except UnsatisfiableError:
        raise Problem(
            416,
            f"The file has {size} bytes.",
            field="range",
            headers={"content-range": f"bytes */{size}"},
        ) from None
    shown = is_shown(row["media_type"]) and not download
    sent = span or Span(0, size)
    headers |= {
        "content-disposition": disposition(row["name"], shown=shown),
        "content-type": await _content_type(call, row),
        "content-length": str(sent.length),
    }
    if span is not None:
        headers["content-range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    return FileResponse(call.app.db, row["id"], sent, 206 if span else 200, headers)


async def _content_type(call: Call, row: DictRow) -> str:
    kind: str = row["media_type"]
    if kind != "text/plain":
        return kind if is_shown(kind) else DEFAULT_TYPE
    size = min(row["size"], HEAD_BYTES)
    head = await chunks.read(call.app.db, row["id"], 0, Span(0, size)) if size else b""
    return f"{kind}; charset={charset(head, is_whole=size == row['size'])}"


class FileResponse(Response):
    """Streams a span of a file; stops when the client disconnects."""

    def __init__(
        self, db: Database, file_id: UUID, span: Span, status: int, headers: dict[str, str]
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        self._db = db
        self._file_id = file_id
        self._span = span

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        if scope["method"] != "HEAD":
            await stream_out(chunks.stream(self._db, self._file_id, self._span), receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def stream_out(parts: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
    """Sends parts in pieces until they end or the client disconnects."""
    gone = asyncio.ensure_future(_disconnect(receive))
    try:
        async for data in parts:
            await _send_pieces(data, send)
            data = b""  # noqa: PLW2901 - the next part is waited for without this one in memory
            if gone.done():
                break
    finally:
        gone.cancel()
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()


async def _send_pieces(data: bytes, send: Send) -> None:
    view = memoryview(data)
    for at in range(0, len(view), PIECE_BYTES):
        piece = view[at : at + PIECE_BYTES]
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _disconnect(receive: Receive) -> None:
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


@table("GET", "/api/v1/nodes/{id}/attachments")
async def list_attachments(call: Call, id: UUID) -> list[Attachment]:
    """List the files of a page."""

    async def work(conn: Conn) -> list[Attachment]:
        row = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, row)
        cursor = await conn.execute(
            "SELECT a.id, a.node_id, a.name, a.media_type AS type, a.size,"
            " encode(a.sha256, 'hex') AS sha256, a.created_at,"
            " CASE WHEN %(named)s THEN a.created_by END AS created_by,"
            " CASE WHEN %(named)s THEN u.name END AS created_by_name"
            " FROM attachments a LEFT JOIN users u ON u.id = a.created_by"
            " WHERE a.node_id = %(node)s ORDER BY a.name, a.id",
            {"named": named, "node": id},
        )
        return [Attachment(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("DELETE", "/api/v1/attachments/{id}", scope="write", status=204)
async def delete_attachment(call: Call, id: UUID) -> None:
    """Delete a file permanently."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute("SELECT node_id, name FROM attachments WHERE id = %s", (id,))
        row = await cursor.fetchone()
        if row is None:
            raise not_found("file")
        page = await access.page(conn, call, row["node_id"], Role.EDITOR)
        await take_time(conn)
        await conn.execute("DELETE FROM attachments WHERE id = %s", (id,))
        await repeats.note_removal(conn, call, [id], row["node_id"])
        where = {"space_id": page["space_id"], "node_id": row["node_id"]}
        await tell(conn, "attachment.removed", **where, attachment_id=id)
        await audit.note(conn, call.viewer, "attachment.removed", row["name"], **where)

    await call.app.db.transact(work)
