"""Computes the checksums of a finished upload, once.

Invariant: one replica reads one upload of an account at a time, and an upload whose checksums are
stored is not read again, however often its end is requested.
"""

import asyncio
from uuid import UUID
from weakref import WeakValueDictionary

from notes.files import chunks
from notes.http.context import Call

#: A lock exists as long as a request of its account holds it or waits for it.
_TURNS = WeakValueDictionary[UUID, asyncio.Lock]()


async def sums_of(call: Call, upload_id: UUID, size: int) -> chunks.Sums | None:
    """The checksums of an upload that has all its chunks; None if it has ended meanwhile."""
    turn = _TURNS.setdefault(call.viewer.person, asyncio.Lock())
    async with turn:
        row = await call.app.db.one(
            "SELECT summed_sha256, summed_crc32 FROM uploads WHERE id = %s", (upload_id,)
        )
        if row is None:
            return None
        if row["summed_sha256"] is not None:
            return chunks.Sums(bytes(row["summed_sha256"]), row["summed_crc32"])
        try:
            found = await chunks.sums(call.app.db, upload_id, size)
        except FileNotFoundError:
            return None  # another replica has made an attachment of its chunks
        await call.app.db.do(
            "UPDATE uploads SET summed_sha256 = %s, summed_crc32 = %s WHERE id = %s",
            (found.sha256, found.crc32, upload_id),
        )
        return found
