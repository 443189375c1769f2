"""Whether somebody may do something with a page or a space.

Invariant: what may not be seen is answered exactly as what does not exist.
"""

from typing import LiteralString
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.http.call import Call
from notes.http.problems import Problem, not_found
from notes.pages.roles import Role

_PAGE: LiteralString = (
    "SELECT n.id, n.space_id, n.parent_id, n.position, n.title, n.version, n.is_template,"
    " n.access_root, n.trashed_at, n.trash_root,"
    " page_role(n.space_id, n.access_root, %s, %s, %s) AS role FROM nodes n WHERE n.id = %s"
)


async def page(
    conn: Conn, call: Call, node_id: UUID, need: Role, *, lock: bool = False, trashed: bool = False
) -> DictRow:
    """The page's row, locked against other changes if asked.

    Raises a 404 for a page that may not be seen (or is in the trash, unless `trashed`), a 403 for
    one that may be seen but not `need`ed.
    """
    locking: LiteralString = " FOR UPDATE OF n" if lock else ""
    cursor = await conn.execute(_PAGE + locking, (*call.viewer.access, node_id))
    return admit(call, await cursor.fetchone(), need, trashed=trashed)


def admit(call: Call, row: DictRow | None, need: Role, *, trashed: bool = False) -> DictRow:
    """`row` (with space_id, role, trashed_at) if `need` is met; raises as `page` does."""
    site = call.seen.site.space_id
    if row is None or row["role"] == Role.NONE or site not in {None, row["space_id"]}:
        raise not_found()
    if row["trashed_at"] is not None and not trashed:
        raise not_found()
    if row["role"] < need:
        raise Problem(403, f"This needs the role {need.label} on the page.")
    return row


async def space(conn: Conn, call: Call, space_id: UUID, need: Role) -> DictRow:
    """The space's row. Raises as `page` does."""
    cursor = await conn.execute(
        "SELECT s.*, space_role(s.id, %s, %s, %s) AS role FROM spaces s WHERE s.id = %s",
        (*call.viewer.access, space_id),
    )
    row = await cursor.fetchone()
    site = call.seen.site.space_id
    if row is None or row["role"] == Role.NONE or site not in {None, row["id"]}:
        raise not_found("space")
    if row["role"] < need:
        raise Problem(403, f"This needs the role {need.label} in the space.")
    return row


async def in_subtree(conn: Conn, root: UUID, node_id: UUID) -> bool:
    """Whether a page is `root` or below it."""
    cursor = await conn.execute(
        "WITH RECURSIVE up AS (SELECT id, parent_id FROM nodes WHERE id = %s UNION"
        " SELECT n.id, n.parent_id FROM nodes n JOIN up ON n.id = up.parent_id)"
        " SELECT 1 FROM up WHERE id = %s",
        (node_id, root),
    )
    return await cursor.fetchone() is not None


async def lock_tree(conn: Conn, *space_ids: UUID) -> None:
    """Lets one transaction at a time change the shape of a space's tree."""
    for space_id in sorted(set(space_ids)):
        await conn.execute("SELECT pg_advisory_xact_lock(71, hashtext(%s))", (str(space_id),))


async def page_in_tree(
    conn: Conn, call: Call, node_id: UUID, need: Role, *others: UUID, trashed: bool = False
) -> DictRow:
    """The page's row, while nobody else changes the shape of its space or of the `others`.

    What was read before the lock may not hold any more once the lock is had. Raises as `page` does,
    and a 409 for a page that went to another space meanwhile.
    """
    before = await page(conn, call, node_id, need, trashed=trashed)
    await lock_tree(conn, before["space_id"], *others)
    row = await page(conn, call, node_id, need, trashed=trashed)
    if row["space_id"] != before["space_id"]:
        raise Problem(409, "The page has been moved in the meantime; look again.")
    return row


async def to_the_top(conn: Conn, node_id: UUID) -> None:
    """Takes a page out of its parent, to the end of its space's top.

    Whose permissions held for it go on holding: it must not become readable by coming up.
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
    """Works out again, below and at a page, which page's permissions hold."""
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
