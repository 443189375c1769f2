"""Requests that a browser may repeat: by a key that it chose, each is done once.

A failover of the database may lose requests that were answered. The browser asks which of its keys
are known here, and repeats the others. Invariant: nobody can choose the id of another user's
object, and what was removed is not made again.
"""

import hashlib
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID, uuid4

import msgspec

from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table

table = Table("repeats")

#: Longer than a browser remembers its requests (24 hours).
REQUEST_DAYS = 3
_OWN_BYTES = 8
_GONE = "That was deleted since."


class KeysIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of requests of the user."""

    keys: Annotated[list[UUID], msgspec.Meta(max_length=500)]


class Known(msgspec.Struct, frozen=True):
    """Those of the keys whose requests are done."""

    keys: list[UUID]


def own_id(user_id: UUID, key: UUID) -> UUID:
    """The id of what a user makes under a key: its second half proves whose it is."""
    return _whole(user_id, key.bytes[:_OWN_BYTES])


def is_own(user_id: UUID, object_id: UUID) -> bool:
    """True if the user chose this id by a key."""
    return object_id == _whole(user_id, object_id.bytes[:_OWN_BYTES])


def _whole(user_id: UUID, begin: bytes) -> UUID:
    # The bits of the version are set before the sum, so that the id has all that was summed.
    begin = begin[:6] + bytes([0x80 | begin[6] & 0x0F]) + begin[7:]
    end = hashlib.sha256(b"own id" + user_id.bytes + begin).digest()[:_OWN_BYTES]
    return UUID(bytes=begin + bytes([0x80 | end[0] & 0x3F]) + end[1:])


async def is_repeat(
    conn: Conn, call: Call, key: UUID | None, object_id: UUID, node_id: UUID
) -> bool:
    """True if a request with this key is done; else notes this one, in its own transaction."""
    if key is None:
        return False
    cursor = await conn.execute(
        "INSERT INTO client_requests (user_id, key, object_id, node_id)"
        " VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (call.viewer.user_id, key, object_id, node_id),
    )
    return cursor.rowcount == 0


async def is_done(conn: Conn, call: Call, key: UUID) -> bool:
    """True if the user's request with this key is done."""
    cursor = await conn.execute(
        "SELECT 1 FROM client_requests WHERE user_id = %s AND key = %s",
        (call.viewer.user_id, key),
    )
    return await cursor.fetchone() is not None


async def made_by(conn: Conn, call: Call, key: UUID) -> UUID | None:
    """The object of the user's request with this key, or None."""
    cursor = await conn.execute(
        "SELECT object_id FROM client_requests WHERE user_id = %s AND key = %s",
        (call.viewer.user_id, key),
    )
    row = await cursor.fetchone()
    return row["object_id"] if row is not None else None


async def note_removal(
    conn: Conn, call: Call, removed: Sequence[UUID], node_id: UUID, key: UUID | None = None
) -> None:
    """Notes that objects were removed from a page; the first one by the request with the key."""
    keys = [key or uuid4(), *(uuid4() for _ in removed[1:])]
    await conn.execute(
        "INSERT INTO client_requests (user_id, key, object_id, node_id, is_removal)"
        " SELECT %s, k, o, %s, true FROM unnest(%s::uuid[], %s::uuid[]) AS r (k, o)"
        " ON CONFLICT DO NOTHING",
        (call.viewer.user_id, node_id, keys, list(removed)),
    )


async def was_removed(conn: Conn, object_id: UUID, node_id: UUID) -> bool:
    """True if somebody has removed an object from this page lately."""
    # Of this page: who manages another one cannot say so.
    cursor = await conn.execute(
        "SELECT 1 FROM client_requests"
        " WHERE object_id = %s AND node_id = %s AND is_removal LIMIT 1",
        (object_id, node_id),
    )
    return await cursor.fetchone() is not None


def gone() -> Problem:
    """The answer to a repeat of what somebody has removed since."""
    return Problem(410, _GONE)


@table("POST", "/api/v1/repeats/known")
async def list_known(call: Call, body: KeysIn) -> Known:
    """List which of your keyed requests of the last three days are done; repeat the others.

    A failover of the database may lose requests that were answered. A key that is not listed was
    lost, or never arrived.
    """
    rows = await call.app.db.all(
        "SELECT key FROM client_requests WHERE user_id = %s AND key = ANY (%s)",
        (call.viewer.user_id, list(body.keys)),
    )
    return Known([row["key"] for row in rows])
