"""What nodes of a document carry: marks in their order, addresses that run no code, plain texts.

Decides from the JSON alone. Invariant: what comes out is as Markdown would give it back.
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
_SCHEMES = ("http:", "https:", "mailto:", "tel:")
SEEN_AS_SPACE = str.maketrans("\t\n\r", "   ")


class SchemaError(ValueError):
    """A document that is none; `path` says where."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def address(value: Any, path: str) -> str:
    """A link's or an image's address. Raises `SchemaError` for a scheme that could run code."""
    if not isinstance(value, str) or not value.strip():
        raise SchemaError(path, "an address is a text")
    text = "".join(c for c in value.strip() if unicodedata.category(c) not in {"Cc", "Cs"})
    head = re.split(r"[/?#]", text, maxsplit=1)[0]
    if ":" in head and not text.lower().startswith(_SCHEMES):
        raise SchemaError(path, "an address begins with https:, http:, mailto:, tel:, / or #")
    if len(text) > 4000:
        raise SchemaError(path, "an address has at most 4000 characters")
    return "".join(quote(c) if c.isspace() or c in "()<>\"'\\`{}|^" else c for c in text)


def plain_text(text: str) -> str:
    """One line of text, without control characters."""
    spaced = text.translate(SEEN_AS_SPACE)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cc", "Cs"}).strip()


def attributes(node: Json, path: str) -> Json:
    """The attributes of a node or mark, none if it has none."""
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


def same_marks(node: Json, marks: list[Json]) -> bool:
    return bool(node.get("marks", []) == marks)


def marked(node: Json, marks: list[Json]) -> Json:
    if marks:
        node["marks"] = marks
    return node
