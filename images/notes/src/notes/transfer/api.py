"""Asks for an import: the zip arrives first, a job does the rest."""

from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from notes.db.connect import Conn
from notes.files.forms import receive_form, receive_raw
from notes.http.call import Call
from notes.http.endpoint import RawBody, Table
from notes.http.problems import Problem, invalid, not_found
from notes.jobs.api import JobView, get_job
from notes.pages import access
from notes.pages.roles import Role

table = Table("import and export")

ANNOUNCEMENT_BYTES = 65_536


class ImportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Below which page; at the top of the space without one."""

    parent_id: UUID | None = None


class ImportIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A zip that has been uploaded as an attachment: the way for those beyond the body limit."""

    attachment_id: UUID


@table(
    "POST",
    "/api/v1/spaces/{id}/imports",
    scope="write",
    status=202,
    raw=RawBody(("application/zip", "multipart/form-data", "application/json")),
)
async def post_import(call: Call, id: UUID, query: ImportQuery) -> JobView:
    """Import a zip of Markdown and files.

    Send the zip itself, a form with it, or JSON with the attachment_id of one uploaded before.
    """
    return await start(call, id, query.parent_id)


async def start(call: Call, space_id: UUID, parent_id: UUID | None) -> JobView:
    """Stores the zip of the request and queues the job."""

    async def may(conn: Conn) -> None:
        await access.space(conn, call, space_id, Role.VIEWER)
        if parent_id is None:
            await access.space(conn, call, space_id, Role.EDITOR)
            return
        parent = await access.page(conn, call, parent_id, Role.EDITOR)
        if parent["space_id"] != space_id:
            raise Problem(422, "The parent is in another space.", field="parent_id")

    await call.app.db.run(may)
    limit = call.app.settings.body_limit_bytes
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        file_id = (await receive_form(call, limit, space_id=space_id)).upload_id
    elif kind in {"application/zip", "application/octet-stream", "application/x-zip-compressed"}:
        file_id = (await receive_raw(call, limit, "import.zip", space_id=space_id)).upload_id
    elif kind == "application/json":
        file_id = await _attached(call)
    else:
        raise Problem(415, "Send a zip.", field="content-type")
    payload = {
        "file_id": str(file_id),
        "parent_id": str(parent_id) if parent_id else None,
        "name": call.viewer.name,
    }

    async def work(conn: Conn) -> UUID:
        cursor = await conn.execute(
            "INSERT INTO jobs (kind, space_id, user_id, payload)"
            " VALUES ('import', %s, %s, %s) RETURNING id",
            (space_id, call.viewer.user_id, Jsonb(payload)),
        )
        row = await cursor.fetchone()
        await conn.execute("SELECT pg_notify('app_jobs', '')")
        return row["id"]  # type: ignore[index, no-any-return]

    made = await call.app.db.transact(work)
    return await get_job(call, made)  # type: ignore[no-any-return]


async def _attached(call: Call) -> UUID:
    content = bytearray()
    async for part in call.request.stream():
        content += part
        if len(content) > ANNOUNCEMENT_BYTES:
            raise Problem(413, "That is too long for an announcement.")
    try:
        body = msgspec.json.decode(content, type=ImportIn)
    except msgspec.ValidationError as error:
        raise invalid(error, "body") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}", field="body") from None
    row = await call.app.db.one(
        "SELECT a.id, n.space_id, n.trashed_at,"
        " page_role(n.space_id, n.access_root, %s, %s, %s) AS role"
        " FROM attachments a JOIN nodes n ON n.id = a.node_id WHERE a.id = %s",
        (*call.viewer.access, body.attachment_id),
    )
    try:
        access.admit(call, row, Role.VIEWER)
    except Problem:
        raise not_found("attachment") from None
    return body.attachment_id
