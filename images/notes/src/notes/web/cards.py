"""Describes a page for other programs: its address, and what a link to it shows (Open Graph)."""

import re
from dataclasses import dataclass
from typing import Final

from notes.http.context import Call
from notes.spaces.pictures import RASTER
from notes.web import render
from notes.web.assets import built
from notes.web.page_data import Page

_LOOKED_AT: Final = 250_000  # characters of HTML
# Only the writer of HTML makes tags: a document's own text has no unescaped "<".
_PICTURE = re.compile(r'<img [^>]*?src="(/api/v1/attachments/([0-9a-f-]{36}))"')


@dataclass(frozen=True, slots=True)
class Card:
    """The parts that a link to a page shows; `url` is the page's own address, all are absolute."""

    kind: str
    title: str
    url: str
    site_name: str | None
    image: str | None


def card(call: Call, shown: Page, body: str) -> Card | None:
    """The card of a page of a site; on the main site only of a page that a public site has."""
    site, space = call.seen.site, shown.space
    path = f"/p/{shown.row['id']}"
    title = str(shown.row["title"])
    if site.space_id is None:
        if space is None or space.domain is None or shown.row["access_root"] is not None:
            return None
        origin = f"{call.seen.scheme}://{space.domain}"
        return Card("article", title, origin + path, space.title, _picture(shown, body, origin))
    origin = call.seen.origin
    name = space.title if space is not None else None
    image = _picture(shown, body, origin) or _of_site(call)
    return Card("article", title, origin + path, name, image)


def card_of_space(call: Call, name: str) -> Card | None:
    """The card of the front page of a site; None on the main site."""
    if call.seen.site.space_id is None:
        return None
    return Card("website", name, f"{call.seen.origin}/", name, _of_site(call))


def _picture(shown: Page, body: str, origin: str) -> str | None:
    """The first picture of the page that other programs can show."""
    known = {str(file.id) for file in shown.files if file.type in RASTER}
    for found in _PICTURE.finditer(body[:_LOOKED_AT]):
        if found[2] in known:
            return origin + found[1]
    return None


def _of_site(call: Call) -> str | None:
    """The logo of the site, else the icon of the application; None if that is not built here."""
    look = call.seen.site.look
    if look is not None and look.logo is not None and look.logo_type in RASTER:
        return f"{call.seen.origin}{render.logo_url(look, call.seen)}"
    have = built()
    return f"{call.seen.origin}/assets/{have.icons['icon-512.png']}" if have else None
