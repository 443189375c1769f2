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
from notes.pages import access, repeats
from notes.pages.roles import Role

MULTIPART_LIMIT_BYTES = 64 * 1024 * 1024  # spec: notes-app §8


class Attachment(msgspec.Struct, frozen=True):
    """A file of a page.

    `created_by` and its name are null for a viewer who reads only because the space is public.
    """

    id: UUID
    node_id: UUID
    name: str
    type: str
    size: int
    sha256: str | None
    created_at: datetime
    created_by: UUID | None
    created_by_name: str | None = None


def check_size(call: Call, size: int) -> None:
    """Raises a 413 for a file beyond `MAX_ATTACHMENT_MB`."""
    limit = call.app.settings.max_attachment_bytes
    if size > limit:
        raise Problem(
            413, f"A file may have at most {limit} bytes (MAX_ATTACHMENT_MB).", field="size"
        )


async def find(call: Call, attachment_id: UUID, node_id: UUID | None = None) -> Attachment:
    row = await call.app.db.one(
        "SELECT a.id, a.node_id, a.name, a.media_type AS type, a.size,"
        " encode(a.sha256, 'hex') AS sha256, a.created_at, a.created_by, u.name AS created_by_name"
        " FROM attachments a LEFT JOIN users u ON u.id = a.created_by"
        " WHERE a.id = %(id)s AND (%(node)s::uuid IS NULL OR a.node_id = %(node)s)",
        {"id": attachment_id, "node": node_id},
    )
    if row is None:
        raise not_found("upload")
    return Attachment(**row)


async def complete(
    call: Call, node_id: UUID, upload_id: UUID, size: int, found: chunks.Sums
) -> UUID:
    """Turns an upload into an attachment, once; returns the attachment's id.

    The key of an upload decides that id. Raises a 410 if that attachment was deleted since.
    """

    async def work(conn: Conn) -> UUID:
        cursor = await conn.execute("SELECT * FROM uploads WHERE id = %s FOR UPDATE", (upload_id,))
        row = await cursor.fetchone()
        if row is None:
            return await _ended(conn, call, upload_id)
        page = await access.page(conn, call, node_id, Role.EDITOR)
        attachment_id = repeats.own_id(row["user_id"], row["key"]) if row["key"] else upload_id
        is_repeat = await repeats.is_repeat(conn, call, row["key"], attachment_id, node_id)
        if row["key"]:
            # Its last chunk may come again, and names the upload, not the key.
            await repeats.is_repeat(conn, call, upload_id, attachment_id, node_id)
        if row["key"] and not is_repeat:
            await conn.execute(
                "UPDATE chunks SET file_id = %s WHERE file_id = %s", (attachment_id, upload_id)
            )
            # Before the file counts: it counts once.
            await conn.execute("DELETE FROM uploads WHERE id = %s", (upload_id,))
        if not is_repeat:
            await conn.execute(
                "INSERT INTO attachments (id, node_id, name, media_type, size, created_by, sha256,"
                " crc32) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    attachment_id,
                    node_id,
                    row["name"],
                    row["media_type"],
                    size,
                    row["user_id"],
                    found.sha256,
                    found.crc32,
                ),
            )
            where = {"space_id": page["space_id"], "node_id": node_id}
            await tell(conn, "attachment.made", **where, attachment_id=attachment_id)
            await audit.note(conn, call.viewer, "attachment.made", row["name"], **where)
        await conn.execute("DELETE FROM uploads WHERE id = %s", (upload_id,))
        return attachment_id

    return await call.app.db.transact(work)


async def _ended(conn: Conn, call: Call, upload_id: UUID) -> UUID:
    """The attachment that an upload became: its key has decided the id, or it has the upload's."""
    return await repeats.made_by(conn, call, upload_id) or upload_id


async def find_ended(call: Call, upload_id: UUID, node_id: UUID) -> Attachment:
    """The attachment of a page that an upload of the user became. Raises a 404."""
    made = await call.app.db.run(lambda conn: _ended(conn, call, upload_id))
    return await find(call, made, node_id)


async def made_under(conn: Conn, call: Call, key: UUID, node_id: UUID) -> UUID | None:
    """The attachment that a user has made of a page under a key. Raises a 410 if it was deleted."""
    assert call.viewer.user_id is not None  # noqa: S101 - nobody else may upload
    attachment_id = repeats.own_id(call.viewer.user_id, key)
    cursor = await conn.execute("SELECT node_id FROM attachments WHERE id = %s", (attachment_id,))
    row = await cursor.fetchone()
    if row is not None and row["node_id"] == node_id:
        return attachment_id
    if row is not None or await repeats.is_done(conn, call, key):
        raise repeats.gone()
    if await repeats.was_removed(conn, attachment_id, node_id):
        raise repeats.gone()
    return None


def _form_key(call: Call) -> UUID | None:
    text = call.request.headers.get("upload-key")
    try:
        return UUID(text) if text is not None else None
    except ValueError:
        raise Problem(422, "Upload-Key is not a UUID.", field="upload-key") from None


async def whole(call: Call, node_id: UUID) -> Attachment:
    """Creates an attachment from the file of a form."""
    key = _form_key(call)

    async def before(conn: Conn) -> UUID | None:
        await access.page(conn, call, node_id, Role.EDITOR)
        return await made_under(conn, call, key, node_id) if key else None

    made = await call.app.db.run(before)
    if made is not None:
        return await find(call, made, node_id)
    limit = min(MULTIPART_LIMIT_BYTES, call.app.settings.max_attachment_bytes)
    received = await receive_form(call, limit, node_id=node_id, key=key)
    made = await complete(call, node_id, received.upload_id, received.size, received.sums)
    return await find(call, made, node_id)
