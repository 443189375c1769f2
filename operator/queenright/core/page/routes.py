"""The addresses of the page: a request's target as a value, and back.

Pure. Invariant: any text gives a route or None; a name is only ever looked up among those that the
last pass knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from queenright.core.planning.conditions import CONDITIONS

LONGEST_SEARCH = 100
LONGEST_NAME = 300
MOST_FIELDS = 10


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of documents (``/``) or of holds (``/holds``): those whose name has ``search`` in it,
    in this condition, and the page of the list (from 1)."""

    path: str
    search: str = ""
    condition: str = ""
    page: int = 1

    @property
    def target(self) -> str:
        given = {"q": self.search, "condition": self.condition}
        fields = {key: value for key, value in given.items() if value}
        fields |= {"page": str(self.page)} if self.page > 1 else {}
        return f"{self.path}?{urlencode(fields)}" if fields else self.path


@dataclass(frozen=True, slots=True)
class OneDocument:
    plural: str
    name: str

    @property
    def target(self) -> str:
        return f"/{quote(self.plural, safe='')}/{quote(self.name, safe='')}"


@dataclass(frozen=True, slots=True)
class Trail:
    """The newest records: of one document if ``name`` is given, and those that have ``search`` in
    any cell."""

    name: str = ""
    search: str = ""

    @property
    def target(self) -> str:
        given = {"cluster": self.name, "q": self.search}
        fields = {key: value for key, value in given.items() if value}
        return f"/trail?{urlencode(fields)}" if fields else "/trail"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that never changes while the operator runs."""

    name: str


Route: TypeAlias = Listing | OneDocument | Trail | Asset

ASSETS = {"/style.css": "style.css", "/script.js": "script.js"}


def route_of(target: str) -> Route | None:
    """Return the route of a request's target; None where there is none."""
    try:
        parts = urlsplit(target)
        fields = parse_qs(parts.query, max_num_fields=MOST_FIELDS)
    except ValueError:
        return None
    if parts.path in ASSETS:
        return Asset(ASSETS[parts.path])
    if parts.path in {"/", "/holds"}:
        return listing(parts.path, {key: values[-1] for key, values in fields.items()})
    if parts.path == "/trail":
        return Trail(
            fields.get("cluster", [""])[-1].strip()[:LONGEST_NAME],
            fields.get("q", [""])[-1].strip()[:LONGEST_SEARCH],
        )
    pieces = parts.path.split("/")
    if len(pieces) == 3 and pieces[2]:
        return OneDocument(unquote(pieces[1]), unquote(pieces[2]))
    return None


def listing(path: str, fields: dict[str, str]) -> Listing:
    """Return a list; a field that has no meaning counts as not given."""
    condition, page = fields.get("condition", ""), fields.get("page", "")
    is_number = page.isascii() and page.isdigit() and len(page) < 6
    return Listing(
        path,
        fields.get("q", "").strip()[:LONGEST_SEARCH],
        condition if condition in CONDITIONS else "",
        max(1, int(page)) if is_number else 1,
    )
