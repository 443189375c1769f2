"""API of the people whom a user knows: a lookup by names, and what one of them does.

Invariant: a user who is no administrator learns nothing of people whom they do not know, and of
those that they know only what spaces and pages show them anyway.
"""

from typing import LiteralString
from uuid import UUID

import msgspec

from notes.auth.rate_limits import Limit, count
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import not_found
from notes.http.routing import Table
from notes.pages.lists import Reference
from notes.pages.people import BEGINS, KNOWN, MOST_FOUND, PeopleQuery, asked, beginning

table = Table("people")

MOST_PAGES = 20
LOOKUPS = Limit("persons", 600, 900)
"""Per account: the palette asks while one types. Those who give permissions have their own."""


class Known(msgspec.Struct, frozen=True):
    """A person whom the viewer knows; `email` only for administrators."""

    id: UUID
    name: str
    email: str | None


class SharedSpace(msgspec.Struct, frozen=True):
    """A space of which a person is a member, as far as the viewer may see its members."""

    id: UUID
    name: str


class Person(Known, frozen=True):
    """A person, their spaces, and the pages that they changed last and nobody since."""

    spaces: list[SharedSpace]
    pages: list[Reference]


_PERSON: LiteralString = (
    "SELECT u.id, u.name, CASE WHEN %(admin)s THEN u.email END AS email FROM users u"
    " WHERE (%(admin)s OR u.id = %(person)s OR u.id IN (SELECT id FROM known_users))"
)
_FOUND: LiteralString = (
    _PERSON
    + " AND u.disabled_at IS NULL AND ("
    + BEGINS.replace("{of}", "u.name")
    + " OR %(admin)s AND u.email ILIKE %(begins)s) ORDER BY lower(u.name), u.id LIMIT %(most)s"
)
_SPACES: LiteralString = (
    "SELECT s.id, s.name FROM spaces s WHERE EXISTS (SELECT 1 FROM space_members m"
    " WHERE m.space_id = s.id AND (m.principal = %(id)s OR m.kind = 'group'"
    # Who else is in a group is known to its members, and to administrators.
    " AND (%(admin)s OR m.principal = ANY (%(groups)s)) AND EXISTS (SELECT 1"
    " FROM group_members g WHERE g.group_id = m.principal AND g.user_id = %(id)s)))"
    " AND space_role(s.id, %(person)s, %(groups)s, %(admin)s) > 0"
    " AND space_insider(s.id, %(person)s, %(groups)s, %(admin)s) ORDER BY lower(s.name), s.id"
)
_PAGES: LiteralString = (
    "SELECT n.id, n.space_id, n.title, n.updated_at FROM nodes n"
    " WHERE n.updated_by = %(id)s AND n.trashed_at IS NULL"
    " AND page_role(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) > 0"
    " AND page_insider(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s)"
    " ORDER BY n.updated_at DESC, n.id LIMIT %(most)s"
)


@table("GET", "/api/v1/people", main_site_only=True)
async def find_known(call: Call, query: PeopleQuery) -> list[Known]:
    """Find people by their names.

    At most eight. Administrators find everybody, and by e-mail addresses too; others find whom they
    share a space or a group with.
    """
    given = {
        **call.viewer.rights,
        "root": None,
        "begins": beginning(asked(query)),
        "most": MOST_FOUND,
    }
    await count(call.app.db, LOOKUPS, "", str(call.viewer.person))
    rows = await call.app.db.all(KNOWN + _FOUND, given)
    return [Known(**row) for row in rows]


@table("GET", "/api/v1/people/{id}", main_site_only=True)
async def get_person(call: Call, id: UUID) -> Person:
    """Show a person: spaces that both of you see, and pages that they changed last.

    Raises a 404 for a person whom you do not know.
    """
    given = {**call.viewer.rights, "root": None, "id": id, "most": MOST_PAGES}

    async def work(conn: Conn) -> Person:
        found = await (await conn.execute(KNOWN + _PERSON + " AND u.id = %(id)s", given)).fetchone()
        if found is None:
            raise not_found("person")
        spaces = await (await conn.execute(_SPACES, given)).fetchall()
        pages = await (await conn.execute(_PAGES, given)).fetchall()
        return Person(
            **found,
            spaces=[SharedSpace(**row) for row in spaces],
            pages=[Reference(**row) for row in pages],
        )

    return await call.app.db.run(work)
