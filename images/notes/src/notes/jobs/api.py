"""API of a user's jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table

table = Table("jobs")


class JobView(msgspec.Struct, frozen=True):
    """A job and its progress."""

    id: UUID
    kind: str
    state: str
    progress: dict[str, Any]
    error: str | None
    result: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None


@table("GET", "/api/v1/jobs")
async def list_jobs(call: Call) -> list[JobView]:
    """List your jobs, newest first."""
    rows = await call.app.db.all(
        "SELECT id, kind, state, progress, error, result, created_at, finished_at FROM jobs"
        " WHERE user_id = %s ORDER BY created_at DESC LIMIT 100",
        (call.viewer.person,),
    )
    return [JobView(**row) for row in rows]


@table("GET", "/api/v1/jobs/{id}")
async def get_job(call: Call, id: UUID) -> JobView:
    """Get one of your jobs."""
    row = await call.app.db.one(
        "SELECT id, kind, state, progress, error, result, created_at, finished_at FROM jobs"
        " WHERE id = %s AND user_id = %s",
        (id, call.viewer.person),
    )
    if row is None:
        raise not_found("job")
    return JobView(**row)
