"""The edits of a page after one of them, for an editor that has to catch up."""

from datetime import datetime
from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.edits import live
from notes.edits.live import LISTED_BYTES
from notes.http.problems import Problem, not_found
from notes.notifications import mentions

LISTED = 500


class Edit(msgspec.Struct, frozen=True):
    """One edit. Without steps and title the content was replaced: read the live document."""

    seq: int
    id: UUID
    client: UUID | None
    n: int | None
    author_id: UUID | None
    at: datetime
    steps: msgspec.Raw | None
    title: str | None


class Edits(msgspec.Struct, frozen=True):
    """Edits after a place in the log; `seq` and `id` are those of the last one stored.

    `is_known` is false if the given base is not in the log: go back to an edit that is.
    """

    seq: int
    id: UUID
    is_known: bool
    edits: list[Edit]


async def since(
    conn: Conn, node_id: UUID, since: int, base_id: UUID | None, *, named: bool
) -> Edits:
    """The edits after one. Raises a 410 if they are not kept any more, or the one itself is not:
    whether it was lost or is too old is not known then."""
    cursor = await conn.execute(
        "SELECT coalesce(l.seq, 0) AS seq, l.edit_id, n.version, n.updated_at, l.base_id,"
        " (SELECT min(seq) FROM page_edits WHERE node_id = n.id) AS first,"
        " (SELECT id FROM page_edits WHERE node_id = n.id AND seq = %(since)s) AS base"
        " FROM nodes n LEFT JOIN page_logs l ON l.node_id = n.id WHERE n.id = %(node)s",
        {"node": node_id, "since": since},
    )
    row = await cursor.fetchone()
    if row is None:
        raise not_found()
    last, last_id = row["seq"], row["edit_id"]
    last_id = last_id or live.first_id(row["version"], row["updated_at"])
    first, base = row["first"], row["base"]
    is_old = base_id is not None and base is None and since > 0
    if since < last and (first is None or since < first - 1 or is_old):
        raise Problem(410, f"The edits since {since} are not kept; read the live document.")
    cursor = await conn.execute(live.LISTED, (node_id, since, LISTED, LISTED_BYTES))
    rows = await cursor.fetchall()
    if since == last:
        base = last_id
    elif since == 0:
        base = row["base_id"]
    is_known = since <= last and base_id in {None, base}
    # An editor's id would tell a visitor of a public page which edits one person made.
    hidden = {} if named else {"author_id": None, "client": None, "n": None}
    edits = [Edit(**{**row, **hidden}) for row in rows]
    if not named:
        edits = [_unnamed(edit) for edit in edits]
    return Edits(last, last_id, is_known, edits)


def _unnamed(edit: Edit) -> Edit:
    """An edit that does not tell whose accounts its mentions mean."""
    if edit.steps is None:
        return edit
    return msgspec.structs.replace(edit, steps=msgspec.Raw(mentions.hidden(bytes(edit.steps))))
