"""Normalises marks, addresses, labels and plain texts of a document's nodes.

Decides from the JSON alone. Invariant: the result is the same after writing and reading Markdown.
"""

import re
import unicodedata
from typing import Any
from urllib.parse import quote

Json = dict[str, Any]
MARKS = (
    "link",
    "bold",
    "italic",
    "strike",
    "underline",
    "highlight",
    "subscript",
    "superscript",
    "code",
)
_RANK = {name: rank for rank, name in enumerate(MARKS)}
_LIVE_SCHEMES = ("http:", "https:", "mailto:", "tel:")
_CODE_SCHEMES = ("javascript:", "vbscript:", "data:")
_LABEL = re.compile(r"[^\s\[\]\\|`]{1,60}")
SEEN_AS_SPACE = str.maketrans("\t\n\r", "   ")


class SchemaError(ValueError):
    """The document is invalid; `path` names the place."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def address(value: Any, path: str) -> str:
    """The address of a link or an image. Raises `SchemaError` for a scheme that could run code.

    Of the other schemes only those that `is_live` accepts become clickable links.
    """
    if not isinstance(value, str):
        raise SchemaError(path, "an address is a text")
    # In this order: browsers leave out control characters and spaces before a scheme.
    text = "".join(c for c in value if unicodedata.category(c) not in {"Cc", "Cs"}).strip()
    if text.lower().startswith(_CODE_SCHEMES):
        raise SchemaError(path, "an address of this scheme could run code")
    if len(text) > 4000:
        raise SchemaError(path, "an address has at most 4000 characters")
    return "".join(quote(c) if c.isspace() or c in '<>"\\`{}|^' else c for c in text)


def is_live(url: str) -> bool:
    """True if the address may be a link: it is on this site, or its scheme is harmless."""
    head = re.split(r"[/?#]", url, maxsplit=1)[0]
    return ":" not in head or url.lower().startswith(_LIVE_SCHEMES)


def label(value: Any, path: str) -> str:
    """Checks a footnote's label. Raises `SchemaError`."""
    if not isinstance(value, str) or not _LABEL.fullmatch(value) or not value.isprintable():
        raise SchemaError(path, "a label is 1 to 60 characters without spaces or brackets")
    return value


def plain_text(text: str) -> str:
    """One line of text, without control characters."""
    spaced = text.translate(SEEN_AS_SPACE)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cc", "Cs"}).strip()


def attributes(node: Json, path: str) -> Json:
    """The attributes of a node or mark; empty if it has none."""
    attrs = node.get("attrs")
    if attrs is None:
        return {}
    if not isinstance(attrs, dict):
        raise SchemaError(f"{path}.attrs", "attrs is an object")
    return attrs


def marks_of(node: Json, path: str) -> list[Json]:
    """The marks of a node, each kind once, in the order of `MARKS`."""
    given = node.get("marks") or []
    if not isinstance(given, list):
        raise SchemaError(f"{path}.marks", "marks is a list")
    found = dict[str, Json]()
    for at, mark in enumerate(given):
        here = f"{path}.marks[{at}]"
        kind = mark.get("type") if isinstance(mark, dict) else None
        if not isinstance(kind, str) or kind not in _RANK:
            raise SchemaError(here, f"{str(kind)[:40]!r} is no mark")
        made: Json = {"type": kind}
        if kind == "link":
            attrs = attributes(mark, here)
            made["attrs"] = {"href": address(attrs.get("href"), f"{here}.attrs.href")}
            title = attrs.get("title")
            plain = plain_text(title) if isinstance(title, str) else ""
            if plain:
                made["attrs"]["title"] = plain
        found[kind] = made
    return sorted(found.values(), key=lambda mark: _RANK[mark["type"]])


def with_marks(marks: list[Json], kinds: list[str]) -> list[Json]:
    """The marks and those of `kinds`, in the order of `MARKS`."""
    if not kinds:
        return marks
    found = {mark["type"]: mark for mark in marks} | {kind: {"type": kind} for kind in kinds}
    return sorted(found.values(), key=lambda mark: _RANK[mark["type"]])


def same_marks(node: Json, marks: list[Json]) -> bool:
    return bool(node.get("marks", []) == marks)


def marked(node: Json, marks: list[Json]) -> Json:
    if marks:
        node["marks"] = marks
    return node
