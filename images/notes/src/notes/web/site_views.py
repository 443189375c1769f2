"""The files of a space's site that other programs read: colours, feed, site map, robots.txt.

Invariant: feed and site map list only what anybody may read, for every client alike; a site that
is not public has neither.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, LiteralString
from xml.sax.saxutils import escape

import msgspec
from psycopg.rows import DictRow
from starlette.responses import Response

from notes.db.connect import Conn, rows_of
from notes.http.context import Call
from notes.http.look import Look
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.web.style import COLOURS

table = Table("site")

PART = 5_000  # addresses in one site map; a larger site has an index of its maps
NEWEST = 30  # entries of the feed
SUMMARY_CHARACTERS = 300
_XML = "application/xml; charset=utf-8"
_ATOM = "application/atom+xml; charset=utf-8"
_OF_ANYBODY: LiteralString = (
    " FROM nodes n JOIN spaces s ON s.id = n.space_id WHERE n.space_id = %(space)s AND s.public"
    " AND n.trashed_at IS NULL AND n.access_root IS NULL AND NOT n.is_template"
)


class MapQuery(msgspec.Struct, frozen=True):
    """The number of a part of the site map, from 1; 0: all of it, or the index of its parts."""

    part: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0


def _site(call: Call) -> Look:
    look = call.seen.site.look
    if look is None:
        raise Problem(404, "There is nothing at this address.")
    return look


@table("GET", COLOURS, scope=None, media_type="text/css")
async def site_colours(call: Call) -> Response:
    """Get the style sheet with the colours of a space's site."""
    look = _site(call)
    row = await call.app.db.one(
        "SELECT space_role(%s, %s, %s, %s) > 0 AS sees",
        (call.seen.site.space_id, *call.viewer.access),
    )
    if look.light is None or look.dark is None or row is None or not row["sees"]:
        raise Problem(404, "There is nothing at this address.")
    text = (
        f":root {{ --link: {look.light}; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ --link: {look.dark}; }} }}\n"
        # On paper the ground is white.
        f"@media print {{ :root {{ --link: {look.light}; }} }}\n"
    )
    # The address of other colours is another one.
    is_present = call.request.query_params.get("v") == f"{look.light[1:]}{look.dark[1:]}"
    kept = "private, max-age=86400" if is_present else "private, no-cache"
    return Response(text, headers={"cache-control": kept}, media_type="text/css")


@table("GET", "/robots.txt", scope=None, media_type="text/plain")
async def robots(call: Call) -> Response:
    """Get the rules for search engines of a space's site."""
    look = _site(call)
    if not look.is_public:
        text = "User-agent: *\nDisallow: /\n"
    elif not look.is_indexed:
        # Only who may read the pages sees that they are not to be listed.
        text = "User-agent: *\nDisallow:\n"
    else:
        text = (
            "User-agent: *\nDisallow: /login\nDisallow: /search\nDisallow: /w\n"
            f"Sitemap: {call.seen.origin}/sitemap.xml\n"
        )
    return Response(text, headers={"cache-control": "no-cache"}, media_type="text/plain")


@table("GET", "/sitemap.xml", scope=None, statuses=(304,), media_type="application/xml")
async def sitemap(call: Call, query: MapQuery) -> Response:
    """Get the addresses of the pages of a public site that search engines may list."""
    if not _site(call).is_indexed:
        raise Problem(404, "This site has no site map.")

    async def work(conn: Conn) -> tuple[int, list[DictRow]]:
        space = {"space": call.seen.site.space_id}
        cursor = await conn.execute("SELECT count(*) AS pages" + _OF_ANYBODY, space)
        row = await cursor.fetchone()
        pages = row["pages"] if row else 0
        if query.part == 0 and pages > PART:
            return pages, []
        cursor = await conn.execute(
            "SELECT n.id, n.updated_at"
            + _OF_ANYBODY
            + " ORDER BY n.id LIMIT %(part)s OFFSET %(at)s",
            {**space, "part": PART, "at": max(0, query.part - 1) * PART},
        )
        return pages, [found async for found in rows_of(cursor)]

    pages, rows = await call.app.db.run(work)
    if not await _is_public(call) or (query.part > 0 and not rows):
        raise Problem(404, "This site has no such site map.")
    origin = call.seen.origin
    if query.part == 0 and pages > PART:
        parts = range(1, -(-pages // PART) + 1)
        lines = [f"<sitemap><loc>{origin}/sitemap.xml?part={one}</loc></sitemap>" for one in parts]
        return _answer(call, _XML, _map("sitemapindex", lines))
    front = [f"<url><loc>{origin}/</loc></url>"] if query.part <= 1 else []
    listed = (
        f"<url><loc>{origin}/p/{row['id']}</loc>"
        f"<lastmod>{row['updated_at'].isoformat(timespec='seconds')}</lastmod></url>"
        for row in rows
    )
    return _answer(call, _XML, _map("urlset", [*front, *listed]))


@table("GET", "/feed.xml", scope=None, statuses=(304,), media_type="application/atom+xml")
async def feed(call: Call) -> Response:
    """Get the pages of a public site that changed last, as an Atom feed."""
    look = _site(call)
    rows = await call.app.db.all(
        "SELECT n.id, n.title, n.created_at, n.updated_at, left(n.body_text, %(most)s) AS text"
        + _OF_ANYBODY
        + " ORDER BY n.updated_at DESC, n.id LIMIT %(newest)s",
        {
            "space": call.seen.site.space_id,
            "most": SUMMARY_CHARACTERS,
            "newest": NEWEST,
        },
    )
    if not await _is_public(call):
        raise Problem(404, "This site has no feed.")
    return _answer(call, _ATOM, "\n".join(_feed(call.seen.origin, look, rows)))


async def _is_public(call: Call) -> bool:
    """True if anybody may read the space; from the database, since the map may be older."""
    row = await call.app.db.one(
        "SELECT public FROM spaces WHERE id = %s", (call.seen.site.space_id,)
    )
    return row is not None and row["public"]


def _map(kind: str, lines: Iterable[str]) -> str:
    inner = "\n".join(lines)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{inner}\n</{kind}>\n'
    )


def _feed(origin: str, look: Look, rows: list[DictRow]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    language = f' xml:lang="{look.language}"' if look.language else ""
    yield f'<feed xmlns="http://www.w3.org/2005/Atom"{language}>'
    yield f"<id>{origin}/</id><title>{_text(look.name)}</title>"
    if look.description:
        yield f"<subtitle>{_text(look.description)}</subtitle>"
    # The names of authors are for members.
    yield f"<author><name>{_text(look.name)}</name></author>"
    yield f'<link rel="self" href="{origin}/feed.xml"/><link href="{origin}/"/>'
    newest: datetime | None = rows[0]["updated_at"] if rows else None
    yield f"<updated>{newest.isoformat() if newest else '1970-01-01T00:00:00Z'}</updated>"
    for row in rows:
        url = f"{origin}/p/{row['id']}"
        yield (
            f"<entry><id>{url}</id><title>{_text(row['title'])}</title>"
            f'<link href="{url}"/><published>{row["created_at"].isoformat()}</published>'
            f"<updated>{row['updated_at'].isoformat()}</updated>"
            f"<summary>{_text(row['text'])}</summary></entry>"
        )
    yield "</feed>"


def _text(text: str) -> str:
    """The text for XML, without the characters that XML cannot express."""
    kept = "".join(c for c in " ".join(text.split()) if c.isprintable() or c in "\u200c\u200d")
    return escape(kept)


def _answer(call: Call, media_type: str, text: str) -> Response:
    """The answer, which a cache asks about before each use: a page may have been closed since."""
    content = text.encode()
    etag = f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
    headers = {"cache-control": "no-cache", "etag": etag}
    given = call.request.headers.get("if-none-match", "")
    if etag in {one.strip() for one in given.split(",")}:
        return Response(status_code=304, headers=headers)
    look = call.seen.site.look
    if look is not None and not look.is_indexed:
        headers["x-robots-tag"] = "noindex"
    return Response(content, headers=headers, media_type=media_type)
