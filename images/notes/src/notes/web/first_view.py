"""Serves the workspace's address of a page: the shell with the page's text in it.

The text is there with the first paint, before any script; the script draws the same in its place,
from the document that comes with it. Invariant: who may not read the page, or is not signed in,
gets the very shell that everybody gets at an address of nothing.
"""

import asyncio
import functools
import logging
import re
from html import escape
from typing import Final
from uuid import UUID

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from notes.auth.authenticate import viewer
from notes.http.compression import html_response
from notes.http.context import App, Call
from notes.http.problems import Problem
from notes.http.viewer import Seen
from notes.middleware.boundary import SEEN
from notes.pages import api
from notes.web import assets, render
from notes.web.reading_views import contents
from notes.words.spoken import VARY, Spoken, of_reader

logger = logging.getLogger(__name__)

#: The script draws a longer page in parts, and asks for it: twice its bytes would delay the script.
MOST_BYTES: Final = 128 * 1024
#: A database that fails over must not hold up the shell, which says so, and asks again.
PATIENCE_S: Final = 2.0
_ROOT: Final = '<html lang="en">'
_TITLE: Final = "<title>Notes</title>"
_DESCRIPTION: Final = "The workspace of your team"
_PLACE: Final = '<div id="app"></div>'
_NO_SCRIPT: Final = re.compile(r"<noscript>.*?</noscript>", re.DOTALL)
# Only the writer of HTML makes tags: a document's own text has no unescaped "<".
_PAGE_LINK: Final = re.compile(r'<a href="(?=/p/[0-9a-f-]{36}["#?])')


def routes(app: App) -> list[Route]:
    """The route of a page in the workspace."""
    return [Route(f"{assets.SHELL}/p/{{id}}", functools.partial(_serve, app), methods=["GET"])]


async def _serve(app: App, request: Request) -> Response:
    try:
        async with asyncio.timeout(PATIENCE_S):
            found = await _view(app, request)
    except (Problem, TimeoutError):
        found = None  # the script asks for the page, and shows why it is not there
    except Exception:
        logger.exception("a page has no first view")
        found = None
    return found or await assets.shell(request)


async def _view(app: App, request: Request) -> Response | None:
    """The shell with the page; None without a session, or for a long page or one in the trash."""
    shell = assets.shell_text()
    page = _id(request.path_params["id"])
    if shell is None or page is None:
        return None
    seen: Seen = request.scope[SEEN]
    who = await viewer(app, request, seen)
    if who.via != "session":
        return None
    call = Call(request, seen, who, app)
    since = app.hub.begin_at_once()  # before the page is read: no change of it is missed
    node = await api.get_node(call, page)
    doc = bytes(node.doc)
    if node.trashed_at is not None or len(doc) > MOST_BYTES:
        return None
    made = await app.documents.html(call.account, doc)
    body = Markup(_PAGE_LINK.sub(f'<a href="{assets.SHELL}', made))  # noqa: S704 - escaped by html()
    language = of_reader(request.headers)
    text = render.first_view(
        language,
        node=node,
        body=body,
        contents=contents(body),
        user=who.user_id,
        since=since,
        given=_in_script(node),
    )
    headers = {
        "cache-control": "no-store",
        "content-security-policy": assets.POLICY,
        "vary": VARY,
    }
    return await html_response(request, _in_shell(shell, language, node, text).encode(), headers)


def _id(text: str) -> UUID | None:
    """The id, if it is in its only form."""
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text else None


def _in_script(node: api.Node) -> Markup:
    """The page as the API answers it, in which nothing ends a script element."""
    text = msgspec.json.encode(node).decode().replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no character of it begins a tag


def _in_shell(shell: str, language: str, node: api.Node, text: str) -> str:
    """The shell with a page's text, title and language; without scripts it leads to `/p/…`."""
    spoken = Spoken(language)
    root = f'<html lang="{language}"{spoken.direction}>'
    refresh = f'<noscript><meta http-equiv="refresh" content="0; url=/p/{node.id}"></noscript>'
    plain = f'<a href="/p/{node.id}">{escape(spoken("The plain page"))}</a>'
    shell = _NO_SCRIPT.sub(f"<noscript>{plain}</noscript>", shell, count=1)
    # The text comes last: no words of it are taken for a place of the shell.
    for place, content in (
        (_ROOT, root),
        (_DESCRIPTION, escape(spoken(_DESCRIPTION))),
        (_TITLE, f"<title>{escape(node.title)}</title>\n{refresh}"),
        (_PLACE, f'<div id="app">{text}</div>'),
    ):
        if place not in shell:
            raise ValueError(f"the shell has no {place}")
        shell = shell.replace(place, content, 1)
    return shell
