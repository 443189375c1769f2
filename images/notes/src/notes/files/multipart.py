"""Stores the file of a multipart form while it arrives.

Invariant: at most one chunk of the file is in memory.
"""

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from notes.db.connect import Conn
from notes.files import chunks
from notes.files.chunks import CHUNK_BYTES, Sums
from notes.files.names import file_name, media_type
from notes.http.context import Call
from notes.http.problems import Problem
from notes.quotas.limits import ROW_BYTES, check_announced

FIELD_LIMIT_BYTES = 64 * 1024
HEADERS_LIMIT_BYTES = 8 * 1024
MAX_PARTS = 100
SLICE_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """A file that has arrived completely, still stored as an upload."""

    upload_id: UUID
    size: int
    sums: Sums


class Sink:
    """Collects bytes, stores them in chunks and computes the checksums."""

    def __init__(
        self,
        call: Call,
        limit: int,
        node_id: UUID | None,
        space_id: UUID | None,
        key: UUID | None = None,
    ) -> None:
        self._call = call
        self._limit = limit
        self._where = (node_id, space_id, key)
        self._buffer = bytearray()
        self._sha = hashlib.sha256()
        self._crc = 0
        self._number = 0
        self.size = 0
        self.upload_id: UUID | None = None

    async def open(self, name: str, kind: str) -> None:
        row = await self._call.app.db.transact(lambda conn: self._insert(conn, name, kind))
        self.upload_id = row

    async def _insert(self, conn: Conn, name: str, kind: str) -> UUID:
        cursor = await conn.execute(
            "INSERT INTO uploads (node_id, space_id, key, user_id, name, media_type, reserved)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING id",
            (*self._where, self._call.viewer.user_id, file_name(name), media_type(kind), ROW_BYTES),
        )
        row = await cursor.fetchone()
        return row["id"]  # type: ignore[index, no-any-return]

    async def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self._limit:
            await self.abort()
            raise Problem(413, f"The file is larger than {self._limit} bytes.", field="file")
        self._buffer += data
        while len(self._buffer) >= CHUNK_BYTES:
            await self._flush(CHUNK_BYTES)

    async def close(self) -> Received:
        if self._buffer:
            await self._flush(len(self._buffer))
        assert self.upload_id is not None  # noqa: S101 - opened before anything is written
        return Received(self.upload_id, self.size, Sums(self._sha.digest(), self._crc))

    async def abort(self) -> None:
        if self.upload_id is not None:
            await self._call.app.db.do("DELETE FROM uploads WHERE id = %s", (self.upload_id,))

    async def _flush(self, size: int) -> None:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        await asyncio.to_thread(self._sha.update, data)
        self._crc = await asyncio.to_thread(zlib.crc32, data, self._crc)
        file_id, number = self.upload_id, self._number
        assert file_id is not None  # noqa: S101 - opened before anything is written
        await self._call.app.db.transact(lambda conn: chunks.store(conn, file_id, number, data))
        self._number += 1


async def receive_form(
    call: Call,
    limit: int,
    *,
    node_id: UUID | None = None,
    space_id: UUID | None = None,
    key: UUID | None = None,
) -> Received:
    """Stores the file of a form. Raises a 400 or 422 if the form is invalid or has none."""
    await check_announced(call, node_id=node_id, space_id=space_id)
    sink = Sink(call, limit, node_id, space_id, key)
    form = _Form(call.request)
    async with _whole_or_nothing(sink):
        async for event, value in form.events():
            if event == "file":
                if sink.upload_id is not None:
                    raise Problem(422, "Send one file at a time.", field="file")
                await sink.open(*value)
            elif event == "data":
                await sink.write(value)
        if sink.upload_id is None:
            raise Problem(422, "There is no file in the form.", field="file")
        return await sink.close()


async def receive_raw(call: Call, limit: int, name: str, *, space_id: UUID) -> Received:
    """Stores the request's body as a file."""
    await check_announced(call, space_id=space_id)
    sink = Sink(call, limit, None, space_id)
    await sink.open(name, "application/zip")
    async with _whole_or_nothing(sink):
        async for part in call.request.stream():
            await sink.write(part)
        return await sink.close()


@asynccontextmanager
async def _whole_or_nothing(sink: Sink) -> AsyncIterator[None]:
    """Abort the upload unless the block ends without an exception."""
    try:
        yield
    except BaseException:
        await sink.abort()
        raise


class _Form:
    """Turns the parser's callbacks into a stream of events."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._events: list[tuple[str, Any]] = []
        self._headers: dict[str, str] = {}
        self._name = b""
        self._value = b""
        self._field: str | None = None
        self._content = bytearray()
        self._parts = self._header_bytes = 0
        self._complete = False

    async def events(self) -> Any:
        """Yields ("file", (name, type)), ("data", bytes) and ("field", (name, value))."""
        _, options = parse_options_header(self._request.headers.get("content-type", ""))
        boundary = options.get(b"boundary")
        if not boundary:
            raise Problem(400, "The form's content type has no boundary.", field="content-type")
        try:
            parser = MultipartParser(boundary, self._callbacks())
            async for part in self._request.stream():
                # The parser reads headers and boundaries byte by byte, so give it small slices.
                for at in range(0, len(part), SLICE_BYTES):
                    parser.write(part[at : at + SLICE_BYTES])
                    pending, self._events = self._events, []
                    for event in pending:
                        yield event
                    await asyncio.sleep(0)
            parser.finalize()
        except FormParserError:
            raise Problem(400, "The form is damaged.", field="body") from None
        if not self._complete:
            raise Problem(400, "The form ends too early.", field="body")
        for event in self._events:
            yield event

    def _callbacks(self) -> Any:
        calls: dict[str, Callable[..., None]] = {
            "on_part_begin": self._begin,
            "on_header_field": self._on_name,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers,
            "on_part_data": self._on_data,
            "on_part_end": self._on_end,
            "on_end": self._finish,
        }
        return calls

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise Problem(413, f"A form has at most {MAX_PARTS} parts.", field="body")
        self._headers, self._field, self._content = {}, None, bytearray()
        self._header_bytes = 0

    def _on_name(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._value += data[start:end]

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > HEADERS_LIMIT_BYTES:
            raise Problem(431, "The headers of a part of the form are too long.", field="body")

    def _on_header_end(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value.decode("latin-1")
        self._name = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", ""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            given = options[b"filename"].decode("utf-8", "replace")
            self._events.append(("file", (given, self._headers.get("content-type", ""))))
        else:
            self._field = name

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self._events.append(("data", data[start:end]))
            return
        self._content += data[start:end]
        if len(self._content) > FIELD_LIMIT_BYTES:
            raise Problem(413, "A field of the form is too long.", field=self._field)

    def _on_end(self) -> None:
        if self._field is not None:
            value = self._content.decode("utf-8", "replace")
            self._events.append(("field", (self._field, value)))

    def _finish(self) -> None:
        self._complete = True
