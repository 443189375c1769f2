"""API of imports: receives the zip, queues the job and returns its report.

Invariant: a zip and its target have at most one unfinished job, however often it is requested.
"""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from notes.db.connect import Conn
from notes.files.multipart import receive_form, receive_raw
from notes.http.context import Call
from notes.http.problems import Problem, invalid, not_found
from notes.http.routing import RawBody, Table
from notes.jobs.api import JobView, get_job
from notes.pages import access
from notes.pages.roles import Role
from notes.transfer import zip_uploads
from notes.transfer.sources import PREVIEW, Mode
from notes.transfer.target import check_target

table = Table("import and export")

ANNOUNCEMENT_BYTES = 65_536
MOST_UNFINISHED = 20  # imports and previews of one person, who waits for each of them


class ImportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target page; without it the top of the space.

    `mode` applies if the same zip was imported there before and its pages still exist: `once`
    imports nothing, `copy` imports them again, `replace` first moves the former pages and all below
    them to the trash. With `preview` the zip is only read: `GET /api/v1/jobs/{id}/preview` tells
    what it becomes, and `POST /api/v1/jobs/{id}/begin` imports it.
    """

    parent_id: UUID | None = None
    mode: Mode = "once"
    preview: bool = False


class ReportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the report: `after` is the last number read, `all` False skips plain successes."""

    after: Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)] = -1
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1000
    all: bool = True


class ReportLine(msgspec.Struct, frozen=True):
    """The result for one file of the zip: a page, an attachment, or left out, with the reasons."""

    number: int
    path: str
    outcome: Literal["page", "file", "left out"]
    node_id: UUID | None
    file_id: UUID | None
    notes: list[str]


class ImportIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A zip that was uploaded before: as an attachment, or in chunks as the upload of a zip."""

    attachment_id: UUID | None = None
    upload_id: UUID | None = None


@table(
    "POST",
    "/api/v1/spaces/{id}/imports",
    scope="write",
    status=202,
    raw=RawBody(("application/zip", "multipart/form-data", "application/json")),
)
async def post_import(call: Call, id: UUID, query: ImportQuery) -> JobView:
    """Import a zip: Markdown or HTML and files, or the export of another program.

    All pages become visible at once, or none.

    Send the zip itself, a form with it, or JSON with the `attachment_id` or `upload_id` of a zip
    that was uploaded before.
    """
    return await start(call, id, query)


@table("GET", "/api/v1/jobs/{id}/report")
async def get_report(call: Call, id: UUID, query: ReportQuery) -> list[ReportLine]:
    """List the result for each file of an imported zip. Empty until the import is done."""

    async def work(conn: Conn) -> list[ReportLine]:
        cursor = await conn.execute(
            "SELECT state FROM jobs WHERE id = %s AND user_id = %s", (id, call.viewer.person)
        )
        job = await cursor.fetchone()
        if job is None:
            raise not_found("job")
        if job["state"] != "done":
            return []
        cursor = await conn.execute(
            "SELECT number, path, outcome, node_id, file_id, notes FROM import_report"
            " WHERE job_id = %s AND number > %s AND (%s OR outcome = 'left out' OR notes <> '{}')"
            " ORDER BY number LIMIT %s",
            (id, query.after, query.all, query.limit),
        )
        return [
            ReportLine(**{**row, "notes": [call.spoken.said(note) for note in row["notes"]]})
            for row in await cursor.fetchall()
        ]

    return await call.app.db.run(work)


async def start(call: Call, space_id: UUID, query: ImportQuery) -> JobView:
    """Stores the zip of the request and queues the job."""
    parent_id = query.parent_id
    await call.app.db.run(lambda conn: check_target(conn, call, space_id, parent_id))
    limit = call.app.settings.body_limit_bytes
    digest: bytes | None
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        received = await receive_form(call, limit, space_id=space_id)
        file_id, digest = received.upload_id, received.sums.sha256
    elif kind in {"application/zip", "application/octet-stream", "application/x-zip-compressed"}:
        received = await receive_raw(call, limit, "import.zip", space_id=space_id)
        file_id, digest = received.upload_id, received.sums.sha256
    elif kind == "application/json":
        file_id, digest = await _stored(call, space_id)
    else:
        raise Problem(415, "Send a zip.", field="content-type")
    payload = {
        "file_id": str(file_id),
        "parent_id": str(parent_id) if parent_id else None,
        "name": call.viewer.name,
        "mode": query.mode,
    }
    wanted = PREVIEW if query.preview else "import"

    async def work(conn: Conn) -> UUID:
        await conn.execute("SELECT pg_advisory_xact_lock(72, hashtext(%s))", (str(space_id),))
        cursor = await conn.execute(
            # A preview waits for its user after it is done.
            "SELECT id FROM jobs WHERE kind = %s AND space_id = %s AND user_id = %s"
            " AND digest = %s AND (state IN ('queued', 'running') OR kind = %s AND state = 'done')"
            " AND payload->>'parent_id' IS NOT DISTINCT FROM %s",
            (wanted, space_id, call.viewer.user_id, digest, PREVIEW, payload["parent_id"]),
        )
        row = await cursor.fetchone()
        if row is not None:  # a repeated request, for example after a lost answer
            await conn.execute(
                "DELETE FROM uploads u WHERE id = %s AND job_id IS NULL AND NOT EXISTS"
                " (SELECT 1 FROM jobs j WHERE j.id = %s AND j.payload->>'file_id' = u.id::text)",
                (file_id, row["id"]),
            )
            return row["id"]  # type: ignore[no-any-return]
        cursor = await conn.execute(
            "SELECT 1 FROM uploads WHERE id = %s AND job_id IS NOT NULL FOR UPDATE", (file_id,)
        )
        if await cursor.fetchone() is not None:
            raise Problem(409, "Another job has this upload; upload the zip again.")
        await _check_unfinished(conn, call)
        cursor = await conn.execute(
            "INSERT INTO jobs (kind, space_id, user_id, payload, digest) VALUES (%s, %s, %s,"
            " %s || jsonb_build_object('zip', (SELECT name FROM (SELECT id, name FROM uploads"
            " UNION ALL SELECT id, name FROM attachments) f WHERE id = %s)), %s) RETURNING id",
            (wanted, space_id, call.viewer.user_id, Jsonb(payload), file_id, digest),
        )
        row = await cursor.fetchone()
        made: UUID = row["id"]  # type: ignore[index]
        await conn.execute("UPDATE uploads SET job_id = %s WHERE id = %s", (made, file_id))
        await conn.execute("SELECT pg_notify('app_jobs', '')")
        return made

    try:
        made = await call.app.db.transact(work)
    except Problem:
        if kind != "application/json":  # a zip that was uploaded before waits for another request
            await call.app.db.do("DELETE FROM uploads WHERE id = %s", (file_id,))
        raise
    return await get_job(call, made)  # type: ignore[no-any-return]


async def _check_unfinished(conn: Conn, call: Call) -> None:
    """Raises a 409 if the user has too many imports and previews that are not finished."""
    # Requests of one person to several spaces are counted one after the other.
    await conn.execute("SELECT pg_advisory_xact_lock(74, hashtext(%s))", (str(call.viewer.person),))
    cursor = await conn.execute(
        "SELECT count(*) AS unfinished FROM jobs WHERE user_id = %s"
        " AND (state IN ('queued', 'running') OR kind = %s AND state = 'done')",
        (call.viewer.person, PREVIEW),
    )
    row = await cursor.fetchone()
    if row is not None and row["unfinished"] >= MOST_UNFINISHED:
        raise Problem(
            409,
            f"your imports: {MOST_UNFINISHED} wait, run, or are previews; wait for one,"
            " or cancel one.",
        )


async def _stored(call: Call, space_id: UUID) -> tuple[UUID, bytes | None]:
    """The id and digest of a zip that was uploaded before."""
    content = bytearray()
    async for part in call.request.stream():
        content += part
        if len(content) > ANNOUNCEMENT_BYTES:
            raise Problem(413, f"The JSON may have at most {ANNOUNCEMENT_BYTES} bytes.")
    try:
        body = msgspec.json.decode(content, type=ImportIn)
    except msgspec.ValidationError as error:
        raise invalid(error, "body") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}", field="body") from None
    if body.upload_id is not None and body.attachment_id is None:
        return body.upload_id, await zip_uploads.digest_of(call, space_id, body.upload_id)
    if body.attachment_id is None or body.upload_id is not None:
        raise Problem(422, "Name an attachment or an upload.", field="attachment_id")
    row = await call.app.db.one(
        "SELECT a.id, a.sha256, n.space_id, n.trashed_at,"
        " page_role(n.space_id, n.access_root, %s, %s, %s) AS role"
        " FROM attachments a JOIN nodes n ON n.id = a.node_id WHERE a.id = %s",
        (*call.viewer.access, body.attachment_id),
    )
    try:
        seen = access.admit(call, row, Role.VIEWER)
    except Problem:
        raise not_found("attachment") from None
    return body.attachment_id, seen["sha256"]
