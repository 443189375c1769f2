"""API to create, read and save pages.

Invariant: a save names its base version; a save with an older base version changes nothing and gets
an answer with both versions.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.auth import audit
from notes.db.connect import Conn
from notes.edits import saving
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import DOCUMENT_LIMIT_BYTES, Table
from notes.pages import access, content
from notes.pages.content import Markdown, Title, VersionNumber
from notes.pages.roles import Role

table = Table("pages")

ATTEMPTS = 5


class Node(msgspec.Struct, frozen=True):
    """A page with its document."""

    id: UUID
    space_id: UUID
    parent_id: UUID | None
    title: str
    version: int
    is_template: bool
    role: str
    doc: msgspec.Raw
    created_at: datetime
    created_by: UUID | None
    updated_at: datetime
    updated_by: UUID | None
    trashed_at: datetime | None
    is_favourite: bool


class NodeIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page to create: empty, from a document, from Markdown or from a template."""

    title: Title
    parent_id: UUID | None = None
    doc: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    markdown: Markdown | None = None
    template_id: UUID | None = None
    is_template: bool = False


class SaveIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new version of a page; omitted fields stay unchanged."""

    base_version: VersionNumber
    title: Title | None = None
    doc: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    markdown: Markdown | None = None


class Version(msgspec.Struct, frozen=True):
    """The content of one version."""

    version: int
    title: str
    doc: msgspec.Raw


class Conflict(msgspec.Struct, frozen=True):
    """Both versions: the stored one and the sent one."""

    theirs: Version
    yours: Version


_NODE: LiteralString = (
    "SELECT n.id, n.space_id, n.parent_id, n.title, n.version, n.is_template, n.doc, n.created_at,"
    " n.created_by, n.updated_at, n.updated_by, n.trashed_at,"
    " page_role(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS role,"
    " page_insider(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS inside,"
    " EXISTS (SELECT 1 FROM favourites f WHERE f.node_id = n.id AND f.user_id = %(person)s)"
    " AS is_favourite FROM nodes n WHERE n.id = %(id)s"
)


@table("GET", "/api/v1/nodes/{id}")
async def get_node(call: Call, id: UUID) -> Node:
    """Get a page with its document."""
    person, groups, is_admin = call.viewer.access
    row = await call.app.db.one(
        _NODE, {"person": person, "groups": groups, "admin": is_admin, "id": id}
    )
    is_editor = row is not None and row["role"] >= Role.EDITOR
    row = access.admit(call, row, Role.VIEWER, trashed=is_editor)
    row["role"] = Role(row["role"]).label
    if not row.pop("inside"):
        row["created_by"] = row["updated_by"] = None
    return Node(**row)


@table("GET", "/api/v1/nodes/{id}/markdown", media_type="text/markdown")
async def get_markdown(call: Call, id: UUID) -> Response:
    """Get a page as Markdown."""
    node = await get_node(call, id)
    text = await call.app.documents.markdown(call.account, bytes(node.doc))
    return Response(text, media_type="text/markdown")


@table(
    "POST",
    "/api/v1/spaces/{id}/nodes",
    scope="write",
    status=201,
    body_bytes=DOCUMENT_LIMIT_BYTES,
)
async def post_node(call: Call, id: UUID, body: NodeIn) -> Node:
    """Create a page."""
    return await get_node(call, await make(call, id, body))  # type: ignore[no-any-return]


async def make(call: Call, space_id: UUID, body: NodeIn) -> UUID:
    """Creates a page and returns its id."""
    doc = content.given(body.doc)
    if body.template_id is not None:
        if doc is not None or body.markdown is not None:
            raise Problem(422, "A template brings its own content.", field="template_id")
        template = await get_node(call, body.template_id)
        doc = bytes(template.doc)
    if content.is_large(doc, body.markdown):
        await call.app.db.run(partial(_may_make, call=call, space_id=space_id, body=body))
    prepared = await content.prepare(
        call.app.documents, call.account, body.title, doc, body.markdown
    )

    async def work(conn: Conn) -> UUID:
        await access.space(conn, call, space_id, Role.VIEWER)
        if body.parent_id is None:
            await access.space(conn, call, space_id, Role.EDITOR)
            await access.lock_tree(conn, space_id)
        else:
            parent = await access.page_in_tree(conn, call, body.parent_id, Role.EDITOR)
            if parent["space_id"] != space_id:
                raise Problem(422, "The parent is in another space.", field="parent_id")
        made = await content.insert(
            conn,
            prepared,
            body.title,
            space_id=space_id,
            parent_id=body.parent_id,
            position=None,
            author=call.viewer.user_id,
            is_template=body.is_template,
        )
        await tell(conn, "page.made", space_id=space_id, node_id=made, parent_id=body.parent_id)
        await audit.note(
            conn, call.viewer, "page.made", body.title, space_id=space_id, node_id=made
        )
        return made

    return await call.app.db.transact(work)


async def _may_make(conn: Conn, call: Call, space_id: UUID, body: NodeIn) -> None:
    await access.space(conn, call, space_id, Role.VIEWER)
    if body.parent_id is None:
        await access.space(conn, call, space_id, Role.EDITOR)
    else:
        await access.page(conn, call, body.parent_id, Role.EDITOR)


@table("PUT", "/api/v1/nodes/{id}", scope="write", body_bytes=DOCUMENT_LIMIT_BYTES)
async def put_node(call: Call, id: UUID, body: SaveIn) -> Version:
    """Save a page; a 409 with both versions if another user has saved in the meantime."""
    return await save(call, id, body)


async def save(
    call: Call, node_id: UUID, body: SaveIn, restored_from: int | None = None
) -> Version:
    """Stores a new version. Raises a 409 with both versions for a stale `base_version`."""
    sent = content.given(body.doc)
    writes_doc = sent is not None or body.markdown is not None
    for _ in range(ATTEMPTS):
        title, doc, seen = body.title, sent, body.base_version
        if title is None or not writes_doc or content.is_large(sent, body.markdown):
            before = await call.app.db.run(lambda conn: _before(conn, call, node_id))
            title, seen = title or before["title"], before["version"]
            doc = sent if writes_doc else bytes(before["doc"])
        # Outside of the transaction: it takes long, and would hold the page and a connection.
        ready = await content.prepare(call.app.documents, call.account, title, doc, body.markdown)
        draft = Draft(body, title, ready, None if writes_doc else seen, restored_from)
        saved = await call.app.db.transact(partial(_store, call=call, id=node_id, draft=draft))
        if saved is not None:
            return saved
        await call.app.edits.save(node_id)
    raise Problem(409, "The page is being changed by others; reload it.")


@dataclass(frozen=True, slots=True)
class Draft:
    """A version to save; `based_on` is the version whose document is kept, if one is."""

    body: SaveIn
    title: str
    ready: content.Content
    based_on: int | None
    restored_from: int | None


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
    if row["version"] != body.base_version:
        stored = await _stored(conn, id)
        if stored is not None:
            return _settle(call, stored, mine)
    if draft.based_on not in {None, row["version"]}:
        return None
    version = body.base_version + 1
    if log is not None:
        change = saving.Change(version, title, ready.doc, call.viewer.user_id)
        await saving.append(conn, id, change)
    # The row is locked and no statement needs the answer of another: use one round trip.
    async with conn.pipeline():
        await content.update(
            conn, id, ready, title, author=call.viewer.user_id, restored_from=draft.restored_from
        )
        where = {"space_id": row["space_id"], "node_id": id}
        await tell(conn, "page.saved", **where, version=version)
        action = "page.saved" if draft.restored_from is None else "page.reverted"
        await audit.note(conn, call.viewer, action, title, **where, version=version)
    return Version(version, title, mine.doc)


async def _stored(conn: Conn, node_id: UUID) -> DictRow | None:
    cursor = await conn.execute(
        "SELECT version, title, doc, updated_by FROM nodes WHERE id = %s", (node_id,)
    )
    return await cursor.fetchone()


def _settle(call: Call, stored: DictRow, mine: Version) -> Version:
    """Returns the stored version if this save repeats it; raises a 409 for a conflict."""
    theirs = Version(stored["version"], stored["title"], stored["doc"])
    is_repeat = (
        stored["version"] == mine.version + 1
        and stored["updated_by"] == call.viewer.user_id
        and stored["title"] == mine.title
        and bytes(stored["doc"]) == bytes(mine.doc)
    )
    if is_repeat:
        return theirs
    raise Problem(
        409,
        f"The page is at version {theirs.version}, not {mine.version}: another user has saved.",
        field="base_version",
        current=Conflict(theirs, mine),
    )
