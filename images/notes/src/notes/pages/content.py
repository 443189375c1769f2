"""What is written when a page's content is saved: document, text, search words, links.

Invariant: everything derived is written in the transaction that writes the document.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.doc.attributes import SchemaError
from notes.doc.html import derive
from notes.doc.markdown_in import parse
from notes.doc.schema import empty, normalise
from notes.doc.words import vector
from notes.http.problems import Problem

Title = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=300,
        pattern=r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$(?!\n)",
    ),
]
VersionNumber = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Markdown = Annotated[str, msgspec.Meta(max_length=2_000_000)]
BESIDE_CHARACTERS = 30_000  # larger documents are worked on beside the event loop


@dataclass(frozen=True, slots=True)
class Content:
    """A document, ready to be stored."""

    doc: str
    text: str
    search: str
    links: list[UUID]


async def prepare(title: str, doc: dict[str, Any] | None, markdown: str | None) -> Content:
    """Checks a document (or reads Markdown) and derives the rest.

    Raises a 422 that says where the document is wrong.
    """
    if doc is not None and markdown is not None:
        raise Problem(422, "Send doc or markdown, not both.", field="markdown")
    try:
        size = len(markdown) if markdown is not None else len(str(doc)) if doc else 0
    except RecursionError:
        raise Problem(422, "doc: has too many levels", field="doc") from None
    if size > BESIDE_CHARACTERS:
        return await asyncio.to_thread(_prepare, title, doc, markdown)
    return _prepare(title, doc, markdown)


def _prepare(title: str, doc: dict[str, Any] | None, markdown: str | None) -> Content:
    try:
        if markdown is not None:
            sound = parse(markdown)
        else:
            sound = empty() if doc is None else normalise(doc)
    except SchemaError as error:
        raise Problem(422, str(error), field=error.path) from None
    derived = derive(sound)
    return Content(
        msgspec.json.encode(sound).decode(),
        derived.text,
        vector(title, derived.text),
        derived.links,
    )


async def insert(
    conn: Conn,
    content: Content,
    title: str,
    *,
    space_id: UUID,
    parent_id: UUID | None,
    position: int | None,
    author: UUID | None,
    node_id: UUID | None = None,
    is_template: bool = False,
) -> UUID:
    """A new page with its first revision; last among its siblings unless `position` is given."""
    cursor = await conn.execute(
        "WITH made AS (INSERT INTO nodes (id, space_id, parent_id, position, title, is_template,"
        " doc, body_text, search, access_root, created_by, updated_by)"
        " VALUES (coalesce(%(id)s, gen_random_uuid()), %(space)s, %(parent)s,"
        " coalesce(%(position)s, (SELECT coalesce(max(position), 0) + 1024 FROM nodes"
        " WHERE space_id = %(space)s AND parent_id IS NOT DISTINCT FROM %(parent)s)),"
        " %(title)s, %(template)s, %(doc)s::json, %(text)s, %(search)s::tsvector,"
        " (SELECT access_root FROM nodes WHERE id = %(parent)s), %(author)s, %(author)s)"
        " RETURNING id, version, title, doc),"
        " first AS (INSERT INTO revisions (node_id, version, title, doc, author_id)"
        " SELECT id, version, title, doc, %(author)s FROM made)"
        " SELECT id FROM made",
        {
            "id": node_id,
            "space": space_id,
            "parent": parent_id,
            "position": position,
            "title": title,
            "template": is_template,
            "doc": content.doc,
            "text": content.text,
            "search": content.search,
            "author": author,
        },
    )
    row = await cursor.fetchone()
    made: UUID = row["id"]  # type: ignore[index]
    await _link(conn, made, content.links)
    return made


async def update(
    conn: Conn,
    node_id: UUID,
    content: Content,
    title: str,
    *,
    author: UUID | None,
    restored_from: int | None = None,
) -> None:
    """Stores the next version of a page that the transaction has locked. Asks for no answer."""
    await conn.execute(
        "WITH saved AS (UPDATE nodes SET title = %(title)s, doc = %(doc)s::json,"
        " body_text = %(text)s, search = %(search)s::tsvector, version = version + 1,"
        " updated_by = %(author)s, updated_at = now() WHERE id = %(id)s RETURNING version)"
        " INSERT INTO revisions (node_id, version, title, doc, author_id, restored_from)"
        " SELECT %(id)s, version, %(title)s, %(doc)s::json, %(author)s, %(from)s FROM saved",
        {
            "id": node_id,
            "title": title,
            "doc": content.doc,
            "text": content.text,
            "search": content.search,
            "author": author,
            "from": restored_from,
        },
    )
    await _link(conn, node_id, content.links)


async def _link(conn: Conn, node_id: UUID, links: list[UUID]) -> None:
    await conn.execute(
        "WITH gone AS (DELETE FROM links WHERE from_node = %(id)s AND to_node <> ALL (%(to)s))"
        " INSERT INTO links (from_node, to_node) SELECT %(id)s, unnest(%(to)s::uuid[])"
        " ON CONFLICT DO NOTHING",
        {"id": node_id, "to": links},
    )
