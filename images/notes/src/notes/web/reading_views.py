"""HTML views for reading: a page, the pages below it, and the pages that link to it."""

import asyncio
import html
import re
from typing import NamedTuple
from uuid import UUID

from markupsafe import Markup
from starlette.responses import Response

from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.pages import api, listing, lists, window
from notes.pages.listing import ListQuery
from notes.pages.roles import Role
from notes.pages.window import Place, Title
from notes.web import page_data, render
from notes.web.cards import card
from notes.web.page_data import LINKS_SHOWN, Page
from notes.web.render import page

table = Table("reading")

FEWEST_HEADINGS = 3  # a shorter page needs no list of contents
MOST_HEADINGS = 60
LOOKED_AT = 250_000  # characters of HTML; a search in megabytes would hold up the event loop
# Only the writer of HTML makes tags: a document's own text has no unescaped "<".
_HEADING = re.compile(r'<h([23]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Heading(NamedTuple):
    """A heading and its anchor."""

    level: int
    id: str
    text: str


@table("GET", "/p/{id}", scope=None)
async def page_page(call: Call, id: UUID) -> Response:
    """Show a page with the pages around it."""
    try:
        row = await page_data.row_of(call, id)
    except Problem as problem:
        # A visitor who is not signed in may see more after signing in.
        if problem.status == 404 and call.viewer.user_id is None:
            raise Problem(401, "Sign in first.") from None
        raise
    if row["trashed_at"] is not None:
        return page(call, "trashed.html", is_member=row["in_space"] > 0, node=row)
    # Version and time are used instead of the document, which can be long.
    etag = render.tag(call, *(value for name, value in row.items() if name != "doc"))
    unchanged = render.unchanged(call, etag)
    if unchanged is not None:
        return unchanged
    shown = page_data.read(call, row)
    made = await call.app.documents.html(call.account, bytes(row["doc"]))
    body = Markup(made)  # noqa: S704 - escaped by html()
    await asyncio.sleep(0)  # each copy of a long page is a turn of its own
    previous, following = neighbours(shown)
    signed_in = call.viewer.user_id is not None
    answer = page(
        call,
        "page.html",
        is_member=row["in_space"] > 0,
        card=card(call, shown, made),
        node=row,
        space=shown.space,
        shown=shown,
        body=body,
        contents=contents(body),
        previous=previous,
        following=following,
        above=window.ABOVE,
        near=window.NEAR,
        below=window.BELOW,
        linked=LINKS_SHOWN,
        may_write=signed_in and row["role"] >= Role.EDITOR,
        may_comment=signed_in and row["role"] >= Role.COMMENTER,
    )
    return render.kept(answer, etag)


@table("GET", "/p/{id}/pages", scope=None)
async def pages_below(call: Call, id: UUID, query: ListQuery) -> Response:
    """Show a part of the list of the pages below a page."""
    try:
        part = await listing.of_page(call, id, query)
    except Problem as problem:
        if problem.status == 404 and call.viewer.user_id is None:
            raise Problem(401, "Sign in first.") from None
        raise
    return page(call, "pages.html", is_member=part.space is not None, part=part)


@table("GET", "/p/{id}/backlinks", scope="read")
async def backlinks_page(call: Call, id: UUID) -> Response:
    """Show all pages that link to a page."""
    node = await api.get_node(call, id)
    return page(call, "backlinks.html", node=node, backlinks=await lists.list_backlinks(call, id))


def contents(body: str) -> list[Heading]:
    """The headings in the first part of a page's HTML, for its contents; none for a short page."""
    found = [
        Heading(int(level), html.unescape(anchor), html.unescape(_TAG.sub("", text)))
        for level, anchor, text in _HEADING.findall(body[:LOOKED_AT])
    ]
    return found[:MOST_HEADINGS] if len(found) >= FEWEST_HEADINGS else []


def neighbours(shown: Page) -> tuple[Place | Title | None, Place | Title | None]:
    """The pages before and after a page: its siblings, else its parent and its first child."""
    parent = shown.ancestors[-1] if shown.parent_is_visible else None
    previous = shown.before[-1] if shown.before else parent
    first = shown.children[0] if shown.children else None
    return previous, first or (shown.after[0] if shown.after else None)
