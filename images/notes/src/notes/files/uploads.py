"""Uploads: whole in a form, or resumable in chunks (spec: notes-app §4, §8).

Invariant: an attachment exists only if all its chunks do, and its checksums are those of the stored
bytes. Until then it is an upload, which is deleted after 24 hours.
"""

import asyncio
import hashlib
import re
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.db.connect import Conn
from notes.files import chunks
from notes.files.attachments import (
    Attachment,
    check_size,
    complete,
    find,
    find_ended,
    made_under,
    whole,
)
from notes.files.chunks import CHUNK_BYTES
from notes.files.names import file_name, media_type
from notes.files.summing import sums_of
from notes.http.context import Call
from notes.http.problems import FieldError, Problem, invalid, not_found
from notes.http.routing import JSON_LIMIT_BYTES, RawBody, Table
from notes.pages import access
from notes.pages.roles import Role
from notes.quotas.limits import ROW_BYTES

table = Table("attachments")

_CHECKSUM = re.compile(r"sha256=([0-9a-f]{64})")


class UploadIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to be uploaded in chunks."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    size: Annotated[int, msgspec.Meta(ge=0, le=2**50)]
    type: Annotated[str, msgspec.Meta(max_length=200)] = "application/octet-stream"
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")] | None = None
    key: UUID | None = None


class Upload(msgspec.Struct, frozen=True):
    """An unfinished upload; `missing` are the numbers of the chunks to send."""

    id: UUID
    name: str
    size: int
    chunk_size: int
    missing: list[int]
    expires_at: datetime


_DECODER = msgspec.json.Decoder(UploadIn)


@table(
    "POST",
    "/api/v1/nodes/{id}/uploads",
    scope="write",
    status=201,
    statuses=(200,),
    raw=RawBody(("application/json", "application/octet-stream", "multipart/form-data")),
)
async def post_upload(call: Call, id: UUID) -> Upload | Attachment:
    """Upload a file.

    JSON (name, size, type, sha256) opens a resumable upload: 201 with its id and chunk size. An
    octet-stream with the headers Upload-Id, Upload-Chunk (from 0) and optionally Upload-Checksum
    (sha256=…) stores one chunk, in any order, as often as needed: 200 with the missing chunks, or
    201 with the attachment after the last one. A form with a file of up to 64 MB creates the
    attachment at once. With a key (of a form: Upload-Key), a file that is sent again is the same
    attachment.
    """
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return await _open(call, id, await announced(call))
    if kind == "application/octet-stream":
        return await _chunk(call, id)  # type: ignore[return-value]
    if kind == "multipart/form-data":
        return await whole(call, id)
    raise Problem(415, "Send JSON, an octet-stream or a form with a file.", field="content-type")


async def announced(call: Call) -> UploadIn:
    """The description of an upload in the request's body. Raises a 400, 413 or 422."""
    content = b""
    async for part in call.request.stream():
        content += part
        if len(content) > min(JSON_LIMIT_BYTES, 65_536):
            raise Problem(413, "The description of an upload may have at most 65536 bytes.")
    try:
        return _DECODER.decode(content)
    except msgspec.ValidationError as error:
        raise invalid(error, "body") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}", field="body") from None


async def insert(
    conn: Conn,
    call: Call,
    body: UploadIn,
    *,
    node_id: UUID | None = None,
    space_id: UUID | None = None,
) -> DictRow:
    """Stores a new upload of the user, to a page or as a zip to a space; returns its row.

    It reserves the bytes of the file. Raises a quota's problem if they do not fit.
    """
    cursor = await conn.execute(
        "INSERT INTO uploads (node_id, space_id, user_id, name, media_type, size, sha256, reserved,"
        " key) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id, name, size, expires_at",
        (
            node_id,
            space_id,
            call.viewer.user_id,
            file_name(body.name),
            media_type(body.type),
            body.size,
            bytes.fromhex(body.sha256) if body.sha256 else None,
            body.size + ROW_BYTES,
            body.key,
        ),
    )
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - an insert returns its row
    return row


async def state(call: Call, row: DictRow) -> Upload:
    """The upload of a row, with its missing chunks."""
    missing = await missing_of(call, row["id"], chunks.count(row["size"]))
    return Upload(row["id"], row["name"], row["size"], CHUNK_BYTES, missing, row["expires_at"])


async def _open(call: Call, node_id: UUID, body: UploadIn) -> Upload | Attachment:
    check_size(call, body.size)

    async def work(conn: Conn) -> DictRow | UUID:
        await access.page(conn, call, node_id, Role.EDITOR)
        made = await made_under(conn, call, body.key, node_id) if body.key else None
        return made or await insert(conn, call, body, node_id=node_id)

    row = await call.app.db.transact(work)
    if isinstance(row, UUID):
        return await find(call, row, node_id)
    if body.size == 0:
        return await _finish(call, node_id, row["id"])
    return await state(call, row)


async def _chunk(call: Call, node_id: UUID) -> Response:
    upload_id, number = chunk_headers(call)
    row = await _upload(call, node_id, upload_id)
    if row is None:  # a chunk that is repeated after the end is answered like the last one
        return _json(await find_ended(call, upload_id, node_id), 201)
    data = await received(call, row["size"], number)

    if not await stored(call, upload_id, number, data):
        return _json(await find_ended(call, upload_id, node_id), 201)
    # Only after the commit: of two concurrent last chunks, one request sees both.
    left = await state(call, row)
    # Without this chunk the others are gone, too: a request beside this one has ended the upload.
    if left.missing and number not in left.missing:
        return _json(left, 200)
    return _json(await _finish(call, node_id, upload_id), 201)


def chunk_headers(call: Call) -> tuple[UUID, int]:
    """The upload's id and the chunk's number, from the headers. Raises a 422."""
    headers = call.request.headers
    try:
        upload_id = UUID(headers.get("upload-id", ""))
    except ValueError:
        raise Problem(422, "Upload-Id is not the id of an upload.", field="upload-id") from None
    text = headers.get("upload-chunk", "")
    if re.fullmatch(r"[0-9]{1,9}", text) is None:
        raise Problem(422, "Upload-Chunk is not a number from 0.", field="upload-chunk")
    return upload_id, int(text)


async def received(call: Call, size: int, number: int) -> bytes:
    """The bytes of chunk `number` of a file of `size` bytes, checked. Raises a 413 or 422."""
    total = chunks.count(size)
    if number >= total:
        raise Problem(422, f"There are {total} chunks, from 0.", field="upload-chunk")
    data = await _receive(call, chunks.length(size, number))
    checksum = call.request.headers.get("upload-checksum")
    if checksum is not None:
        match = _CHECKSUM.fullmatch(checksum.strip().lower())
        if match is None:
            raise Problem(422, "A checksum is sha256=<64 digits>.", field="upload-checksum")
        found = await asyncio.to_thread(hashlib.sha256, data)
        if found.hexdigest() != match[1]:
            raise Problem(422, "The chunk arrived damaged; send it again.", field="upload-checksum")
    return data


async def _receive(call: Call, expected: int) -> bytes:
    parts = list[bytes]()
    received = 0
    async for part in call.request.stream():
        received += len(part)
        if received > CHUNK_BYTES:
            raise Problem(413, f"A chunk has at most {CHUNK_BYTES} bytes.", field="body")
        parts.append(part)
    if received != expected:
        raise Problem(422, f"This chunk has {expected} bytes; {received} arrived.", field="body")
    return b"".join(parts)


async def _upload(call: Call, node_id: UUID, upload_id: UUID) -> DictRow | None:
    """The row of an unfinished upload. Raises if the user may not edit the page."""

    async def work(conn: Conn) -> DictRow | None:
        await access.page(conn, call, node_id, Role.EDITOR)
        cursor = await conn.execute(
            "SELECT id, name, size, media_type, sha256, expires_at, expires_at < now() AS expired"
            " FROM uploads WHERE id = %s AND node_id = %s AND user_id = %s AND size IS NOT NULL",
            (upload_id, node_id, call.viewer.user_id),
        )
        return await cursor.fetchone()

    row = await call.app.db.run(work)
    if row is not None and row["expired"]:
        raise Problem(410, "This upload has expired; begin again.", field="upload-id")
    return row


async def stored(call: Call, upload_id: UUID, number: int, data: bytes) -> bool:
    """Stores a chunk; False if the upload is gone. Raises a 409 if another one has its number."""

    async def work(conn: Conn) -> bool:
        # This lock allows other chunks at the same time, but not the end of the upload.
        cursor = await conn.execute(
            "SELECT 1 FROM uploads WHERE id = %s FOR KEY SHARE", (upload_id,)
        )
        if await cursor.fetchone() is None:
            return False
        await chunks.store(conn, upload_id, number, data)
        return True

    return await call.app.db.transact(work)


async def missing_of(call: Call, upload_id: UUID, total: int) -> list[int]:
    """The numbers of the chunks that an upload of `total` chunks does not have."""
    rows = await call.app.db.all("SELECT number FROM chunks WHERE file_id = %s", (upload_id,))
    return sorted(set(range(total)) - {row["number"] for row in rows})


async def _finish(call: Call, node_id: UUID, upload_id: UUID) -> Attachment:
    row = await _upload(call, node_id, upload_id)
    found = await sums_of(call, upload_id, row["size"]) if row is not None else None
    if row is None or found is None:
        return await find_ended(call, upload_id, node_id)
    if row["sha256"] is not None and bytes(row["sha256"]) != found.sha256:
        raise Problem(
            422,
            "The file's checksum is not the announced one; abort the upload and begin again.",
            errors=[FieldError("sha256", "it differs")],
        )
    made = await complete(call, node_id, upload_id, row["size"], found)
    return await find(call, made, node_id)


@table("GET", "/api/v1/nodes/{id}/uploads/{upload_id}")
async def get_upload(call: Call, id: UUID, upload_id: UUID) -> Upload:
    """List the missing chunks of an upload."""
    row = await _upload(call, id, upload_id)
    if row is None:
        raise not_found("upload")
    return await state(call, row)


@table("DELETE", "/api/v1/nodes/{id}/uploads/{upload_id}", scope="write", status=204)
async def delete_upload(call: Call, id: UUID, upload_id: UUID) -> None:
    """Abort an upload."""
    if await _upload(call, id, upload_id) is None:
        raise not_found("upload")
    await call.app.db.do("DELETE FROM uploads WHERE id = %s", (upload_id,))


def _json(body: Upload | Attachment, status: int) -> Response:
    return Response(
        msgspec.json.encode(body), status, {"cache-control": "no-store"}, "application/json"
    )
