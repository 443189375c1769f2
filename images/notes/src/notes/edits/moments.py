"""API of a page's past: the document after any edit that is kept, its differences, its restore.

Invariant: a restore makes a new version and a new edit; nothing of the log changes.
"""

from datetime import datetime
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.edits.kept import Kept, kept
from notes.edits.live import EDITS
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.notifications import mentions
from notes.pages import access
from notes.pages.content import EditNumber
from notes.pages.revisions import Diff, RevertIn
from notes.pages.roles import Role
from notes.pages.saves import Version, save

table = Table("edits")


class Moment(msgspec.Struct, frozen=True):
    """A page after one of its edits."""

    seq: int
    at: datetime
    title: str
    doc: msgspec.Raw


class SinceQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The edit after which the page is compared."""

    since: EditNumber


@table("GET", "/api/v1/nodes/{id}/edits/{seq}")
async def get_moment(call: Call, id: UUID, seq: EditNumber) -> Moment:
    """Get a page as it was after an edit; a 410 if that moment is not kept any more."""

    async def work(conn: Conn) -> tuple[DictRow | None, list[DictRow], bool]:
        row = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, row)
        log = await kept(conn, id)
        if seq < log.first:
            raise _gone(seq, log)
        cursor = await conn.execute(
            "SELECT seq, at, title, doc FROM page_snapshots WHERE node_id = %(id)s"
            " AND seq <= %(seq)s"
            # A page without edits is as it was before the first.
            " UNION ALL SELECT 0, updated_at, title, doc FROM nodes WHERE id = %(id)s"
            " AND NOT EXISTS (SELECT 1 FROM page_logs WHERE node_id = %(id)s)"
            " ORDER BY seq DESC LIMIT 1",
            {"id": id, "seq": seq},
        )
        base = await cursor.fetchone()
        if base is None or base["seq"] == seq:
            return base, [], named
        rows = await conn.execute(EDITS, (id, base["seq"], seq - base["seq"]))
        return base, await rows.fetchall(), named

    base, edits, named = await call.app.db.run(work)
    if base is None or (edits[-1]["seq"] if edits else base["seq"]) != seq:
        raise not_found("edit")
    doc = bytes(base["doc"])
    if edits:
        steps = [bytes(edit["steps"]) for edit in edits if edit["steps"] is not None]
        doc = await call.app.documents.replay(call.account, doc, steps)
    doc = doc if named else mentions.hidden(doc)
    title = next((e["title"] for e in reversed(edits) if e["title"]), base["title"])
    return Moment(seq, edits[-1]["at"] if edits else base["at"], title, msgspec.Raw(doc))


@table("GET", "/api/v1/nodes/{id}/edits/{seq}/diff")
async def get_moment_diff(call: Call, id: UUID, seq: EditNumber, query: SinceQuery) -> Diff:
    """Compare a page as it was after two edits."""
    old, new = [await get_moment(call, id, number) for number in (query.since, seq)]
    pieces = await call.app.documents.compare_exact(call.account, bytes(old.doc), bytes(new.doc))
    return Diff(old.title, new.title, pieces)


@table("POST", "/api/v1/nodes/{id}/edits/{seq}/restore", scope="write")
async def restore_moment(call: Call, id: UUID, seq: EditNumber, body: RevertIn) -> Version:
    """Restore a page as it was after an edit, as a new version."""
    old = await get_moment(call, id, seq)
    given = body.of(old.title, old.doc)
    return await save(call, id, given, is_restore=True)


def _gone(seq: int, log: Kept) -> Problem:
    return Problem(
        410,
        f"The page after edit {seq} is not kept any more (edits are kept for {log.days} days);"
        f" edit {log.first} and later ones are, and so are the versions.",
    )
