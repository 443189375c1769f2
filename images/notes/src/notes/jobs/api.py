"""API of a user's jobs."""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec

from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table

table = Table("jobs")

_JOB: LiteralString = (
    "SELECT id, kind, state, space_id, (payload->>'parent_id')::uuid AS parent_id,"
    " payload->>'zip' AS name, progress, error, result, created_at, finished_at FROM jobs"
)


class JobView(msgspec.Struct, frozen=True):
    """A job and its progress; of an import also the target and the name of its zip.

    A job of the kind `import-preview` that is done waits for its beginning.
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


@table("GET", "/api/v1/jobs")
async def list_jobs(call: Call) -> list[JobView]:
    """List your jobs, newest first."""
    rows = await call.app.db.all(
        _JOB + " WHERE user_id = %s ORDER BY created_at DESC LIMIT 100",
        (call.viewer.person,),
    )
    return [JobView(**row) for row in rows]


@table("GET", "/api/v1/jobs/{id}")
async def get_job(call: Call, id: UUID) -> JobView:
    """Get one of your jobs."""
    row = await call.app.db.one(
        _JOB + " WHERE id = %s AND user_id = %s",
        (id, call.viewer.person),
    )
    if row is None:
        raise not_found("job")
    return JobView(**row)
