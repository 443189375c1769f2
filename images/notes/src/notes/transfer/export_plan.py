"""Assigns each page and file its path in an exported zip.

Invariant: Windows, macOS and Linux can all store every name, and no two names differ only in case.
"""

import re
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn, rows_of
from notes.files.names import file_name
from notes.http.context import Call
from notes.transfer.manifest import HISTORY, MANIFEST

DEEPER = "notes-export.deeper"
NAME_BYTES = 100
FOLDER_BYTES = 120  # with a name below it, a path stays within Windows' limit
# Windows reserves these names, with any ending.
_DEVICE = re.compile(r"^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


async def plan(
    conn: Conn, call: Call, space_id: UUID, root: UUID | None
) -> tuple[list[DictRow], list[DictRow]]:
    """All pages and files with their paths, parents before children, siblings in order."""
    person, groups, is_admin = call.viewer.access
    cursor = await conn.execute(
        "SELECT id, parent_id, title, is_template FROM nodes n WHERE space_id = %(space)s"
        " AND trashed_at IS NULL AND (access_root IS NULL OR"
        " page_role(space_id, access_root, %(person)s, %(groups)s, %(admin)s) > 0)"
        " ORDER BY position, id",
        {"space": space_id, "person": person, "groups": groups, "admin": is_admin},
    )
    children = dict[UUID | None, list[DictRow]]()
    known = dict[UUID, DictRow]()
    async for row in rows_of(cursor):
        known[row["id"]] = row
        children.setdefault(row["parent_id"], []).append(row)
    # A page whose parent the user may not see is at the top.
    tops = [row for row in known.values() if row["parent_id"] not in known]
    if root is not None:
        tops = [known[root]] if root in known else []
    pages = _placed(tops, children)
    cursor = await conn.execute(
        "SELECT id, node_id, name, media_type, size, crc32 FROM attachments"
        " WHERE node_id = ANY (%s) ORDER BY node_id, name, id",
        ([page["id"] for page in pages],),
    )
    files = await cursor.fetchall()
    by_id = {page["id"]: page for page in pages}
    used = {page["path"].lower(): 2 for page in pages}
    for file in files:
        file["page"] = by_id[file["node_id"]]["path"]
        folder = file["page"].removesuffix(".md") + ".files/"
        base, dot, ending = file["name"].rpartition(".")
        ending = f"{dot}{ending}" if base and len(ending) < 20 else ""
        stem = _unused(used, folder, base if ending else file["name"], ending)
        file["path"] = f"{stem}{ending}"
    return pages, files


def _placed(tops: list[DictRow], children: dict[UUID | None, list[DictRow]]) -> list[DictRow]:
    """Sets the pages' paths. A path too long for Windows continues in a new top folder."""
    used = {MANIFEST.lower(): 2, f"{HISTORY}.md": 2, f"{DEEPER}.md": 2}
    pages = list[DictRow]()
    stack = [(row, "", None) for row in reversed(tops)]
    moved = 0
    while stack:
        row, folder, parent = stack.pop()
        stem = _unused(used, folder, row["title"], ".md")
        row["path"], row["parent"] = f"{stem}.md", parent
        pages.append(row)
        inner, above = f"{stem}/", None
        if len(stem.encode()) > FOLDER_BYTES and row["id"] in children:
            moved += 1
            inner, above = f"{DEEPER}/{moved}/", row["path"]
        stack += [(child, inner, above) for child in reversed(children.get(row["id"], []))]
    return pages


def _unused(used: dict[str, int], folder: str, title: str, ending: str) -> str:
    """A path without its ending that no other entry has, even if case is ignored.

    `used` maps each used path to the next number to try.
    """
    name = file_name(title.replace("/", "-").replace("\\", "-"))
    while len(name.encode()) > NAME_BYTES:
        name = name[:-1]
    name = name.rstrip(" .") or "file"
    if _DEVICE.match(name):
        name = f"_{name}"
    plain = f"{folder}{name}{ending}".lower()
    number = used.get(plain, 1)
    while True:
        stem = folder + (name if number == 1 else f"{name} ({number})")
        if f"{stem}{ending}".lower() not in used:
            used[f"{stem}{ending}".lower()] = 2
            used[plain] = number + 1
            return stem
        number += 1
