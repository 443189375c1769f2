"""API of jobs: a user sees their own, an administrator those of everybody.

Invariant: what a job has read (its report and its preview) is for its user alone.
"""

from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table

table = Table("jobs")

_JOB: LiteralString = (
    "SELECT j.id, j.kind, j.state, j.space_id, (j.payload->>'parent_id')::uuid AS parent_id,"
    " j.payload->>'zip' AS name, j.progress, j.error, j.result, j.created_at, j.finished_at,"
    " j.user_id, u.name AS user_name FROM jobs j LEFT JOIN users u ON u.id = j.user_id"
)
State = Literal["queued", "running", "done", "failed"]


class JobView(msgspec.Struct, frozen=True):
    """A job and its progress; of an import also the target and the name of its zip.

    `user_id` and `user_name` are those of the user who started it; the application's own jobs have
    none. A job of the kind `import-preview` that is done waits for its beginning.
    """

    id: UUID
    kind: str
    state: str
    space_id: UUID | None
    parent_id: UUID | None
    name: str | None
    progress: dict[str, Any]
    error: str | None
    result: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None
    user_id: UUID | None
    user_name: str | None


class JobsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Filters. With `all` an administrator sees the jobs of everybody, or those of `user_id`."""

    all: bool = False
    user_id: UUID | None = None
    state: State | None = None


@table("GET", "/api/v1/jobs")
async def list_jobs(call: Call, query: JobsQuery) -> list[JobView]:
    """List your jobs, or as an administrator those of everybody: the newest 100.

    Raises a 403 for `all` if you are no administrator, or not on the main site.
    """
    if query.all:
        require_administrator(call)
    elif query.user_id not in {None, call.viewer.person}:
        raise Problem(403, "The jobs of others need `all`.", field="user_id")
    person = query.user_id if query.all else call.viewer.person
    rows = await call.app.db.all(
        _JOB + " WHERE (%(person)s::uuid IS NULL OR j.user_id = %(person)s)"
        " AND (%(state)s::text IS NULL OR j.state = %(state)s)"
        " ORDER BY j.created_at DESC, j.id LIMIT 100",
        {"person": person, "state": query.state},
    )
    return [_view(call, row) for row in rows]


def sees_all(call: Call) -> bool:
    """True for an administrator, on the main site, with the scope `admin`."""
    viewer = call.viewer
    return viewer.is_admin and "admin" in viewer.scopes and call.seen.site.space_id is None


def require_administrator(call: Call) -> None:
    """Raises a 403 for anybody who may not see the jobs of everybody."""
    if not sees_all(call):
        raise Problem(403, "Only administrators see the jobs of everybody, on the main site.")


@table("GET", "/api/v1/jobs/{id}")
async def get_job(call: Call, id: UUID) -> JobView:
    """Get one of your jobs."""
    row = await call.app.db.one(
        _JOB + " WHERE j.id = %s AND j.user_id = %s",
        (id, call.viewer.person),
    )
    if row is None:
        raise not_found("job")
    return _view(call, row)


def _view(call: Call, row: DictRow) -> JobView:
    """The job, with its error in the language of the workspace that asks."""
    error = row["error"]
    return JobView(**{**row, "error": error and call.spoken.said(error)})
