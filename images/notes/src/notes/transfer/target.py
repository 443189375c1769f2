"""Checks the place that pages are imported to."""

from uuid import UUID

from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.pages import access
from notes.pages.roles import Role


async def check_target(conn: Conn, call: Call, space_id: UUID, parent_id: UUID | None) -> None:
    """Raises unless the user may import into the space, or below that page of it."""
    await access.space(conn, call, space_id, Role.VIEWER)
    if parent_id is None:
        await access.space(conn, call, space_id, Role.EDITOR)
        return
    parent = await access.page(conn, call, parent_id, Role.EDITOR)
    if parent["space_id"] != space_id:
        raise Problem(422, "The parent is in another space.", field="parent_id")
