"""Pages: made, read, saved.

Invariant: a save names the version it is based on; a save based on an older one changes nothing and
is answered with both versions.
"""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.auth import audit
from notes.db.connect import Conn
from notes.doc.markdown_out import markdown
from notes.events.record import tell
from notes.http.call import Call
from notes.http.endpoint import Table
from notes.http.problems import Problem
from notes.pages import access, content
from notes.pages.content import Markdown, Title, VersionNumber
from notes.pages.roles import Role

table = Table("pages")


class Node(msgspec.Struct, frozen=True):
    """A page."""

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
    """A page to make: empty, from a document, from Markdown or from a template."""

    title: Title
    parent_id: UUID | None = None
    doc: dict[str, Any] | None = None
    markdown: Markdown | None = None
    template_id: UUID | None = None
    is_template: bool = False


class SaveIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new version of a page: what is left out stays as it is."""

    base_version: VersionNumber
    title: Title | None = None
    doc: dict[str, Any] | None = None
    markdown: Markdown | None = None


class Version(msgspec.Struct, frozen=True):
    """One version's content."""

    version: int
    title: str
    doc: msgspec.Raw


class Conflict(msgspec.Struct, frozen=True):
    """Both versions: what is stored, and what was sent."""

    theirs: Version
    yours: Version


_NODE: LiteralString = (
    "SELECT n.id, n.space_id, n.parent_id, n.title, n.version, n.is_template, n.doc, n.created_at,"
    " n.created_by, n.updated_at, n.updated_by, n.trashed_at,"
    " page_role(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS role,"
    " EXISTS (SELECT 1 FROM favourites f WHERE f.node_id = n.id AND f.user_id = %(person)s)"
    " AS is_favourite FROM nodes n WHERE n.id = %(id)s"
)


@table("GET", "/api/v1/nodes/{id}")
async def get_node(call: Call, id: UUID) -> Node:
    """A page with its document."""
    person, groups, is_admin = call.viewer.access
    row = await call.app.db.one(
        _NODE, {"person": person, "groups": groups, "admin": is_admin, "id": id}
    )
    is_editor = row is not None and row["role"] >= Role.EDITOR
    row = access.admit(call, row, Role.VIEWER, trashed=is_editor)
    row["role"] = Role(row["role"]).label
    return Node(**row)


@table("GET", "/api/v1/nodes/{id}/markdown", media_type="text/markdown")
async def get_markdown(call: Call, id: UUID) -> Response:
    """A page as Markdown."""
    node = await get_node(call, id)
    text = markdown(msgspec.json.decode(node.doc))
    return Response(text, media_type="text/markdown")


@table("POST", "/api/v1/spaces/{id}/nodes", scope="write", status=201)
async def post_node(call: Call, id: UUID, body: NodeIn) -> Node:
    """Make a page."""
    return await get_node(call, await make(call, id, body))  # type: ignore[no-any-return]


async def make(call: Call, space_id: UUID, body: NodeIn) -> UUID:
    """The id of a new page."""
    doc = body.doc
    if body.template_id is not None:
        if doc is not None or body.markdown is not None:
            raise Problem(422, "A template brings its own content.", field="template_id")
        template = await get_node(call, body.template_id)
        doc = msgspec.json.decode(template.doc)
    prepared = await content.prepare(body.title, doc, body.markdown)

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


@table("PUT", "/api/v1/nodes/{id}", scope="write")
async def put_node(call: Call, id: UUID, body: SaveIn) -> Version:
    """Save a page; a 409 carries both versions when somebody else has saved in the meantime."""
    return await save(call, id, body)


async def save(
    call: Call, node_id: UUID, body: SaveIn, restored_from: int | None = None
) -> Version:
    """Stores a new version. Raises a 409 with both versions for a stale `base_version`."""
    writes_doc = body.doc is not None or body.markdown is not None
    prepared = None
    if writes_doc and body.title is not None:
        prepared = await content.prepare(body.title, body.doc, body.markdown)

    async def work(conn: Conn) -> Version:
        row = await access.page(conn, call, node_id, Role.EDITOR, lock=True)
        title = body.title if body.title is not None else row["title"]
        stored = None
        if not writes_doc or row["version"] != body.base_version:
            stored = await _stored(conn, node_id)
        ready = prepared
        if ready is None:
            doc = body.doc
            if stored is not None and not writes_doc:
                doc = msgspec.json.decode(stored["doc"])
            ready = await content.prepare(title, doc, body.markdown)
        mine = Version(body.base_version, title, msgspec.Raw(ready.doc.encode()))
        if row["version"] != body.base_version and stored is not None:
            return _settle(call, stored, mine)
        version = body.base_version + 1
        # The row is locked and nothing here needs an answer: all of it in one round trip.
        async with conn.pipeline():
            await content.update(
                conn,
                node_id,
                ready,
                title,
                author=call.viewer.user_id,
                restored_from=restored_from,
            )
            where = {"space_id": row["space_id"], "node_id": node_id}
            await tell(conn, "page.saved", **where, version=version)
            action = "page.saved" if restored_from is None else "page.reverted"
            await audit.note(conn, call.viewer, action, title, **where, version=version)
        return Version(version, title, mine.doc)

    return await call.app.db.transact(work)


async def _stored(conn: Conn, node_id: UUID) -> DictRow | None:
    cursor = await conn.execute(
        "SELECT version, title, doc, updated_by FROM nodes WHERE id = %s", (node_id,)
    )
    return await cursor.fetchone()


def _settle(call: Call, stored: DictRow, mine: Version) -> Version:
    """A save repeated after an unknown outcome is done already; any other is a conflict."""
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
        f"The page is at version {theirs.version}, not {mine.version}: somebody else has saved.",
        field="base_version",
        current=Conflict(theirs, mine),
    )
