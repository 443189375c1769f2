"""Full-text search over the pages that the user may read.

Invariant: a hit's text comes only from pages that the query itself selected as readable, as pieces
of plain text, never as HTML.
"""

from typing import Annotated, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.doc.excerpt import Fragment
from notes.doc.tokenizer import query as to_query
from notes.http.context import Call
from notes.http.routing import Table

table = Table("search")

# Ranking reads each match whole. If a query matches more pages than CANDIDATES, it ranks up to
# TITLES pages that match in the title and CANDIDATES others.
CANDIDATES = 200
TITLES = 100
# The index has the words of a page, not their order: to check the order the pages are read, and
# only so many can be read in time. Of more matches, those that changed last are read.
ORDER_LOOKED_AT = 5_000
LOOKED_AT = 100_000  # characters of a page in which the first hit is searched

_MAY_READ: LiteralString = (
    "n.trashed_at IS NULL AND (%(space)s::uuid IS NULL OR n.space_id = %(space)s)"
    " AND CASE WHEN n.access_root IS NULL THEN n.space_id IN (SELECT id FROM may)"
    " ELSE %(admin)s OR n.access_root IN (SELECT node_id FROM rooted)"
    " OR n.space_id IN (SELECT space_id FROM managed) END"
)
_PLACES: LiteralString = (
    "WITH may AS MATERIALIZED (SELECT s.id FROM spaces s WHERE"
    " space_role(s.id, %(person)s, %(groups)s, %(admin)s) > 0),"
    " rooted AS MATERIALIZED (SELECT DISTINCT node_id FROM node_permissions"
    " WHERE principal = %(person)s OR principal = ANY (%(groups)s)),"
    " managed AS MATERIALIZED (SELECT m.space_id FROM space_members m WHERE m.role = 4"
    " AND (m.principal = %(person)s OR m.principal = ANY (%(groups)s))),"
)
_IN_TITLE: LiteralString = (
    # A page matches if its title does, unless its text has a word that must not occur.
    "(SELECT n.id, n.search FROM nodes n"
    " WHERE ts_filter(n.search, '{a}') @@ %(expression)s::tsquery"
    " AND (NOT %(has_without)s OR n.search @@ %(expression)s::tsquery) AND "
    + _MAY_READ
    + " LIMIT %(titles)s)"
)
_RANKED: LiteralString = (
    " ranked AS (SELECT id, max(ts_rank('{0.1,0.2,0.4,1}', search, %(expression)s::tsquery, 1))"
    " AS rank FROM found GROUP BY id ORDER BY rank DESC, id LIMIT %(limit)s)"
    " SELECT r.id, r.rank, n.space_id, n.title, left(n.body_text, %(looked)s) AS text"
    " FROM ranked r JOIN nodes n ON n.id = r.id ORDER BY r.rank DESC, r.id"
)
_WORDS: LiteralString = (
    _PLACES
    + " found AS MATERIALIZED ("
    + _IN_TITLE
    + " UNION ALL (SELECT n.id, n.search FROM nodes n WHERE n.search @@ %(expression)s::tsquery"
    " AND " + _MAY_READ + " LIMIT %(candidates)s)),"
) + _RANKED
_IN_ORDER: LiteralString = (
    (
        _PLACES
        # The sum keeps the planner from scanning the index on updated_at and reading every page.
        + " loose AS MATERIALIZED (SELECT n.id, n.search FROM nodes n"
        " WHERE n.search @@ %(loose)s::tsquery AND "
        + _MAY_READ
        + " ORDER BY n.updated_at + interval '0' DESC LIMIT %(order_looked_at)s),"
        " found AS MATERIALIZED ("
        + _IN_TITLE
        + " UNION ALL (SELECT id, search FROM loose WHERE search @@ %(expression)s::tsquery"
        " LIMIT %(candidates)s)),"
    )
    + _RANKED
)


class SearchQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The search text and its limits."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    space_id: UUID | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 20


class Hit(msgspec.Struct, frozen=True):
    """A page that matches."""

    id: UUID
    space_id: UUID
    title: list[Fragment]
    excerpt: list[Fragment]
    rank: float


@table("GET", "/api/v1/search")
async def search(call: Call, query: SearchQuery) -> list[Hit]:
    """Find the pages that contain all the words, best match first.

    "Quoted" words must follow each other, -word must not occur, the last word may be a beginning.
    """
    asked = to_query(query.q.replace("\0", " "))
    if not asked.expression:
        return []
    person, groups, is_admin = call.viewer.access
    params = {
        "person": person,
        "groups": groups,
        "admin": is_admin,
        "expression": asked.expression,
        "loose": asked.loose,
        "has_without": asked.has_without,
        "space": call.seen.site.space_id or query.space_id,
        "candidates": CANDIDATES,
        "titles": TITLES,
        "order_looked_at": ORDER_LOOKED_AT,
        "limit": query.limit,
        "looked": LOOKED_AT,
    }

    async def in_order(conn: Conn) -> list[DictRow]:
        # The planner ignores the cost of reading a page's words, and would read those of all pages.
        await conn.execute("SET LOCAL enable_seqscan = off")
        return await (await conn.execute(_IN_ORDER, params)).fetchall()

    db = call.app.db
    rows = await (db.transact(in_order) if asked.has_order else db.all(_WORDS, params))
    texts = [(row["title"], row["text"]) for row in rows]
    found = await call.app.documents.excerpts(call.account, texts, asked.marked)
    return [
        Hit(row["id"], row["space_id"], title, excerpt, row["rank"])
        for row, (title, excerpt) in zip(rows, found, strict=True)
    ]
