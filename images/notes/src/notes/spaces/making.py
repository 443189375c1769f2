"""Creates spaces."""

from dataclasses import dataclass
from uuid import UUID

from psycopg import errors

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.problems import Problem
from notes.http.viewer import Viewer
from notes.pages.roles import Role


@dataclass(frozen=True, slots=True)
class NewSpace:
    """A space to create."""

    slug: str
    name: str
    description: str
    everyone_role: Role


async def make_space(conn: Conn, viewer: Viewer, new: NewSpace) -> UUID:
    """Creates a space with its creator as its manager. Raises a 409 if its slug is taken."""
    try:
        cursor = await conn.execute(
            "INSERT INTO spaces (slug, name, description, everyone_role, created_by)"
            " VALUES (%s, %s, %s, %s, %s) RETURNING id",
            (new.slug, new.name, new.description, new.everyone_role, viewer.user_id),
        )
    except errors.UniqueViolation:
        raise Problem(409, "A space with this slug exists.", field="slug") from None
    row = await cursor.fetchone()
    made: UUID = row["id"]  # type: ignore[index]
    await conn.execute(
        "INSERT INTO space_members (space_id, principal, kind, role) VALUES (%s, %s, 'user', %s)",
        (made, viewer.user_id, Role.MANAGER),
    )
    await tell(conn, "space.made", space_id=made)
    await audit.note(conn, viewer, "space.made", new.name, space_id=made)
    return made
