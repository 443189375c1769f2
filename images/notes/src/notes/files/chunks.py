"""Writes, reads and checksums files in chunks.

Invariant: a stored chunk never changes; the same chunk may arrive any number of times, and a
different one with the same number is refused.
"""

import asyncio
import contextlib
import hashlib
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.pool import Database
from notes.files.ranges import Span
from notes.http.buffers import DOWNLOADS
from notes.http.problems import Problem

CHUNK_BYTES = 4 * 1024 * 1024  # spec: notes-app §8
SMALL_BYTES = 128 * 1024  # of each reader, where all together hold too much
OUTAGE_S = 60.0  # a download waits so long for a database that fails over


@dataclass(frozen=True, slots=True)
class Sums:
    """The checksums of a file."""

    sha256: bytes
    crc32: int


def count(size: int) -> int:
    """The number of chunks of a file of `size` bytes."""
    return -(-size // CHUNK_BYTES)


def length(size: int, number: int) -> int:
    """The length of chunk `number` of a file of `size` bytes."""
    return min(CHUNK_BYTES, size - number * CHUNK_BYTES)


async def store(conn: Conn, file_id: UUID, number: int, data: bytes | bytearray) -> None:
    """Stores a chunk. Raises a 409 if a different one is stored with its number."""
    cursor = await conn.execute(
        "INSERT INTO chunks (file_id, number, size, data) VALUES (%s, %s, %s, %b)"
        " ON CONFLICT DO NOTHING",
        (file_id, number, len(data), data),
    )
    if cursor.rowcount == 1:
        # A file of unknown size is counted for the quota as it arrives.
        await conn.execute(
            "UPDATE uploads SET reserved = reserved + %s WHERE id = %s AND size IS NULL",
            (len(data), file_id),
        )
        return
    cursor = await conn.execute(
        "SELECT sha256(data) AS sum FROM chunks WHERE file_id = %s AND number = %s",
        (file_id, number),
    )
    row = await cursor.fetchone()
    sent = await asyncio.to_thread(lambda: hashlib.sha256(data).digest())
    if row is None or bytes(row["sum"]) != sent:
        raise Problem(409, f"Chunk {number} is stored with other content.", field="upload-chunk")


async def read(db: Database, file_id: UUID, number: int, part: Span) -> bytes:
    """Reads bytes of one chunk in one short query: no connection waits for a slow client."""

    async def work(conn: Conn) -> DictRow | None:
        async with conn.cursor(binary=True) as cursor:
            if part.start == 0 and part.end >= CHUNK_BYTES:
                await cursor.execute(
                    "SELECT data FROM chunks WHERE file_id = %s AND number = %s", (file_id, number)
                )
            else:
                await cursor.execute(
                    "SELECT substring(data FROM %s FOR %s) AS data FROM chunks"
                    " WHERE file_id = %s AND number = %s",
                    (part.start + 1, part.length, file_id, number),
                )
            return await cursor.fetchone()

    deadline = time.monotonic() + OUTAGE_S
    while True:
        try:
            row = await db.run(work)
            break
        except UnavailableError:
            # A replica that stops closes its pool: it refuses at once, so retrying is useless.
            if db.closed or time.monotonic() > deadline:
                raise
    if row is None:
        raise FileNotFoundError(f"chunk {number} of {file_id}")
    return row["data"]  # type: ignore[no-any-return]


async def stream(db: Database, file_id: UUID, span: Span) -> AsyncIterator[bytes]:
    """Yields the bytes of `span`; fetches the next chunk while one is being used.

    Where all readers together hold too much it goes on in small parts, one at a time.
    """
    part: _Part | None = None
    ahead: _Part | None = None
    at = span.start
    try:
        while at < span.end:
            part, ahead = ahead or _begin(db, file_id, span, at), None
            at = part.end
            data = await part.reading
            if at < span.end and DOWNLOADS.has(_rest(span, at)):
                ahead = _begin(db, file_id, span, at)
            yield data
            del data
            part.drop()
            part = None
    finally:
        for one in (part, ahead):
            if one is not None:
                await one.end_reading()


@dataclass(slots=True)
class _Part:
    """A part of a file that is being read. `held` are its bytes in the budget of all readers."""

    end: int
    held: int
    reading: asyncio.Task[bytes]

    def drop(self) -> None:
        """Gives the bytes back."""
        DOWNLOADS.give(self.held)
        self.held = 0

    async def end_reading(self) -> None:
        """Gives the bytes back though they may not have been read yet."""
        self.drop()
        self.reading.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await self.reading


def _rest(span: Span, at: int) -> int:
    """The number of bytes from `at` to the end of its chunk, or of `span`."""
    return min(CHUNK_BYTES - at % CHUNK_BYTES, span.end - at)


def _begin(db: Database, file_id: UUID, span: Span, at: int) -> _Part:
    """Begins to read what is left of a chunk, or a small part of it."""
    rest = _rest(span, at)
    held = rest if DOWNLOADS.take(rest) else 0
    length = rest if held else min(rest, SMALL_BYTES)
    number, start = divmod(at, CHUNK_BYTES)
    work = read(db, file_id, number, Span(start, start + length))
    return _Part(at + length, held, asyncio.create_task(work))


async def sums(db: Database, file_id: UUID, size: int) -> Sums:
    """Computes the checksums of a stored file."""
    whole = hashlib.sha256()
    crc = 0

    def add(data: bytes) -> int:
        whole.update(data)
        return zlib.crc32(data, crc)

    async for data in stream(db, file_id, Span(0, size)):
        crc = await asyncio.to_thread(add, data)
    return Sums(whole.digest(), crc)
