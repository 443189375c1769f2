"""Renders templates. Invariant: all text is escaped, except HTML that `html()` generated."""

import asyncio
import functools
import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape, unescape
from typing import Any, Final
from uuid import UUID

import jinja2
import msgspec
from markupsafe import Markup
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.http.context import Call
from notes.http.look import Look
from notes.http.viewer import Seen, Viewer
from notes.notifications.mentions import said
from notes.pages.window import Place
from notes.quotas.limits import shown
from notes.version import version
from notes.web.assets import built
from notes.web.style import COLOURS, STYLE, policy
from notes.words.spoken import ENGLISH, VARY, Spoken, of_reader, of_site

TURN_S = 0.005
PIECE_CHARACTERS = 128 * 1024
#: What a search engine shows of a description, and the HTML that is read for it.
DESCRIPTION_CHARACTERS: Final = 155
_LOOKED_AT = 8 * DESCRIPTION_CHARACTERS
#: Tags that are within a word or between words, not between blocks.
_INLINE: Final = r"</?(?:a|b|code|del|em|i|mark|s|span|strong|sub|sup|u)(?:\s[^>]*)?>"

#: A line end that only the writers of HTML make, beside a tag of a block: the workspace has none
#: there, and would move each element that it finds in another place.
_BETWEEN: Final = re.compile(
    r"(</?(?:article|aside|blockquote|details|div|figure|h[1-6]|header|hr|li|main|nav|ol|p|pre"
    r"|section|summary|table|tr|ul)(?:\s[^<>]*)?>)\n"
)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("notes.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
    environment.filters["when"] = _when
    environment.filters["bytes"] = _bytes
    environment.filters["places"] = _places
    environment.filters["description"] = description
    environment.filters["colours"] = colours_url
    environment.filters["logo"] = logo_url
    environment.filters["said"] = said
    environment.globals["version"] = version()
    environment.globals["icon"] = _icon()
    environment.globals["style"] = Markup(STYLE)  # noqa: S704 - a file of this package
    return environment


async def compile_templates() -> None:
    """Compiles every template, each in a turn of its own; a first view would hold up the others."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)
        await asyncio.sleep(0)


def _icon() -> str | None:
    """The address of the icon; without one a browser asks for /favicon.ico, which is not there."""
    have = built()
    return f"/assets/{have.icons['icon.svg']}" if have else None


def description(body: str) -> str:
    """The first words of a page's HTML, as plain text for its meta description; may be empty."""
    text = re.sub(_INLINE, "", str(body)[:_LOOKED_AT])
    text = " ".join(unescape(re.sub(r"<[^>]*(>|$)", " ", text)).split())
    if len(text) <= DESCRIPTION_CHARACTERS:
        return text
    return f"{text[:DESCRIPTION_CHARACTERS].rpartition(' ')[0] or text[:DESCRIPTION_CHARACTERS]} …"


@jinja2.pass_context
def _when(context: jinja2.runtime.Context, moment: datetime | None) -> str:
    t: Spoken = context["t"]
    return moment.strftime(t("%Y-%m-%d %H:%M UTC")) if moment else t("never")


@jinja2.pass_context
def _bytes(context: jinja2.runtime.Context, size: int) -> str:
    """A number of bytes with its unit, as the language writes it."""
    t: Spoken = context["t"]
    return t.said(shown(size))


def _places(places: Iterable[Place], t: Spoken) -> Markup:
    """Items of a list of pages; written here since a template takes several times as long."""
    marks = (f" ({escape(t('template'))})", f" ({escape(t('restricted'))})")
    items = (_item(place.id, escape(place.title), place, marks, t) for place in places)
    return Markup("".join(items))  # noqa: S704


def _item(id: UUID, title: str, place: Place, marks: tuple[str, str], t: Spoken) -> str:
    notes = f"{marks[0] * place.is_template}{marks[1] * place.is_restricted}"
    below = (
        f' <a href="/p/{id}/pages" aria-label="{escape(t("Pages below %s", unescape(title)))}">'
        "▸</a>"
        if place.has_children
        else ""
    )
    return f'<li><a href="/p/{id}">{title}</a>{notes}{below}</li>'


def colours_url(look: Look) -> str | None:
    """The address of a site's colours, which changes with them; None without an accent colour."""
    if look.light is None or look.dark is None:
        return None
    return f"{COLOURS}?v={look.light[1:]}{look.dark[1:]}"


def logo_url(look: Look, seen: Seen) -> str | None:
    """The address of a site's logo, which changes with it; None without a logo."""
    if look.logo is None:
        return None
    return f"/api/v1/spaces/{seen.site.space_id}/logo?v={look.logo[:16]}"


def template(
    name: str,
    viewer: Viewer,
    seen: Seen,
    status: int = 200,
    *,
    is_member: bool = False,
    language: str = ENGLISH,
    **values: Any,
) -> Response:
    """The answer with a rendered template.

    It has the look of the space's site if that is public, or the viewer `is_member` of the space.
    Its words are in the site's language, else in `language`, that of the reader.
    """
    look = seen.site.look
    shown = look if look is not None and (look.is_public or is_member) else None
    t = of_site(shown.language if shown else None, language)
    here = values.pop("here", "")
    pieces = (
        _environment()
        .get_template(name)
        .generate(viewer=viewer, seen=seen, look=shown, here=here, t=t, **values)
    )
    return PageResponse(pieces, status, seen)


def first_view(language: str, **values: Any) -> str:
    """One element: what the workspace's shell shows of a page until its script draws the same."""
    text = _environment().get_template("first.html").render(t=Spoken(language), **values)
    return _BETWEEN.sub(r"\1", text).strip()


class PageResponse(Response):
    """A page rendered piece by piece, so that other tasks run in between."""

    media_type = "text/html; charset=utf-8"

    def __init__(self, pieces: Iterator[str], status: int, seen: Seen) -> None:
        headers = {
            "cache-control": "no-store",
            "content-security-policy": policy(seen),
            "vary": VARY,
        }
        look = seen.site.look
        if look is not None and not (look.is_public and look.is_indexed):
            headers["x-robots-tag"] = "noindex"
        super().__init__(status_code=status, headers=headers)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)
        made = [bytearray()]
        since = time.perf_counter()
        for piece in self._pieces:
            for at in range(0, len(piece), PIECE_CHARACTERS):
                made[-1] += piece[at : at + PIECE_CHARACTERS].encode()
                if len(made[-1]) > PIECE_CHARACTERS:
                    made.append(bytearray())
                if time.perf_counter() - since > TURN_S:
                    await asyncio.sleep(0)
                    since = time.perf_counter()
        self.headers["content-length"] = str(sum(map(len, made)))
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        parts = made if scope["method"] != "HEAD" else [bytearray()]
        for part in parts[:-1]:
            await send({"type": "http.response.body", "body": bytes(part), "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": bytes(parts[-1]), "more_body": False})


def tag(call: Call, *values: object) -> str:
    """The ETag of a page that depends on `values`, the viewer and this program alone.

    It is weak, since a proxy may compress the page.
    """
    who = (call.viewer.user_id, call.viewer.name, call.seen.origin, version(), STYLE, _icon())
    language = of_reader(call.request.headers)
    content = msgspec.json.encode((who, language, call.seen.site.look, values))
    return f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'


def kept(response: Response, etag: str) -> Response:
    """`response`, which the browser may keep for its user and has to ask about before each use."""
    response.headers["cache-control"] = "private, no-cache"
    response.headers["etag"] = etag
    return response


def unchanged(call: Call, etag: str) -> Response | None:
    """The answer 304 if the browser has the page with this ETag; else None."""
    given = call.request.headers.get("if-none-match", "")
    if etag not in {one.strip() for one in given.split(",")}:
        return None
    headers = {"content-security-policy": policy(call.seen), "vary": VARY}
    return kept(Response(status_code=304, headers=headers), etag)


def page(
    call: Call, name: str, status: int = 200, *, is_member: bool = False, **values: Any
) -> Response:
    """The answer with a template rendered for the viewer, as `template` does."""
    here = call.request.url.path
    return template(
        name,
        call.viewer,
        call.seen,
        status,
        is_member=is_member,
        language=of_reader(call.request.headers),
        here=here,
        **values,
    )
