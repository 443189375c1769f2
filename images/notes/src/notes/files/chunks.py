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
from notes.http.problems import Problem

CHUNK_BYTES = 4 * 1024 * 1024  # spec: notes-app §8
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
    """Yields the bytes of `span`; fetches the next chunk while one is being used."""
    ahead: asyncio.Task[bytes] | None = None
    numbers = range(span.start // CHUNK_BYTES, -(-span.end // CHUNK_BYTES))
    try:
        for number in numbers:
            current = ahead or asyncio.create_task(_fetch(db, file_id, number, span))
            ahead = None
            data = await current
            if number + 1 in numbers:
                ahead = asyncio.create_task(_fetch(db, file_id, number + 1, span))
            yield data
    finally:
        if ahead is not None:
            ahead.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await ahead


async def _fetch(db: Database, file_id: UUID, number: int, span: Span) -> bytes:
    base = number * CHUNK_BYTES
    part = Span(max(0, span.start - base), min(CHUNK_BYTES, span.end - base))
    return await read(db, file_id, number, part)


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
