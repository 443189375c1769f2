"""Checks a user's role on pages and spaces.

Invariant: an object that the user may not see gets exactly the same answer as a missing one.
"""

from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.pages.roles import Role

_PAGE: LiteralString = (
    "SELECT n.id, n.space_id, n.parent_id, n.position, n.title, n.version, n.updated_at,"
    " n.is_template, n.access_root, n.trashed_at, n.trash_root,"
    " page_role(n.space_id, n.access_root, %s, %s, %s) AS role FROM nodes n WHERE n.id = %s"
)


async def page(
    conn: Conn, call: Call, node_id: UUID, need: Role, *, lock: bool = False, trashed: bool = False
) -> DictRow:
    """The page's row, locked against other changes if `lock`.

    Raises a 404 for a page that the user may not see (or that is in the trash, unless `trashed`),
    and a 403 if the user's role is below `need`.
    """
    locking: LiteralString = " FOR UPDATE OF n" if lock else ""
    cursor = await conn.execute(_PAGE + locking, (*call.viewer.access, node_id))
    return admit(call, await cursor.fetchone(), need, trashed=trashed)


def admit(call: Call, row: DictRow | None, need: Role, *, trashed: bool = False) -> DictRow:
    """Returns `row` (with space_id, role, trashed_at) if its role is `need`; raises like `page`."""
    site = call.seen.site.space_id
    if row is None or row["role"] == Role.NONE or site not in {None, row["space_id"]}:
        raise not_found()
    if row["trashed_at"] is not None and not trashed:
        raise not_found()
    if row["role"] < need:
        raise Problem(403, f"This needs the role {need.label} on the page.")
    return row


async def subtree(
    conn: Conn, call: Call, row: DictRow, need: Role, *, trashed: bool | None = None
) -> None:
    """Requires the role `need` on a page and each page below it, in one statement.

    `trashed` False checks pages outside the trash, True those that went there with the page, None
    all. Raises a 403 if the role is missing on a page below, even an invisible one: the action
    would change that page too.
    """
    await _demand(conn, call, row, need, None, outer_changes=False, trashed=trashed)


async def subtree_to(
    conn: Conn, call: Call, row: DictRow, space_id: UUID, parent: DictRow | None
) -> None:
    """Checks that a page may be moved, with all pages below it, to a space, below `parent`.

    Every page needs the editor role. A restricted page needs the manager role if the move would
    remove its restriction, or give it to managers of another space: that changes who may read
    it. Raises a 403.
    """
    outer = row["access_root"] if row["access_root"] != row["id"] else None
    changes = outer is not None and (parent is None or parent["access_root"] != outer)
    await _demand(conn, call, row, Role.EDITOR, space_id, outer_changes=changes)


async def _demand(
    conn: Conn,
    call: Call,
    row: DictRow,
    need: Role,
    target: UUID | None,
    *,
    outer_changes: bool,
    trashed: bool | None = None,
) -> None:
    person, groups, is_admin = call.viewer.access
    cursor = await conn.execute(
        "WITH RECURSIVE t AS ("
        " SELECT n.id, n.space_id, n.access_root FROM nodes n WHERE n.id = %(id)s UNION ALL"
        " SELECT n.id, n.space_id, n.access_root FROM nodes n JOIN t ON n.parent_id = t.id"
        " WHERE CASE %(trashed)s::boolean WHEN false THEN n.trashed_at IS NULL"
        " WHEN true THEN n.trash_root = %(id)s ELSE true END),"
        # Check each set of permissions once: there are few of them, but many pages.
        " held AS (SELECT DISTINCT space_id, access_root FROM t)"
        " SELECT max(CASE WHEN role < needed THEN needed END) AS needed FROM (SELECT"
        " page_role(space_id, access_root, %(person)s, %(groups)s, %(admin)s) AS role,"
        " CASE WHEN access_root IS NOT NULL AND (space_id <> %(target)s::uuid"
        " OR %(changes)s AND access_root = %(outer)s::uuid) THEN 4 ELSE %(need)s END AS needed"
        " FROM held) h",
        {
            "id": row["id"],
            "trashed": trashed,
            "person": person,
            "groups": groups,
            "admin": is_admin,
            "target": target,
            "changes": outer_changes,
            "outer": row["access_root"],
            "need": need,
        },
    )
    found = await cursor.fetchone()
    if found is not None and found["needed"] is not None:
        label = Role(found["needed"]).label
        raise Problem(403, f"This needs the role {label} on the page and every page below it.")


async def is_insider(conn: Conn, call: Call, row: DictRow) -> bool:
    """True if the viewer may see the names of the page's authors.

    A viewer who may read only because the space is public does not see who works in it.
    """
    if row["role"] > Role.VIEWER:
        return True
    cursor = await conn.execute(
        "SELECT page_insider(%s, %s, %s, %s, %s) AS inside",
        (row["space_id"], row["access_root"], *call.viewer.access),
    )
    found = await cursor.fetchone()
    return found is not None and found["inside"]


async def space(conn: Conn, call: Call, space_id: UUID, need: Role) -> DictRow:
    """The space's row. Raises like `page`."""
    cursor = await conn.execute(
        "SELECT s.*, space_role(s.id, %s, %s, %s) AS role,"
        " space_insider(s.id, %s, %s, %s) AS inside FROM spaces s WHERE s.id = %s",
        (*call.viewer.access, *call.viewer.access, space_id),
    )
    row = await cursor.fetchone()
    site = call.seen.site.space_id
    if row is None or row["role"] == Role.NONE or site not in {None, row["id"]}:
        raise not_found("space")
    if row["role"] < need:
        raise Problem(403, f"This needs the role {need.label} in the space.")
    return row


async def in_subtree(conn: Conn, root: UUID, node_id: UUID) -> bool:
    """True if a page is `root` or below it."""
    cursor = await conn.execute(
        "WITH RECURSIVE up AS (SELECT id, parent_id FROM nodes WHERE id = %s UNION"
        " SELECT n.id, n.parent_id FROM nodes n JOIN up ON n.id = up.parent_id)"
        " SELECT 1 FROM up WHERE id = %s",
        (node_id, root),
    )
    return await cursor.fetchone() is not None


async def lock_tree(conn: Conn, *space_ids: UUID) -> None:
    """Locks the trees of spaces: one transaction at a time moves pages in a space."""
    for space_id in sorted(set(space_ids)):
        await conn.execute("SELECT pg_advisory_xact_lock(71, hashtext(%s))", (str(space_id),))


async def page_in_tree(
    conn: Conn, call: Call, node_id: UUID, need: Role, *others: UUID, trashed: bool = False
) -> DictRow:
    """The page's row, read under the tree locks of its space and of the `others`.

    The row is read again under the lock, since it may have changed before. Raises like `page`, and
    a 409 if the page was moved to another space in the meantime.
    """
    before = await page(conn, call, node_id, need, trashed=trashed)
    await lock_tree(conn, before["space_id"], *others)
    row = await page(conn, call, node_id, need, trashed=trashed)
    if row["space_id"] != before["space_id"]:
        raise Problem(409, "The page has been moved in the meantime; reload it.")
    return row


async def to_the_top(conn: Conn, node_id: UUID) -> None:
    """Moves a page out of its parent, to the end of its space's top level.

    The permissions that applied to it are copied: the move must not make it readable for others.
    """
    await conn.execute(
        "INSERT INTO node_permissions (node_id, principal, kind, role)"
        " SELECT n.id, p.principal, p.kind, p.role FROM nodes n"
        " JOIN node_permissions p ON p.node_id = n.access_root"
        " WHERE n.id = %s AND n.access_root <> n.id ON CONFLICT DO NOTHING",
        (node_id,),
    )
    await conn.execute(
        "UPDATE nodes n SET parent_id = NULL, position = (SELECT coalesce(max(position), 0) + 1024"
        " FROM nodes t WHERE t.space_id = n.space_id AND t.parent_id IS NULL) WHERE n.id = %s",
        (node_id,),
    )
    await renew_access_roots(conn, node_id)


async def renew_access_roots(conn: Conn, node_id: UUID) -> None:
    """Recomputes, for a page and all below it, which page's permissions apply."""
    await conn.execute(
        "WITH RECURSIVE t AS ("
        " SELECT n.id, CASE WHEN EXISTS (SELECT 1 FROM node_permissions p WHERE p.node_id = n.id)"
        " THEN n.id ELSE (SELECT u.access_root FROM nodes u WHERE u.id = n.parent_id) END AS root"
        " FROM nodes n WHERE n.id = %s UNION ALL"
        " SELECT c.id, CASE WHEN EXISTS (SELECT 1 FROM node_permissions p WHERE p.node_id = c.id)"
        " THEN c.id ELSE t.root END FROM nodes c JOIN t ON c.parent_id = t.id)"
        " UPDATE nodes n SET access_root = t.root FROM t"
        " WHERE n.id = t.id AND n.access_root IS DISTINCT FROM t.root",
        (node_id,),
    )
