"""Makes everything that an import has read visible, in one transaction.

Invariant: the same transaction stores the job's result, so publishing happens once, even if a
process is killed before or after it.
"""

from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from notes.auth import audit
from notes.db.connect import Conn, take_time
from notes.events.record import tell
from notes.http.viewer import Viewer
from notes.jobs.job import Job, JobFailedError
from notes.pages import access
from notes.pages.roles import Role
from notes.transfer import staging


async def finished(job: Job) -> bool:
    """True if an earlier attempt has published the pages."""
    row = await job.app.db.one("SELECT result FROM jobs WHERE id = %s", (job.id,))
    return row is not None and row["result"] is not None


async def same_import(conn: Conn, job: Job) -> UUID | None:
    """An earlier import of the same zip to the same place whose pages still exist, or None."""
    cursor = await conn.execute(
        "SELECT j.id FROM jobs me JOIN jobs j ON j.kind = 'import' AND j.space_id = me.space_id"
        " AND j.digest = me.digest AND j.state = 'done' AND j.id <> me.id"
        " AND j.payload->>'parent_id' IS NOT DISTINCT FROM me.payload->>'parent_id'"
        " WHERE me.id = %s AND EXISTS (SELECT 1 FROM import_report r JOIN nodes n"
        " ON n.id = r.node_id WHERE r.job_id = j.id AND n.trashed_at IS NULL"
        " AND n.space_id = j.space_id) ORDER BY j.finished_at DESC LIMIT 1",
        (job.id,),
    )
    row = await cursor.fetchone()
    return row["id"] if row is not None else None


async def say_already(conn: Conn, job: Job, former: UUID) -> None:
    """Ends an import whose pages already exist; imports nothing."""
    await staging.undo(conn, job.id)
    await _result(conn, job, {"already": str(former), "pages": 0, "files": 0})


async def publish(conn: Conn, job: Job, kind: str) -> None:
    """Creates the pages, versions, comments and files of the import.

    Raises `JobFailedError` if the user may no longer write to the target.
    """
    await take_time(conn)
    assert job.space_id is not None  # noqa: S101 - an import has a space
    await access.lock_tree(conn, job.space_id)
    mode = job.payload.get("mode", "once")
    former = await same_import(conn, job) if mode != "copy" else None
    if former is not None and mode == "once":
        await say_already(conn, job, former)
        return
    viewer = await _viewer(conn, job)
    parent = await _parent(conn, job, viewer)
    if former is not None:
        await _replace(conn, job, viewer, former)
    await staging.free_pages(conn, job)
    await _make_pages(conn, job, parent)
    counts = await _make_rest(conn, job)
    await _tell(conn, job, parent, viewer)
    await staging.clear(conn, job.id)
    await _result(conn, job, {"source": kind, **counts})


async def _result(conn: Conn, job: Job, result: dict[str, Any]) -> None:
    await conn.execute("UPDATE jobs SET result = %s WHERE id = %s", (Jsonb(result), job.id))


async def _viewer(conn: Conn, job: Job) -> Viewer:
    """The user who started the import, with their current rights."""
    cursor = await conn.execute(
        "SELECT u.id, u.name, u.is_admin, ARRAY(SELECT group_id FROM group_members g"
        " WHERE g.user_id = u.id) AS groups FROM users u WHERE u.id = %s"
        " AND u.disabled_at IS NULL",
        (job.user_id,),
    )
    row = await cursor.fetchone()
    if row is None:
        raise JobFailedError("The account that started the import is disabled or deleted.")
    return Viewer(row["id"], row["name"], is_admin=row["is_admin"], groups=tuple(row["groups"]))


async def _parent(conn: Conn, job: Job, viewer: Viewer) -> DictRow | None:
    """The target page, if any. Raises if it was deleted or the user may not write to it."""
    given = job.payload.get("parent_id")
    if given is None:
        cursor = await conn.execute(
            "SELECT space_role(%s, %s, %s, %s) AS role", (job.space_id, *viewer.access)
        )
        row = await cursor.fetchone()
        if row is None or row["role"] < Role.EDITOR:
            raise JobFailedError("You may no longer create pages in this space.")
        return None
    cursor = await conn.execute(
        "SELECT id, access_root, page_role(space_id, access_root, %s, %s, %s) AS role FROM nodes"
        " WHERE id = %s AND space_id = %s AND trashed_at IS NULL FOR UPDATE",
        (*viewer.access, UUID(given), job.space_id),
    )
    row = await cursor.fetchone()
    if row is None:
        raise JobFailedError("The page to import below is in the trash or deleted.")
    if row["role"] < Role.EDITOR:
        raise JobFailedError("You may no longer create pages below that page.")
    return row


async def _make_pages(conn: Conn, job: Job, parent: DictRow | None) -> None:
    target = parent["id"] if parent else None
    await conn.execute(
        "WITH base AS (SELECT coalesce(max(position), 0) AS at FROM nodes"
        " WHERE space_id = %(space)s AND parent_id IS NOT DISTINCT FROM %(target)s)"
        " INSERT INTO nodes (id, space_id, parent_id, position, title, is_template, version, doc,"
        " body_text, search, access_root, created_by, created_at, updated_by, updated_at)"
        " SELECT p.node_id, %(space)s, coalesce(p.parent_id, %(target)s),"
        " CASE WHEN p.parent_id IS NULL THEN base.at ELSE 0 END + (p.ord + 1) * 1024::bigint,"
        " p.title, p.is_template, p.version, p.doc, p.body_text, p.search, %(root)s, %(by)s,"
        " least(coalesce(p.created_at, now()), now()), %(by)s,"
        " least(coalesce(p.updated_at, now()), now())"
        " FROM import_pages p, base WHERE p.job_id = %(job)s ORDER BY p.ord"
        # A version of this application that created pages one by one may have begun this job.
        " ON CONFLICT DO NOTHING",
        {
            "space": job.space_id,
            "target": target,
            "root": parent["access_root"] if parent else None,
            "by": job.user_id,
            "job": job.id,
        },
    )


async def _make_rest(conn: Conn, job: Job) -> dict[str, int]:
    given = {"job": job.id, "by": job.user_id}
    await conn.execute(
        "INSERT INTO revisions (node_id, version, title, doc, author_id, author_name, created_at,"
        " restored_from, size) SELECT node_id, version, title, doc, NULL, author_name,"
        " least(created_at, now()), restored_from, octet_length(doc::text)"
        " FROM import_revisions WHERE job_id = %(job)s"
        " UNION ALL SELECT node_id, version, title, doc,"
        " CASE WHEN updated_at IS NULL THEN %(by)s::uuid END, author_name,"
        " least(coalesce(updated_at, now()), now()), restored_from, octet_length(doc::text)"
        " FROM import_pages WHERE job_id = %(job)s ON CONFLICT DO NOTHING",
        given,
    )
    await conn.execute(
        "INSERT INTO links (from_node, to_node) SELECT node_id, unnest(links) FROM import_pages"
        " WHERE job_id = %(job)s ON CONFLICT DO NOTHING",
        given,
    )
    await conn.execute(
        "INSERT INTO comments (id, node_id, parent_id, author_name, body, quote, created_at,"
        " edited_at, resolved_at) SELECT comment_id, node_id, parent_id, author_name, body, quote,"
        " least(created_at, now()), edited_at, resolved_at FROM import_comments"
        " WHERE job_id = %(job)s",
        given,
    )
    files = await conn.execute(
        "INSERT INTO attachments (id, node_id, name, media_type, size, created_by, sha256, crc32)"
        " SELECT u.id, f.node_id, u.name, u.media_type, f.size, %(by)s, f.sha256, f.crc32"
        " FROM import_files f JOIN uploads u ON u.id = f.file_id"
        # Parts of the zip were stored as files without a page.
        " JOIN nodes n ON n.id = f.node_id WHERE f.job_id = %(job)s ON CONFLICT DO NOTHING",
        given,
    )
    return {**await _counts(conn, job), "files": files.rowcount}


async def say_ready(conn: Conn, job: Job, kind: str) -> None:
    """Ends a preview: its result has the numbers that the import will have."""
    cursor = await conn.execute(
        "SELECT count(*) AS files FROM import_files f JOIN import_pages p"
        " ON p.job_id = f.job_id AND p.node_id = f.node_id WHERE f.job_id = %s",
        (job.id,),
    )
    row = await cursor.fetchone()
    former = await same_import(conn, job)
    already = {"already": str(former)} if former is not None else {}
    counts = {**await _counts(conn, job), "files": row["files"] if row else 0}
    await _result(conn, job, {"source": kind, **counts, **already})


async def _counts(conn: Conn, job: Job) -> dict[str, int]:
    cursor = await conn.execute(
        "SELECT (SELECT count(*) FROM import_pages WHERE job_id = %(job)s) AS pages,"
        " count(*) FILTER (WHERE outcome <> 'left out' AND notes <> '{}') AS changed,"
        " count(*) FILTER (WHERE outcome = 'left out') AS left_out"
        " FROM import_report WHERE job_id = %(job)s",
        {"job": job.id},
    )
    return dict(await cursor.fetchone() or {})


async def _tell(conn: Conn, job: Job, parent: DictRow | None, viewer: Viewer) -> None:
    target = parent["id"] if parent else None
    given = {"job": job.id, "space": job.space_id, "target": target}
    await conn.execute(
        "INSERT INTO events (kind, space_id, node_id, data)"
        " SELECT 'page.made', %(space)s, node_id,"
        " json_build_object('parent_id', coalesce(parent_id, %(target)s::uuid))"
        " FROM import_pages WHERE job_id = %(job)s ORDER BY ord",
        given,
    )
    await conn.execute("SELECT pg_notify('app_events', '')")
    await conn.execute(
        "INSERT INTO audit (actor_id, actor_name, action, subject, space_id, node_id)"
        " SELECT %(actor)s, %(name)s, 'page.imported', title, %(space)s, node_id"
        " FROM import_pages WHERE job_id = %(job)s ORDER BY ord",
        {**given, "actor": viewer.user_id, "name": viewer.name},
    )


async def _replace(conn: Conn, job: Job, viewer: Viewer, former: UUID) -> None:
    """Moves the pages of an earlier import, with all below them, to the trash.

    Raises `JobFailedError` if the user may not change one of them.
    """
    cursor = await conn.execute(
        "WITH RECURSIVE made AS (SELECT n.id, n.parent_id FROM import_report r JOIN nodes n"
        " ON n.id = r.node_id WHERE r.job_id = %(former)s AND n.space_id = %(space)s"
        " AND n.trashed_at IS NULL), t AS (SELECT id, id AS top FROM made"
        " WHERE parent_id IS NULL OR parent_id NOT IN (SELECT id FROM made) UNION"
        " SELECT n.id, t.top FROM nodes n JOIN t ON n.parent_id = t.id"
        " WHERE n.trashed_at IS NULL)"
        " SELECT n.id, t.top, n.title, page_role(n.space_id, n.access_root, %(person)s,"
        " %(groups)s, %(admin)s) AS role FROM t JOIN nodes n ON n.id = t.id FOR UPDATE OF n",
        {
            "former": former,
            "space": job.space_id,
            "person": viewer.user_id,
            "groups": list(viewer.groups),
            "admin": viewer.is_admin,
        },
    )
    rows = await cursor.fetchall()
    if any(row["role"] < Role.EDITOR for row in rows):
        raise JobFailedError(
            "You may not change some of the pages of the earlier import; import a copy."
        )
    for row in rows:
        if row["id"] != row["top"]:
            continue
        below = [other["id"] for other in rows if other["top"] == row["id"]]
        await conn.execute(
            "UPDATE nodes SET trashed_at = now(), trashed_by = %s, trash_root = %s"
            " WHERE id = ANY (%s) AND trashed_at IS NULL",
            (viewer.user_id, row["id"], below),
        )
        where = {"space_id": job.space_id, "node_id": row["id"]}
        await tell(conn, "page.trashed", **where)
        await audit.note(conn, viewer, "page.trashed", row["title"], **where)
