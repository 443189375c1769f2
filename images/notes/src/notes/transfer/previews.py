"""The preview of an import: what the zip becomes, read by the import itself but not published.

Invariant: what begins after a preview publishes exactly the rows that the preview has shown, since
both are the same rows of the staging tables.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.jobs.api import JobView, get_job, sees_all
from notes.transfer import staging
from notes.transfer.sources import PREVIEW, Mode
from notes.transfer.target import check_target

table = Table("import and export")


class PreviewQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the preview: `after` is the last number read."""

    after: Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)] = -1
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1000


class PreviewPage(msgspec.Struct, frozen=True):
    """A page that the import will create.

    `path` is its file in the zip, None for a folder. `exists` is true if a page with this title is
    already at its place; the import creates another one beside it.
    """

    number: int
    id: UUID
    parent_id: UUID | None
    title: str
    is_template: bool
    path: str | None
    notes: list[str]
    files: int
    versions: int
    comments: int
    exists: bool


class BeginQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choice for a zip that was imported there before, as for an import."""

    mode: Mode = "once"


@table("GET", "/api/v1/jobs/{id}/preview")
async def get_preview(call: Call, id: UUID, query: PreviewQuery) -> list[PreviewPage]:
    """List the pages that an import will create. Empty until the preview is done.

    Files, and what is left out, are in the job's report.
    """

    async def work(conn: Conn) -> list[PreviewPage]:
        cursor = await conn.execute(
            "SELECT kind, state FROM jobs WHERE id = %s AND user_id = %s",
            (id, call.viewer.person),
        )
        job = await cursor.fetchone()
        if job is None:
            raise not_found("job")
        if (job["kind"], job["state"]) != (PREVIEW, "done"):
            return []
        cursor = await conn.execute(
            "SELECT p.ord AS number, p.node_id AS id, p.parent_id, p.title, p.is_template,"
            " r.path, coalesce(r.notes, '{}') AS notes,"
            " (SELECT count(*) FROM import_files f WHERE f.job_id = p.job_id"
            " AND f.node_id = p.node_id) AS files,"
            " 1 + (SELECT count(*) FROM import_revisions v WHERE v.job_id = p.job_id"
            " AND v.node_id = p.node_id) AS versions,"
            " (SELECT count(*) FROM import_comments c WHERE c.job_id = p.job_id"
            " AND c.node_id = p.node_id) AS comments,"
            " p.parent_id IS NULL AND EXISTS (SELECT 1 FROM nodes n WHERE n.space_id = j.space_id"
            " AND n.parent_id IS NOT DISTINCT FROM (j.payload->>'parent_id')::uuid"
            " AND n.title = p.title AND n.trashed_at IS NULL"
            " AND page_role(n.space_id, n.access_root, %s, %s, %s) > 0) AS exists"
            " FROM import_pages p JOIN jobs j ON j.id = p.job_id"
            " LEFT JOIN import_report r ON r.job_id = p.job_id AND r.node_id = p.node_id"
            " AND r.outcome = 'page'"
            " WHERE p.job_id = %s AND p.ord > %s ORDER BY p.ord LIMIT %s",
            (*call.viewer.access, id, query.after, query.limit),
        )
        return [
            PreviewPage(**{**row, "notes": [call.spoken.said(note) for note in row["notes"]]})
            for row in await cursor.fetchall()
        ]

    return await call.app.db.run(work)


@table("POST", "/api/v1/jobs/{id}/begin", scope="write", status=202)
async def post_begin(call: Call, id: UUID, query: BeginQuery) -> JobView:
    """Import what a preview has shown. A repeat is answered as the first request.

    Raises a 409 if the preview is not done, and a 403 if you may no longer import to its place.
    """

    async def work(conn: Conn) -> None:
        row = await _own(conn, call, id)
        if row["kind"] == "import":
            return  # a repeated request
        if row["state"] != "done":
            raise Problem(409, "The preview is not done.")
        parent_id = row["payload"]["parent_id"]
        await check_target(conn, call, row["space_id"], UUID(parent_id) if parent_id else None)
        more = {"mode": query.mode, "read": row["result"]["source"]}
        await conn.execute(
            "UPDATE jobs SET kind = 'import', state = 'queued', run_at = now(), result = NULL,"
            " finished_at = NULL, deaths = 0, payload = payload || %s WHERE id = %s",
            (Jsonb(more), id),
        )
        await conn.execute("SELECT pg_notify('app_jobs', '')")

    await call.app.db.transact(work)
    return await get_job(call, id)  # type: ignore[no-any-return]


@table("DELETE", "/api/v1/jobs/{id}", scope="write", status=204)
async def cancel_job(call: Call, id: UUID) -> None:
    """Cancel an import that has published nothing: nothing of it stays.

    An administrator may cancel that of anybody. Raises a 409 for a job that is done, or whose pages
    are there already.
    """

    async def work(conn: Conn) -> None:
        row = await _own(conn, call, id, of_anybody=sees_all(call))
        is_over = row["state"] in {"done", "failed"} or row["result"] is not None
        if is_over and row["kind"] != PREVIEW:
            raise Problem(409, "The job is done; there is nothing to cancel.")
        await staging.undo(conn, id)
        await conn.execute("DELETE FROM jobs WHERE id = %s", (id,))
        if row["user_id"] != call.viewer.user_id:
            await tell(conn, "job.finished", user_id=row["user_id"], job_id=id, state="failed")
            subject = row["payload"].get("zip") or row["kind"]
            await audit.note(
                conn,
                call.viewer,
                "job.cancelled",
                subject,
                space_id=row["space_id"],
                user_id=str(row["user_id"]),
            )

    await call.app.db.transact(work)


async def _own(conn: Conn, call: Call, id: UUID, *, of_anybody: bool = False) -> DictRow:
    """An import or preview of the user, or of anybody, locked. Raises a 404."""
    # Whatever the running job is just storing is committed before the lock is given.
    cursor = await conn.execute(
        "SELECT kind, state, space_id, user_id, payload, result FROM jobs"
        " WHERE id = %s AND (user_id = %s OR %s AND user_id IS NOT NULL)"
        " AND kind IN ('import', %s) FOR UPDATE",
        (id, call.viewer.person, of_anybody, PREVIEW),
    )
    row = await cursor.fetchone()
    if row is None:
        raise not_found("job")
    return row
