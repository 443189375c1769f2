"""Resolves links in imported pages to the new addresses.

Decides from names alone: first exact ones, then other spellings (encoded, relative, other case,
other normalisation, without folder or ending). Invariant: a link resolves only to a page or a file
of this import; any other address stays unchanged.
"""

import posixpath
import re
import unicodedata
from urllib.parse import unquote

from notes.transfer.entry_names import fold
from notes.transfer.import_plan import Plan, notion_id

_ID = re.compile(r"(?:^|[-/ _])([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})$")
_OUTLINE = re.compile(r"^/doc/(?:[\w~%.-]*-)?([A-Za-z0-9]{10,15})$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NOTION_HOST = re.compile(r"^https?://(?:www\.)?notion\.(?:so|site|com)/", re.IGNORECASE)
_ENDINGS = ("", ".md", ".html", ".markdown")


class Index:
    """The new addresses of pages and files, by all their names."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        self._by_base: dict[str, list[str]] = {}
        self._named: dict[str, str] = {}

    def add(self, path: str, url: str) -> None:
        """Adds a path in the zip and the new address of its page or file."""
        self._exact[unicodedata.normalize("NFC", path)] = url
        folded = fold(path)
        if self._folded.setdefault(folded, url) is url:
            self._by_base.setdefault(posixpath.basename(folded), []).append(folded)

    def name(self, name: str, url: str) -> None:
        """Adds another name for an address; the first address of a name wins."""
        self._named.setdefault(fold(name), url)

    def find(self, here: str, link: str, *, anywhere: bool) -> str | None:
        """The new address for a link in a page in the folder `here`, or None.

        `anywhere` also searches a file of that name in other folders, as wikis do.
        """
        bare, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", link, re.DOTALL).groups()  # type: ignore[union-attr]
        if not bare or link.startswith("//"):
            return None
        url = self._find(here, bare, anywhere)
        return None if url is None else url + _anchor(mark, rest)

    def _find(self, here: str, bare: str, anywhere: bool) -> str | None:
        if _SCHEME.match(bare):
            match = _ID.search(unquote(bare)) if _NOTION_HOST.match(bare) else None
            return self._named.get(match[1].replace("-", "")) if match else None
        for written in dict.fromkeys((unquote(bare), bare)):
            target = written.replace("\\", "/")
            for base in dict.fromkeys((here, "", *_above(here))):
                if (found := self._at(_joined(base, target))) is not None:
                    return found
            if (found := self._named.get(fold(target))) is not None:
                return found
            if (match := _OUTLINE.match(target)) and fold(match[1]) in self._named:
                return self._named[fold(match[1])]
            found = self._elsewhere(here, target, anywhere)
            if found is not None:
                return found
            match = _ID.search(posixpath.splitext(target)[0])
            if match and match[1].replace("-", "") in self._named:
                return self._named[match[1].replace("-", "")]
        return None

    def _at(self, path: str) -> str | None:
        plain = unicodedata.normalize("NFC", path)
        for ending in _ENDINGS:
            if plain + ending in self._exact:
                return self._exact[plain + ending]
        folded = fold(path)
        for ending in _ENDINGS:
            if folded + ending in self._folded:
                return self._folded[folded + ending]
        return None

    def _elsewhere(self, here: str, target: str, anywhere: bool) -> str | None:
        folded = fold(_joined("", target))
        found = list[str]()
        for ending in _ENDINGS if anywhere else ("",):
            wanted = folded + ending
            listed = self._by_base.get(posixpath.basename(wanted), [])
            found = [p for p in listed[:50] if p == wanted or p.endswith("/" + wanted)]
            if found:
                break
        if not found or (not anywhere and len(found) > 1):
            return None
        near = fold(here)
        found.sort(key=lambda p: (not p.startswith(near + "/"), p.count("/"), p))
        return self._folded[found[0]]


def _above(folder: str) -> list[str]:
    found = list[str]()
    while folder:
        folder = posixpath.dirname(folder)
        found.append(folder)
    return found


def _joined(base: str, target: str) -> str:
    """`target` relative to `base`; `..` never leads above the top."""
    parts = [] if target.startswith("/") else [p for p in base.split("/") if p]
    for part in target.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _anchor(mark: str, rest: str) -> str:
    return mark + rest if mark == "#" and rest else ""


def index_of(plan: Plan, page_urls: dict[str, str], file_urls: dict[str, str]) -> Index:
    """Builds the index of a plan from URLs by page key and by file path."""
    index = Index()
    for key, page in plan.pages.items():
        if page.path is not None:
            index.add(page.path, page_urls[key])
            found = notion_id(page.path) if plan.kind == "notion" else None
            if found:
                index.name(found, page_urls[key])
        else:
            index.name(key, page_urls[key])
    for path, reason_url in file_urls.items():
        index.add(path, reason_url)
    for name, key in plan.names.items():
        url = page_urls.get(key) or file_urls.get(key)
        if url is not None:
            index.name(name, url)
    return index
