"""Replaces the addresses in a page by those of this import.

Invariant: no address with a reserved prefix remains in the document.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from urllib.parse import unquote
from uuid import UUID

from notes.doc.attributes import Json
from notes.transfer.entry_names import fold
from notes.transfer.links import Index
from notes.transfer.markdown_text import DATA, WIKI
from notes.transfer.table_reader import CHILD

_FILE = re.compile(r"^/api/v1/attachments/([0-9a-f-]{36})")
_REDIRECT = re.compile(r"/api/attachments\.redirect\?id=([0-9a-f-]{36})")
MAX_SAID = 5


@dataclass(slots=True)
class Relinked:
    """A document with new addresses, the files it shows, and its broken links."""

    doc: Json
    files: list[UUID]
    lost: list[str]


@dataclass(slots=True)
class Relinker:
    """Changes the addresses of one page in the folder `here`.

    `children` maps titles of the pages below it to their addresses.
    """

    index: Index
    here: str
    pictures: list[str]
    children: dict[str, str]
    lost: dict[str, None] = field(default_factory=dict)
    _known: dict[str, str | None] = field(default_factory=dict)

    def run(self, doc: Json) -> Relinked:
        made = self._node(doc)
        files = dict[UUID, None]()
        _collect(made, files)
        return Relinked(made, list(files), list(self.lost))

    def _node(self, node: Json) -> Json:
        content = node.get("content")
        if not isinstance(content, list):
            return self._leaf(node)
        made = [self._node(child) for child in content]
        return {**node, "content": made}

    def _leaf(self, node: Json) -> Json:
        if node["type"] == "image":
            src = str(node["attrs"]["src"])
            new = self._new(src)
            if new is None and src.startswith(WIKI):
                return {"type": "text", "text": _as_written(src)}
            attrs = {**node["attrs"], "src": src if new is None else new}
            node = {**node, "attrs": attrs}
        marks = node.get("marks")
        if not marks:
            return node
        kept = list[Json]()
        for mark in marks:
            if mark["type"] != "link":
                kept.append(mark)
                continue
            href = str(mark["attrs"]["href"])
            new = self._new(href)
            if new is not None:
                kept.append({**mark, "attrs": {**mark["attrs"], "href": new}})
            elif href.startswith(WIKI) and node["type"] == "text":
                node = {**node, "text": _as_written(href)}
            elif not href.startswith((WIKI, CHILD, DATA)):
                kept.append(mark)
        plain = {key: value for key, value in node.items() if key != "marks"}
        return {**plain, "marks": kept} if kept else plain

    def _new(self, link: str) -> str | None:
        if link not in self._known:
            self._known[link] = self._find(link)
        return self._known[link]

    def _find(self, link: str) -> str | None:
        if link.startswith(DATA):
            number = link.removeprefix(DATA)
            return (
                self.pictures[int(number)]
                if number.isdecimal() and int(number) < len(self.pictures)
                else None
            )
        if link.startswith(CHILD):
            return self.children.get(bare(unquote(link.removeprefix(CHILD))))
        if link.startswith(WIKI):
            return self._wiki(unquote(link.removeprefix(WIKI)))
        if match := _REDIRECT.search(link):
            return self.index.find("", match[1], anywhere=False)
        found = self.index.find(self.here, link, anywhere=False)
        if found is None and not re.match(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|//|#|\?)", link):
            self.lost[link] = None
        return found

    def _wiki(self, inner: str) -> str | None:
        target = inner.removeprefix("!").partition("|")[0].strip()
        name, mark, heading = target.partition("#")
        anchor = "#" + slug(heading.rpartition("#")[2]) if mark and "^" not in heading else ""
        if not name.strip():
            return anchor or None
        found = self.index.find(self.here, name.strip().replace("%", "%25"), anywhere=True)
        if found is None:
            self.lost[f"[[{target}]]"] = None
            return None
        return found + (anchor if found.startswith("/p/") else "")


def bare(title: str) -> str:
    """A title's letters and digits, folded: file names are derived from titles in many ways."""
    return "".join(c for c in fold(title) if c.isalnum())


def slug(heading: str) -> str:
    """A heading's text as an anchor: letters, digits, `-` and `_`, in lower case."""
    plain = heading.strip().lower().replace(" ", "-")
    return "".join(
        c for c in plain if c in "-_" or c.isalnum() or unicodedata.category(c)[0] == "M"
    )


def _as_written(link: str) -> str:
    inner = unquote(link.removeprefix(WIKI))
    return f"![[{inner[1:]}]]" if inner.startswith("!") else f"[[{inner}]]"


def _collect(node: Json, found: dict[UUID, None]) -> None:
    for child in node.get("content", ()):
        _collect(child, found)
    urls = [str(node["attrs"]["src"])] if node.get("type") == "image" else []
    urls += [str(m["attrs"]["href"]) for m in node.get("marks", ()) if m["type"] == "link"]
    for url in urls:
        match = _FILE.match(url)
        if match:
            found[UUID(match[1])] = None


def said(lost: list[str]) -> list[str]:
    """The report's note on broken links; empty if there are none."""
    if not lost:
        return []
    listed = ", ".join(link[:100] for link in lost[:MAX_SAID])
    more = len(lost) - MAX_SAID
    if more > 0:
        return [f"links without a target in the zip stay unchanged: {listed} and {more} more"]
    return [f"links without a target in the zip stay unchanged: {listed}"]
