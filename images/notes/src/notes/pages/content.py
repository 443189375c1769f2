"""Writes a page's content: document, text, search words, links.

Invariant: derived data is written in the transaction that writes the document.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.http.problems import Problem
from notes.notifications import mentions
from notes.workers.documents import Documents

Title = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=300,
        # Each character can match in one way only: backtracking would make a refusal slow.
        pattern=r"^[^\S\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$(?!\n)",
    ),
]
LARGE = 10_000
VersionNumber = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
#: A page's `updated_at` at its base version: a failover may lose that version, and another one get
#: its number.
BaseMoment = Annotated[datetime, msgspec.Meta(tz=True)]
EditNumber = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Markdown = Annotated[str, msgspec.Meta(max_length=2_000_000)]


@dataclass(frozen=True, slots=True)
class Content:
    """A document ready to be stored; `links` is a PostgreSQL array of page ids."""

    doc: str
    text: str
    search: str
    links: str
    size: int


async def prepare(
    documents: Documents,
    account: str,
    title: str,
    doc: bytes | None,
    markdown: str | None,
    *,
    patient: bool = False,
) -> Content:
    """Checks a document (or reads Markdown) and derives the other data, charged to `account`.

    Raises a 422 that names the place of an error in the document.
    """
    if doc is not None and markdown is not None:
        raise Problem(422, "Send doc or markdown, not both.", field="markdown")
    made = await documents.prepare(account, title, doc, markdown, patient=patient)
    return Content(made.doc.decode(), made.text, made.search, made.links, len(made.doc))


async def mentioned(content: Content) -> Counter[UUID]:
    """The number of mentions of each user in a document."""
    doc = content.doc.encode()
    if len(doc) > LARGE:
        return await asyncio.to_thread(mentions.in_document, doc)
    return mentions.in_document(doc)


def is_large(doc: bytes | None, markdown: str | None) -> bool:
    """True if a document is so large that permissions are checked before it is prepared."""
    return len(doc or b"") > LARGE or len(markdown or "") > LARGE


def given(doc: msgspec.Raw) -> bytes | None:
    """The document of a request's field; None if it was omitted or is null."""
    content = bytes(doc)
    return None if content in _ABSENT else content


_ABSENT = (b"", b"null")


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
    """Inserts a page with its first revision, as the last sibling unless `position` is given."""
    cursor = await conn.execute(
        "WITH made AS (INSERT INTO nodes (id, space_id, parent_id, position, title, is_template,"
        " doc, body_text, search, access_root, created_by, updated_by)"
        " VALUES (coalesce(%(id)s, gen_random_uuid()), %(space)s, %(parent)s,"
        " coalesce(%(position)s, (SELECT coalesce(max(position), 0) + 1024 FROM nodes"
        " WHERE space_id = %(space)s AND parent_id IS NOT DISTINCT FROM %(parent)s)),"
        " %(title)s, %(template)s, %(doc)s::json, %(text)s, %(search)s::tsvector,"
        " (SELECT access_root FROM nodes WHERE id = %(parent)s), %(author)s, %(author)s)"
        " RETURNING id, version, title, doc),"
        " first AS (INSERT INTO revisions (node_id, version, title, doc, author_id, size)"
        " SELECT id, version, title, doc, %(author)s, %(size)s FROM made)"
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
            "size": content.size,
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
    """Stores the next version of a page that the transaction has locked. Reads no result."""
    await conn.execute(
        "WITH saved AS (UPDATE nodes SET title = %(title)s, doc = %(doc)s::json,"
        " body_text = %(text)s, search = %(search)s::tsvector, version = version + 1,"
        " updated_by = %(author)s, updated_at = now() WHERE id = %(id)s RETURNING version)"
        " INSERT INTO revisions (node_id, version, title, doc, author_id, restored_from, size)"
        " SELECT %(id)s, version, %(title)s, %(doc)s::json, %(author)s, %(from)s, %(size)s"
        " FROM saved",
        {
            "id": node_id,
            "title": title,
            "doc": content.doc,
            "text": content.text,
            "search": content.search,
            "author": author,
            "from": restored_from,
            "size": content.size,
        },
    )
    await _link(conn, node_id, content.links)


async def _link(conn: Conn, node_id: UUID, links: str) -> None:
    await conn.execute(
        "WITH gone AS (DELETE FROM links WHERE from_node = %(id)s"
        " AND to_node <> ALL (%(to)s::uuid[]))"
        " INSERT INTO links (from_node, to_node) SELECT %(id)s, unnest(%(to)s::uuid[])"
        " ON CONFLICT DO NOTHING",
        {"id": node_id, "to": links},
    )
