"""Saves a page as its next version.

Invariant: a save names its base version; a save with an older base version, or with one that a
failover has lost, as far as it names the moment, changes nothing and gets an answer with both
versions.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit
from notes.db.connect import Conn
from notes.edits import saving
from notes.edits.live import first_id
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.notifications import record
from notes.pages import access, content
from notes.pages.content import BaseMoment, Markdown, Title, VersionNumber
from notes.pages.roles import Role

ATTEMPTS = 5


class SaveIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new version of a page; omitted fields stay unchanged."""

    base_version: VersionNumber
    title: Title | None = None
    doc: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    markdown: Markdown | None = None
    base_updated_at: BaseMoment | None = None


class Version(msgspec.Struct, frozen=True):
    """The content of one version; `updated_at` is the moment that a save based on it names, None
    for one that was not stored."""

    version: int
    title: str
    doc: msgspec.Raw
    updated_at: datetime | None = None


class Conflict(msgspec.Struct, frozen=True):
    """Both versions: the stored one and the sent one."""

    theirs: Version
    yours: Version


async def save(
    call: Call,
    node_id: UUID,
    body: SaveIn,
    restored_from: int | None = None,
    *,
    is_restore: bool = False,
) -> Version:
    """Stores a new version. Raises a 409 with both versions for a stale `base_version`.

    Nobody gets notifications of mentions that a restore brings back.
    """
    sent = content.given(body.doc)
    writes_doc = sent is not None or body.markdown is not None
    for _ in range(ATTEMPTS):
        title, doc, seen = body.title, sent, None
        if title is None or not writes_doc or content.is_large(sent, body.markdown):
            before = await call.app.db.run(lambda conn: _before(conn, call, node_id))
            title = title or before["title"]
            seen = first_id(before["version"], before["updated_at"])
            doc = sent if writes_doc else bytes(before["doc"])
        # Outside of the transaction: it takes long, and would hold the page and a connection.
        ready = await content.prepare(call.app.documents, call.account, title, doc, body.markdown)
        quiet = is_restore or restored_from is not None
        found = await content.mentioned(ready)
        based_on = None if writes_doc else seen
        draft = Draft(body, title, ready, based_on, restored_from, found, quiet=quiet)
        saved = await call.app.db.transact(partial(_store, call=call, id=node_id, draft=draft))
        if saved is not None:
            return saved
        await call.app.edits.save(node_id)
    raise Problem(409, "The page is being changed by others; reload it.")


@dataclass(frozen=True, slots=True)
class Draft:
    """A version to save; `based_on` is the id of the version whose document is kept, if one is.

    A failover may lose that version, and another one have its number by the time of the save.
    """

    body: SaveIn
    title: str
    ready: content.Content
    based_on: UUID | None
    restored_from: int | None
    mentioned: Counter[UUID]
    quiet: bool


async def _before(conn: Conn, call: Call, node_id: UUID) -> DictRow:
    await access.page(conn, call, node_id, Role.EDITOR)
    row = await _stored(conn, node_id)
    if row is None:
        raise not_found()
    return row


async def _store(conn: Conn, call: Call, id: UUID, draft: Draft) -> Version | None:
    """Stores the version and returns it.

    None if the kept title or document has changed, or edits have to be saved before.
    """
    body, ready, title = draft.body, draft.ready, draft.title
    row = await access.page(conn, call, id, Role.EDITOR, lock=True)
    log = await saving.log_of(conn, id)
    if log is saving.Log.WAITS:
        return None
    if body.title is None and row["title"] != title:
        return None
    mine = Version(body.base_version, title, msgspec.Raw(ready.doc.encode()))
    is_base = body.base_updated_at in {None, row["updated_at"]}
    if row["version"] != body.base_version or not is_base:
        stored = await _stored(conn, id)
        if stored is not None:
            return _settle(call, stored, mine)
    if draft.based_on not in {None, first_id(row["version"], row["updated_at"])}:
        return None
    version = body.base_version + 1
    if log is not None:
        change = saving.Change(version, title, ready.doc, call.viewer.user_id)
        await saving.append(conn, id, change)
    by = record.Where(row["space_id"], id, call.viewer.user_id)
    await record.page_mentions(conn, by, draft.mentioned, quiet=draft.quiet)
    await record.page_saved(conn, by)
    # The row is locked and no statement needs the answer of another: use one round trip.
    async with conn.pipeline():
        moment = await conn.execute("SELECT now() AS at")
        await content.update(
            conn, id, ready, title, author=call.viewer.user_id, restored_from=draft.restored_from
        )
        where = {"space_id": row["space_id"], "node_id": id}
        await tell(conn, "page.saved", **where, version=version)
        action = "page.saved" if draft.restored_from is None else "page.reverted"
        await audit.note(conn, call.viewer, action, title, **where, version=version)
    stored = await moment.fetchone()
    return Version(version, title, mine.doc, stored["at"] if stored else None)


async def _stored(conn: Conn, node_id: UUID) -> DictRow | None:
    cursor = await conn.execute(
        "SELECT version, title, doc, updated_by, updated_at FROM nodes WHERE id = %s", (node_id,)
    )
    return await cursor.fetchone()


def _settle(call: Call, stored: DictRow, mine: Version) -> Version:
    """Returns the stored version if this save repeats it; raises a 409 for a conflict."""
    theirs = Version(stored["version"], stored["title"], stored["doc"], stored["updated_at"])
    is_repeat = (
        stored["version"] == mine.version + 1
        and stored["updated_by"] == call.viewer.user_id
        and stored["title"] == mine.title
        and bytes(stored["doc"]) == bytes(mine.doc)
    )
    if is_repeat:
        return theirs
    at = f"at version {theirs.version}, not {mine.version}"
    if theirs.version == mine.version:
        at = f"at another version {theirs.version} than yours, which a failover has lost"
    raise Problem(
        409,
        f"The page is {at}: another user has saved.",
        field="base_version",
        current=Conflict(theirs, mine),
    )
