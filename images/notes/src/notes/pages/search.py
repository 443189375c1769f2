"""Full-text search over what somebody may read.

Invariant: a hit's text is taken out of pages that the search itself found readable, and comes as
pieces of plain text, never as HTML.
"""

from typing import Annotated, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.doc.words import query as to_query
from notes.doc.words import words
from notes.http.call import Call
from notes.http.endpoint import Table

table = Table("search")

AROUND = 80  # characters of context on either side
# Ranking reads each match whole. Of a query that matches more pages than these, those that match in
# the title are ranked, and as many others as there is time for.
CANDIDATES = 200
TITLES = 100
# The index knows which words a page has, not their order: that is read out of the pages, and as
# many pages as these can be read in time. Of more, those that changed last are looked at.
ORDER_LOOKED_AT = 5_000
LOOKED_AT = 200_000  # characters of a page in which the first hit is looked for

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
    # A title that matches makes the page match, unless its text has what must not occur.
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
        # A sum, or the planner may walk the index on the time and read every page on the way.
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
    """What to look for."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    space_id: UUID | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 20


class Fragment(msgspec.Struct, frozen=True):
    """A stretch of plain text; `hit` where a word of the query is."""

    text: str
    hit: bool


class Hit(msgspec.Struct, frozen=True):
    """A page that was found."""

    id: UUID
    space_id: UUID
    title: list[Fragment]
    excerpt: list[Fragment]
    rank: float


@table("GET", "/api/v1/search")
async def search(call: Call, query: SearchQuery) -> list[Hit]:
    """Pages that contain all the words, best first.

    "Quoted" words follow each other, -word must not occur, the last word may be a beginning.
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
        # The planner takes reading a page's words for free, and would read those of every page.
        await conn.execute("SET LOCAL enable_seqscan = off")
        return await (await conn.execute(_IN_ORDER, params)).fetchall()

    db = call.app.db
    rows = await (db.transact(in_order) if asked.has_order else db.all(_WORDS, params))
    marked = asked.marked
    return [
        Hit(
            row["id"],
            row["space_id"],
            highlight(row["title"], marked, whole=True),
            highlight(row["text"], marked),
            row["rank"],
        )
        for row in rows
    ]


def highlight(text: str, marked: list[str], *, whole: bool = False) -> list[Fragment]:
    """The stretch of `text` around its first hits, cut into hits and the rest."""
    begins = marked[-1]
    skipped = 0 if whole else _first(text, marked)
    if skipped:
        text = text[skipped:]
    spans = list[tuple[int, int]]()
    until = len(text)
    for word in words(text):
        if word.start > until:
            break
        if word.text in marked or word.text.startswith(begins):
            if not spans and not whole:
                until = word.end + 2 * AROUND
            if spans and word.start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(spans[-1][1], word.end))
            else:
                spans.append((word.start, word.end))
    start = 0 if whole or not spans else max(0, spans[0][0] - AROUND)
    end = len(text) if whole else min(len(text), until if spans else 2 * AROUND)
    fragments = list[Fragment]()
    at = start
    for low, high in spans:
        if low > at:
            fragments.append(Fragment(text[at:low], hit=False))
        fragments.append(Fragment(text[low:high], hit=True))
        at = high
    if at < end:
        fragments.append(Fragment(text[at:end], hit=False))
    return fragments


def _first(text: str, marked: list[str]) -> int:
    """Where to begin to look: shortly before the first place where a hit may be."""
    if not text.isascii():
        return 0  # folding moves characters
    low = text.lower()
    places = [at for at in (low.find(word) for word in marked) if at >= 0]
    return low.rfind(" ", 0, max(0, min(places) - AROUND)) + 1 if places else 0
