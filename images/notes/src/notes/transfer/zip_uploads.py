"""Resumable uploads of zips to import, in chunks like those of attachments (spec: notes-app §4).

Invariant: such an upload never becomes an attachment; it is deleted with its import, or after 24
hours without one.
"""

from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.files import chunks
from notes.files.attachments import check_size
from notes.files.summing import sums_of
from notes.files.uploads import (
    Upload,
    announced,
    chunk_headers,
    insert,
    missing_of,
    received,
    state,
    stored,
)
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import RawBody, Table
from notes.pages import access
from notes.pages.roles import Role
from notes.transfer.target import check_target

table = Table("import and export")


class ZipQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The page to import below; without it the top of the space."""

    parent_id: UUID | None = None


@table(
    "POST",
    "/api/v1/spaces/{id}/imports/uploads",
    scope="write",
    status=200,
    raw=RawBody(("application/json", "application/octet-stream")),
)
async def post_zip_upload(call: Call, id: UUID, query: ZipQuery) -> Upload:
    """Upload a zip to import, in chunks.

    JSON (name, size, type, sha256) opens the upload. An octet-stream with the headers Upload-Id,
    Upload-Chunk (from 0) and optionally Upload-Checksum (sha256=…) stores one chunk, in any order,
    as often as needed. When no chunk is missing, import the zip by its `upload_id`.
    """
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return await _open(call, id, query.parent_id)
    if kind != "application/octet-stream":
        raise Problem(415, "Send JSON or an octet-stream.", field="content-type")
    upload_id, number = chunk_headers(call)
    row = await _upload(call, id, upload_id)
    data = await received(call, row["size"], number)
    if not await stored(call, upload_id, number, data):
        raise not_found("upload")
    return await state(call, row)


async def _open(call: Call, space_id: UUID, parent_id: UUID | None) -> Upload:
    body = await announced(call)
    check_size(call, body.size)

    async def work(conn: Conn) -> DictRow:
        await check_target(conn, call, space_id, parent_id)
        return await insert(conn, call, body, space_id=space_id)

    return await state(call, await call.app.db.transact(work))


async def _upload(call: Call, space_id: UUID, upload_id: UUID) -> DictRow:
    """The row of an upload of the user. Raises a 404, or a 410 if it has expired."""

    async def work(conn: Conn) -> DictRow | None:
        await access.space(conn, call, space_id, Role.VIEWER)
        cursor = await conn.execute(
            "SELECT id, name, size, sha256, job_id, expires_at,"
            " expires_at < now() AND job_id IS NULL AS expired FROM uploads"
            " WHERE id = %s AND space_id = %s AND user_id = %s AND size IS NOT NULL",
            (upload_id, space_id, call.viewer.user_id),
        )
        return await cursor.fetchone()

    row = await call.app.db.run(work)
    if row is None:
        raise not_found("upload")
    if row["expired"]:
        raise Problem(410, "This upload has expired; begin again.", field="upload-id")
    return row


@table("GET", "/api/v1/spaces/{id}/imports/uploads/{upload_id}")
async def get_zip_upload(call: Call, id: UUID, upload_id: UUID) -> Upload:
    """List the missing chunks of the upload of a zip."""
    return await state(call, await _upload(call, id, upload_id))


@table("DELETE", "/api/v1/spaces/{id}/imports/uploads/{upload_id}", scope="write", status=204)
async def delete_zip_upload(call: Call, id: UUID, upload_id: UUID) -> None:
    """Abort the upload of a zip. Raises a 409 if a job reads it."""
    row = await _upload(call, id, upload_id)
    gone = await call.app.db.one(
        "DELETE FROM uploads WHERE id = %s AND job_id IS NULL RETURNING id", (row["id"],)
    )
    if gone is None:
        raise Problem(409, "An import reads this upload; cancel the job.")


async def digest_of(call: Call, space_id: UUID, upload_id: UUID) -> bytes:
    """The SHA-256 of a zip whose chunks are all there. Raises a 404, 409 or 422."""
    row = await _upload(call, space_id, upload_id)
    missing = await missing_of(call, upload_id, chunks.count(row["size"]))
    if missing:
        raise Problem(409, f"The upload has {len(missing)} missing chunks; send them first.")
    found = await sums_of(call, upload_id, row["size"])
    if found is None:
        raise not_found("upload")
    if row["sha256"] is not None and bytes(row["sha256"]) != found.sha256:
        raise Problem(422, "The zip's checksum is not the announced one; begin again.")
    return found.sha256
