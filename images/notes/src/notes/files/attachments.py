"""Attachments: their fields, and their creation from uploads (spec: notes-app §2).

Invariant: an upload becomes an attachment once, in the transaction that ends the upload.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.files import chunks
from notes.files.multipart import receive_form
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.pages import access
from notes.pages.roles import Role

MULTIPART_LIMIT_BYTES = 64 * 1024 * 1024  # spec: notes-app §8


class Attachment(msgspec.Struct, frozen=True):
    """A file of a page."""

    id: UUID
    node_id: UUID
    name: str
    type: str
    size: int
    sha256: str | None
    created_at: datetime
    created_by: UUID | None


def check_size(call: Call, size: int) -> None:
    """Raises a 413 for a file beyond `MAX_ATTACHMENT_MB`."""
    limit = call.app.settings.max_attachment_bytes
    if size > limit:
        raise Problem(
            413, f"A file may have at most {limit} bytes (MAX_ATTACHMENT_MB).", field="size"
        )


async def find(call: Call, attachment_id: UUID, node_id: UUID | None = None) -> Attachment:
    row = await call.app.db.one(
        "SELECT id, node_id, name, media_type AS type, size, encode(sha256, 'hex') AS sha256,"
        " created_at, created_by FROM attachments"
        " WHERE id = %(id)s AND (%(node)s::uuid IS NULL OR node_id = %(node)s)",
        {"id": attachment_id, "node": node_id},
    )
    if row is None:
        raise not_found("upload")
    return Attachment(**row)


async def complete(
    call: Call, node_id: UUID, upload_id: UUID, size: int, found: chunks.Sums
) -> None:
    """Turns an upload into an attachment; does nothing if that was already done."""

    async def work(conn: Conn) -> None:
        cursor = await conn.execute("SELECT * FROM uploads WHERE id = %s FOR UPDATE", (upload_id,))
        row = await cursor.fetchone()
        if row is None:
            return
        page = await access.page(conn, call, node_id, Role.EDITOR)
        await conn.execute(
            "INSERT INTO attachments (id, node_id, name, media_type, size, created_by, sha256,"
            " crc32) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                upload_id,
                node_id,
                row["name"],
                row["media_type"],
                size,
                row["user_id"],
                found.sha256,
                found.crc32,
            ),
        )
        await conn.execute("DELETE FROM uploads WHERE id = %s", (upload_id,))
        where = {"space_id": page["space_id"], "node_id": node_id}
        await tell(conn, "attachment.made", **where, attachment_id=upload_id)
        await audit.note(conn, call.viewer, "attachment.made", row["name"], **where)

    await call.app.db.transact(work)


async def whole(call: Call, node_id: UUID) -> Attachment:
    """Creates an attachment from the file of a form."""
    await call.app.db.run(lambda conn: access.page(conn, call, node_id, Role.EDITOR))
    limit = min(MULTIPART_LIMIT_BYTES, call.app.settings.max_attachment_bytes)
    received = await receive_form(call, limit, node_id=node_id)
    await complete(call, node_id, received.upload_id, received.size, received.sums)
    return await find(call, received.upload_id, node_id)
