"""The audit log. Invariant: an entry is written in the transaction of the change itself."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.routing import Table
from notes.http.viewer import Viewer

table = Table("audit")


async def note(
    conn: Conn,
    viewer: Viewer,
    action: str,
    subject: str,
    *,
    space_id: UUID | None = None,
    node_id: UUID | None = None,
    **detail: Any,
) -> None:
    """Records that `viewer` did `action` to `subject`."""
    await conn.execute(
        "INSERT INTO audit (actor_id, actor_name, action, subject, space_id, node_id, detail)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        (viewer.user_id, viewer.name, action, subject, space_id, node_id, Jsonb(detail)),
    )


def changes(patch: msgspec.Struct, *, but: Collection[str]) -> dict[str, Any]:
    """Returns the detail of a change: the fields that it sets, and their new values.

    Those of the fields `but` are left out: a secret is never in the log, and a long text fills it.
    """
    sent = {name: getattr(patch, name) for name in patch.__struct_fields__}
    fields = [name for name, value in sent.items() if value is not None]
    return {"fields": fields, **{name: sent[name] for name in fields if name not in but}}


class AuditEntry(msgspec.Struct, frozen=True):
    """One change: its time, its actor, the action and its subject."""

    id: int
    at: datetime
    actor_id: UUID | None
    actor_name: str
    action: str
    subject: str
    space_id: UUID | None
    node_id: UUID | None
    detail: dict[str, Any]


class AuditQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Filters of the audit log; `before` is the last id of the previous page."""

    space_id: UUID | None = None
    node_id: UUID | None = None
    before: Annotated[int, msgspec.Meta(ge=1, le=2**62)] = 2**62
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


@table("GET", "/api/v1/audit", scope="admin", main_site_only=True)
async def list_audit(call: Call, query: AuditQuery) -> list[AuditEntry]:
    """List changes and who made them, newest first."""
    return await entries(call, query)


async def entries(call: Call, query: AuditQuery) -> list[AuditEntry]:
    rows = await call.app.db.all(
        "SELECT * FROM audit WHERE id < %(before)s"
        " AND (%(space)s::uuid IS NULL OR space_id = %(space)s)"
        " AND (%(node)s::uuid IS NULL OR node_id = %(node)s) ORDER BY id DESC LIMIT %(limit)s",
        {
            "before": query.before,
            "space": query.space_id,
            "node": query.node_id,
            "limit": query.limit,
        },
    )
    return [AuditEntry(**row) for row in rows]
