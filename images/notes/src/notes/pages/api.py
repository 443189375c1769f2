"""API to create, read and save pages."""

from datetime import datetime
from functools import partial
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from starlette.responses import Response

from notes.auth import audit
from notes.db.connect import Conn
from notes.edits import live, newest
from notes.events.record import tell
from notes.http.compression import shortened
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import DOCUMENT_LIMIT_BYTES, Table
from notes.notifications import mentions, record
from notes.pages import access, content, repeats
from notes.pages.content import Markdown, Title
from notes.pages.roles import Role
from notes.pages.saves import SaveIn, Version, save

table = Table("pages")


class Base(msgspec.Struct, frozen=True):
    """The place in a page's edit log up to which a document has its edits."""

    seq: int
    id: UUID


class Node(msgspec.Struct, frozen=True):
    """A page with its document.

    `edit` is the base of an editor's steps on exactly this document. It is null where the saved
    document differs from that of the log, in empty paragraphs for example, and for visitors.
    """

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
    is_watched: bool
    edit: Base | None


class NodeIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page to create: empty, from a document, from Markdown or from a template.

    With a `key` a repeat makes no second page, and the key decides the page's id.
    """

    title: Title
    parent_id: UUID | None = None
    doc: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    markdown: Markdown | None = None
    template_id: UUID | None = None
    is_template: bool = False
    key: UUID | None = None


_NODE: LiteralString = (
    "SELECT n.id, n.space_id, n.parent_id, n.title, n.version, n.is_template, n.doc, n.created_at,"
    " n.created_by, n.updated_at, n.updated_by, n.trashed_at,"
    " page_role(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS role,"
    " page_insider(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS inside,"
    " EXISTS (SELECT 1 FROM favourites f WHERE f.node_id = n.id AND f.user_id = %(person)s)"
    " AS is_favourite, coalesce((SELECT w.is_on FROM watches w WHERE w.node_id = n.id"
    " AND w.user_id = %(person)s), n.created_by = %(person)s, false) AS is_watched,"
    # In this statement, so that the document and its base are of one moment.
    " l.node_id IS NOT NULL AS has_log, l.doc IS NULL AS is_exact, l.saved_seq,"
    " CASE WHEN l.saved_seq = l.seq THEN l.edit_id WHEN l.saved_seq = 0 THEN l.base_id"
    " ELSE (SELECT e.id FROM page_edits e WHERE e.node_id = n.id AND e.seq = l.saved_seq)"
    " END AS saved_id"
    " FROM nodes n LEFT JOIN page_logs l ON l.node_id = n.id WHERE n.id = %(id)s"
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
    row["edit"] = _base(row)
    if not row.pop("inside"):
        row["edit"] = None
        row["created_by"] = row["updated_by"] = None
        row["doc"] = msgspec.Raw(mentions.hidden(bytes(row["doc"])))
    return Node(**row)


def _base(row: dict[str, Any]) -> Base | None:
    """Takes what a page's row says of its log; returns the base of the row's document, if any."""
    has_log, is_exact = row.pop("has_log"), row.pop("is_exact")
    seq, edit_id = row.pop("saved_seq"), row.pop("saved_id")
    if not has_log:
        return Base(0, live.first_id(row["version"], row["updated_at"]))
    # Of a saved edit that is older than the log no id is kept.
    return Base(seq, edit_id) if is_exact and edit_id else None


@table("GET", "/api/v1/nodes/{id}/markdown", media_type="text/markdown")
async def get_markdown(call: Call, id: UUID) -> Response:
    """Get a page as Markdown."""
    await get_node(call, id)
    # With what was written a moment ago, too.
    unsaved = await newest.save(call.app.db, call.app.edits, id)
    node = await get_node(call, id)
    doc = bytes(node.doc)
    if unsaved:
        is_named = await call.app.db.run(partial(_is_insider, call=call, node_id=id))
        doc = unsaved.doc if is_named else mentions.hidden(unsaved.doc)
    text = await call.app.documents.markdown(call.account, doc)
    return await shortened(call.request, Response(text, media_type="text/markdown"))


async def _is_insider(conn: Conn, call: Call, node_id: UUID) -> bool:
    row = await access.page(conn, call, node_id, Role.VIEWER, trashed=True)
    return await access.is_insider(conn, call, row)


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
    """Creates a page and returns its id; of a repeated request, the id of the first one's page."""
    key = body.key
    own = repeats.own_id(call.viewer.person, key) if key else None
    if key and own:
        is_made: bool = await call.app.db.run(partial(_is_made, call=call, key=key, own=own))
        if is_made:
            return own
    doc = content.given(body.doc)
    if body.template_id is not None:
        if doc is not None or body.markdown is not None:
            raise Problem(422, "A template brings its own content.", field="template_id")
        await get_node(call, body.template_id)
        # The copy has what was written a moment ago, too.
        await call.app.edits.save(body.template_id)
        template = await get_node(call, body.template_id)
        doc = bytes(template.doc)
    if content.is_large(doc, body.markdown):
        await call.app.db.run(partial(_may_make, call=call, space_id=space_id, body=body))
    prepared = await content.prepare(
        call.app.documents, call.account, body.title, doc, body.markdown
    )

    found = await content.mentioned(prepared)

    async def work(conn: Conn) -> UUID:
        if own:
            # The first statement: of two at once, one waits for the other here.
            is_repeat = await repeats.is_repeat(conn, call, key, own, own)
            if await _is_there(conn, own):
                return own
            if is_repeat:
                raise repeats.gone()
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
            node_id=own,
        )
        await tell(conn, "page.made", space_id=space_id, node_id=made, parent_id=body.parent_id)
        # What a template mentions was written by others, and is not new.
        quiet = body.template_id is not None
        where = record.Where(space_id, made, call.viewer.user_id)
        await record.page_mentions(conn, where, found, is_new=True, quiet=quiet)
        await audit.note(
            conn, call.viewer, "page.made", body.title, space_id=space_id, node_id=made
        )
        return made

    return await call.app.db.transact(work)


async def _is_made(conn: Conn, call: Call, key: UUID, own: UUID) -> bool:
    """True if an earlier request with the key has made the page. Raises a 410 if it is deleted."""
    if not await repeats.is_done(conn, call, key):
        return False
    if not await _is_there(conn, own):
        raise repeats.gone()
    return True


async def _is_there(conn: Conn, node_id: UUID) -> bool:
    cursor = await conn.execute("SELECT 1 FROM nodes WHERE id = %s", (node_id,))
    return await cursor.fetchone() is not None


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
