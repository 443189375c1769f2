"""API for those who give permissions: who has them on a page, and a lookup of people.

Invariant: the lookup tells a user who is no administrator only of people and groups that they know:
of the spaces that they are a member of, of their groups, and of the page's present permissions.
E-mail addresses are shown to administrators only.
"""

from typing import Annotated, Any, Literal, LiteralString
from uuid import UUID

import msgspec

from notes.auth.rate_limits import Limit, count
from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import Role

table = Table("around a page")

MOST_FOUND = 8
FEWEST_LETTERS = 2
LOOKUPS = Limit("people", 300, 900)
"""Per account: enough to type names, too few to try all beginnings of names."""


class NamedGrant(msgspec.Struct, frozen=True):
    """A user or a group with their role; `email` only for administrators.

    `name` is null if the user or group does not exist any more.
    """

    principal: UUID
    kind: Literal["user", "group"]
    role: str
    name: str | None
    email: str | None


class Access(msgspec.Struct, frozen=True):
    """The permissions that apply to a page, and where they come from.

    `origin` is `page` for its own, `above` for those of a page above it, and `space` for those of
    its space, where also `everyone_role` and `is_public` apply. `managers` manage the space, and
    with it the page, whatever its permissions are. `links` is the number of share links of the page
    and of the pages below it that work under these permissions, and would stop with others.
    """

    origin: Literal["page", "above", "space"]
    origin_id: UUID
    origin_title: str
    grants: list[NamedGrant]
    managers: list[NamedGrant]
    everyone_role: str
    is_public: bool
    links: int


class Principal(msgspec.Struct, frozen=True):
    """A user or a group that may get a role; `email` only for administrators."""

    id: UUID
    kind: Literal["user", "group"]
    name: str
    email: str | None


class PeopleQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The beginning of a word of the name, with two letters or more."""

    q: Annotated[
        str, msgspec.Meta(min_length=FEWEST_LETTERS, max_length=100, pattern=r"^[^\x00]*$")
    ]


_NAMED: LiteralString = (
    " SELECT g.principal, g.kind, g.role, coalesce(u.name, o.name) AS name,"
    " CASE WHEN %(admin)s THEN u.email END AS email FROM {source} g"
    " LEFT JOIN users u ON g.kind = 'user' AND u.id = g.principal"
    " LEFT JOIN groups o ON g.kind = 'group' AND o.id = g.principal"
    " WHERE {where} ORDER BY g.role DESC, g.kind DESC, lower(coalesce(u.name, o.name)), g.principal"
)
_OF_PAGE: LiteralString = _NAMED.replace("{source}", "node_permissions").replace(
    "{where}", "g.node_id = %(id)s"
)
_OF_SPACE: LiteralString = _NAMED.replace("{source}", "space_members").replace(
    "{where}", "g.space_id = %(id)s"
)


_LINKS: LiteralString = (
    "WITH RECURSIVE t AS (SELECT id FROM nodes WHERE id = %(id)s UNION ALL"
    " SELECT n.id FROM nodes n JOIN t ON n.parent_id = t.id WHERE n.trashed_at IS NULL"
    " AND n.access_root IS NOT DISTINCT FROM %(root)s::uuid)"
    " SELECT count(*) AS links FROM shares s JOIN t ON t.id = s.node_id WHERE s.ended_at IS NULL"
    " AND (%(root)s::uuid IS NULL OR s.access_root = %(root)s::uuid)"
    " AND (s.expires_at IS NULL OR s.expires_at > now())"
)


@table("GET", "/api/v1/nodes/{id}/access")
async def get_access(call: Call, id: UUID) -> Access:
    """Show who may do what on a page, with names, and where these permissions come from."""

    async def work(conn: Conn) -> Access:
        row = await access.page(conn, call, id, Role.MANAGER)
        root = row["access_root"]
        cursor = await conn.execute(
            "SELECT s.name, s.everyone_role, s.public,"
            " (SELECT title FROM nodes r WHERE r.id = %s) AS root_title"
            " FROM spaces s WHERE s.id = %s",
            (root, row["space_id"]),
        )
        place = await cursor.fetchone()
        assert place is not None  # noqa: S101 - a page has a space
        members = await _named(conn, call, _OF_SPACE, row["space_id"])
        grants = members if root is None else await _named(conn, call, _OF_PAGE, root)
        is_of_space = root is None
        cursor = await conn.execute(_LINKS, {"id": id, "root": root})
        counted = await cursor.fetchone()
        assert counted is not None  # noqa: S101 - a count has a row
        return Access(
            "space" if is_of_space else "page" if root == id else "above",
            row["space_id"] if is_of_space else root,
            place["name"] if is_of_space else place["root_title"],
            grants,
            [one for one in members if one.role == Role.MANAGER.label],
            Role(place["everyone_role"]).label,
            place["public"],
            counted["links"],
        )

    return await call.app.db.run(work)


async def _named(conn: Conn, call: Call, statement: LiteralString, id: UUID) -> list[NamedGrant]:
    cursor = await conn.execute(statement, {"id": id, "admin": call.viewer.is_admin})
    return [_named_grant(row) for row in await cursor.fetchall()]


def _named_grant(row: dict[str, Any]) -> NamedGrant:
    return NamedGrant(**{**row, "role": Role(row["role"]).label})


#: The spaces, groups and people that a user knows. `root` is the page with the permissions.
KNOWN: LiteralString = (
    "WITH mine AS (SELECT DISTINCT space_id FROM space_members"
    " WHERE principal = %(person)s OR principal = ANY (%(groups)s)),"
    " granted AS (SELECT principal, kind FROM space_members m JOIN mine USING (space_id)"
    " UNION SELECT principal, kind FROM node_permissions WHERE node_id = %(root)s::uuid),"
    " known_groups AS (SELECT unnest(%(groups)s::uuid[]) AS id"
    " UNION SELECT principal FROM granted WHERE kind = 'group'),"
    " known_users AS (SELECT principal AS id FROM granted WHERE kind = 'user'"
    " UNION SELECT m.user_id FROM group_members m JOIN known_groups k ON k.id = m.group_id) "
)
BEGINS: LiteralString = (
    "({of} ILIKE %(begins)s OR {of} ILIKE '%% ' || %(begins)s OR {of} ILIKE '%%-' || %(begins)s)"
)
_FOUND: LiteralString = (
    "SELECT * FROM (SELECT u.id, 'user' AS kind, u.name,"
    " CASE WHEN %(admin)s THEN u.email END AS email FROM users u WHERE u.disabled_at IS NULL"
    " AND (" + BEGINS.replace("{of}", "u.name") + " OR %(admin)s AND u.email ILIKE %(begins)s)"
    " AND (%(admin)s OR u.id IN (SELECT id FROM known_users))"
    " UNION ALL SELECT g.id, 'group', g.name, NULL FROM groups g"
    " WHERE " + BEGINS.replace("{of}", "g.name") + ""
    " AND (%(admin)s OR g.id IN (SELECT id FROM known_groups))) f"
    " ORDER BY lower(name), kind DESC, id LIMIT %(most)s"
)


def beginning(typed: str) -> str:
    """The pattern of texts that begin with a text."""
    escaped = typed.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"{escaped}%"


async def find(conn: Conn, call: Call, typed: str, root: UUID | None) -> list[Principal]:
    """The people and groups that a name begins with, known to the viewer; at most `MOST_FOUND`.

    `root` is the page whose permissions the viewer manages, None for those of a space.
    """
    given = {
        **call.viewer.rights,
        "root": root,
        "begins": beginning(typed),
        "most": MOST_FOUND,
    }
    cursor = await conn.execute(KNOWN + _FOUND, given)
    return [Principal(**row) for row in await cursor.fetchall()]


def asked(query: PeopleQuery) -> str:
    """The name that is looked for. Raises a 422 for one that is too short to be one."""
    typed = query.q.strip()
    if sum(sign.isalnum() for sign in typed) < FEWEST_LETTERS:
        raise Problem(422, f"Type at least {FEWEST_LETTERS} letters of the name.", field="q")
    return typed


@table("GET", "/api/v1/nodes/{id}/people")
async def find_people(call: Call, id: UUID, query: PeopleQuery) -> list[Principal]:
    """Find people and groups by their names, to give them permissions on a page.

    At most eight. Administrators find everybody, and by e-mail addresses too; others find whom they
    share a space or a group with, and those who have permissions on the page.
    """
    typed = asked(query)

    async def root_of(conn: Conn) -> UUID | None:
        row = await access.page(conn, call, id, Role.MANAGER)
        root: UUID | None = row["access_root"]
        return root

    root = await call.app.db.run(root_of)
    return await _looked_up(call, typed, root)


@table("GET", "/api/v1/spaces/{id}/people")
async def find_space_people(call: Call, id: UUID, query: PeopleQuery) -> list[Principal]:
    """Find people and groups by their names, to make them members of a space.

    As for the permissions of a page.
    """
    typed = asked(query)
    await call.app.db.run(lambda conn: access.space(conn, call, id, Role.MANAGER))
    return await _looked_up(call, typed, None)


async def _looked_up(call: Call, typed: str, root: UUID | None) -> list[Principal]:
    await count(call.app.db, LOOKUPS, "", str(call.viewer.person))
    return await call.app.db.run(lambda conn: find(conn, call, typed, root))


class Mentionable(msgspec.Struct, frozen=True):
    """A person who may be mentioned on a page."""

    id: UUID
    name: str


_WRITERS: LiteralString = (
    " UNION SELECT c.author_id FROM comments c WHERE c.node_id = %(node)s"
    " UNION SELECT r.author_id FROM revisions r WHERE r.node_id = %(node)s"
)
_MENTIONABLE: LiteralString = (
    "SELECT u.id, u.name FROM users u JOIN nodes n ON n.id = %(node)s"
    " WHERE u.disabled_at IS NULL AND u.id <> %(person)s"
    " AND (%(all)s OR " + BEGINS.replace("{of}", "u.name") + ")"
    " AND (%(admin)s OR u.id IN (SELECT id FROM known_users" + _WRITERS + "))"
    " AND page_insider(n.space_id, n.access_root, u.id, ARRAY(SELECT g.group_id"
    " FROM group_members g WHERE g.user_id = u.id), u.is_admin)"
    " ORDER BY lower(u.name), u.id LIMIT %(most)s"
)


async def find_mentionable(conn: Conn, call: Call, typed: str, node_id: UUID) -> list[Mentionable]:
    """The people, known to the viewer, who may read a page and whose name begins with `typed`.

    The names of a page's writers are in its history and comments: its insiders know them, too.
    """
    given = {
        **call.viewer.rights,
        "root": None,
        "node": node_id,
        "all": not typed,
        "begins": beginning(typed),
        "most": MOST_FOUND,
    }
    cursor = await conn.execute(KNOWN + _MENTIONABLE, given)
    return [Mentionable(**row) for row in await cursor.fetchall()]
