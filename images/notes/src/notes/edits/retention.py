"""API of the time for which edits are kept."""

from typing import Annotated

import msgspec

from notes.auth import audit
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table

table = Table("edits")


class EditLog(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The days for which each edit can be shown and restored."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3650)]


@table("GET", "/api/v1/edit-log", scope="admin", main_site_only=True)
async def get_edit_log(call: Call) -> EditLog:
    """Get the days for which edits are kept."""
    row = await call.app.db.one("SELECT edit_log_days AS days FROM settings")
    if row is None:
        raise not_found("installation")
    return EditLog(row["days"])


@table("PUT", "/api/v1/edit-log", scope="admin", main_site_only=True)
async def put_edit_log(call: Call, body: EditLog) -> EditLog:
    """Set the days for which edits are kept; older ones are deleted soon after."""

    async def work(conn: Conn) -> None:
        await conn.execute("UPDATE settings SET edit_log_days = %s", (body.days,))
        await audit.note(conn, call.viewer, "edit_log.set", "all", days=body.days)

    await call.app.db.transact(work)
    return body
