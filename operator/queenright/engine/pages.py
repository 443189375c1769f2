"""The answers of the page: a request's target, what the last pass knows, and the bytes.

Invariant: the same address is made at most once a second, however often it is asked for.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from queenright.core.page.document import document_page
from queenright.core.page.frame import asset, framed
from queenright.core.page.html import tag
from queenright.core.page.lists import documents_page, holds_page
from queenright.core.page.routes import Asset, Listing, OneDocument, Route, Trail, route_of
from queenright.core.page.trail import trail_page
from queenright.engine.sight import Sight
from queenright.ports.clock import Clock
from queenright.ports.pages import Page

HTML = "text/html; charset=utf-8"
MEDIA_TYPES = {
    "style.css": "text/css; charset=utf-8",
    "script.js": "text/javascript; charset=utf-8",
}
FRESH_S = 1.0
"""A page this young is sent again, even if another pass has ended since."""
KEPT_S = 15.0
"""A page without news is made anew after this time: it says how old the last pass is."""
MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Made:
    page: Page
    version: int
    at_s: float


class SightPages:
    """Makes pages of a sight (port: ``Pages``)."""

    def __init__(self, sight: Sight, clock: Clock) -> None:
        self._sight = sight
        self._clock = clock
        self._made: OrderedDict[Route, Made] = OrderedDict()

    async def changed(self, version: int) -> int:
        return await self._sight.changed(version)

    async def page(self, target: str) -> Page:
        """Return the answer to a target, whatever it is."""
        route = route_of(target)
        if route is None:
            return self._missing()
        if isinstance(route, Asset):
            return Page(200, MEDIA_TYPES[route.name], asset(route.name).encode())
        version, now_s = self._sight.version, self._clock.monotonic_s()
        made = self._made.get(route)
        if made is not None:
            limit_s = KEPT_S if made.version == version else FRESH_S
            if now_s - made.at_s < limit_s:
                return made.page
        body = await self._body(route)
        if body is None:
            return self._missing()
        page = Page(200, HTML, body)
        self._made[route] = Made(page, version, now_s)
        self._made.move_to_end(route)
        if len(self._made) > MOST_KEPT:
            self._made.popitem(last=False)
        return page

    async def _body(self, route: Listing | OneDocument | Trail) -> bytes | None:
        basis = self._sight.basis()
        match route:
            case Listing(path="/holds"):
                return holds_page([*(await self._sight.entries()).values()], route, basis)
            case Listing():
                return documents_page([*(await self._sight.entries()).values()], route, basis)
            case Trail():
                return trail_page(self._sight.trail.records(route.name), route, basis)
            case OneDocument(plural, name):
                detail = await self._sight.detail(plural, name)
                return None if detail is None else document_page(detail, basis)

    def _missing(self) -> Page:
        words = tag("p", "Nothing is here. ", tag("a", "See all", href="/"), ".")
        return Page(404, HTML, framed("Not found", "", self._sight.basis(), words))
