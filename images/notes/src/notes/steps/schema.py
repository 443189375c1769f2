"""Node and mark types of a document as an editor holds it: content, attributes, checks.

The names are those of the stored documents. Decides from its arguments alone. Invariant: each
document that passes these checks can be brought to its normal form by `notes.doc.schema`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from notes.doc.attributes import Json, SchemaError, address, label
from notes.doc.schema import MAX_START

MAX_ATTRIBUTE = 10_000
_SURROGATES = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

BLOCKS = (
    "paragraph",
    "heading",
    "bulletList",
    "orderedList",
    "taskList",
    "blockquote",
    "codeBlock",
    "htmlBlock",
    "horizontalRule",
    "table",
)
INLINE = ("text", "hardBreak", "softBreak", "image", "htmlInline", "footnoteReference")

Check = Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a content expression: any of `names`, once or many times."""

    names: frozenset[str]
    least: int
    many: bool


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its check, and its default unless it is required."""

    check: Check
    default: Any = None
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class NodeType:
    """One kind of node."""

    name: str
    content: tuple[Part, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    is_inline: bool = False
    allows_marks: bool = False
    adds_level: bool = False
    first: frozenset[str] = frozenset()

    @property
    def is_leaf(self) -> bool:
        return not self.content

    @property
    def is_text(self) -> bool:
        return self.name == "text"

    def fits(self, names: Sequence[str]) -> bool:
        """True if children of these types are a complete content."""
        at = 0
        for part in self.content:
            begun = at
            while at < len(names) and names[at] in part.names and (part.many or at == begun):
                at += 1
            if at - begun < part.least:
                return False
        return at == len(names)

    def joins(self, other: "NodeType") -> bool:
        """True if the content of `other` may be appended to a node of this type."""
        return self is other or bool(self.first & other.first)


def utf16(text: str) -> str:
    """The text with two code points for each character that UTF-16 writes as two units."""
    if text.isascii() or not _ASTRAL.search(text):
        return text
    return _ASTRAL.sub(lambda m: _pair(ord(m[0]) - 0x10000), text)


def _pair(rest: int) -> str:
    return chr(0xD800 + (rest >> 10)) + chr(0xDC00 + (rest & 0x3FF))


def plain(text: str) -> str:
    """The opposite of `utf16`."""
    if text.isascii() or not _SURROGATES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _number(least: int, most: int) -> Check:
    def check(value: Any, path: str) -> int:
        if type(value) is not int or not least <= value <= most:
            raise SchemaError(path, f"this is a whole number from {least} to {most}")
        return value

    return check


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise SchemaError(path, "this is true or false")
    return value


def _maybe_flag(value: Any, path: str) -> Any:
    return None if value is None else _flag(value, path)


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_ATTRIBUTE:
        raise SchemaError(path, f"this is a text of at most {MAX_ATTRIBUTE} characters")
    return value


def _address(value: Any, path: str) -> str:
    # Checked, not changed: the editor that sent it holds it as it is. Saving brings it to its form.
    address(value, path)
    return str(value)


def _align(value: Any, path: str) -> str:
    if not isinstance(value, str) or value not in {"left", "center", "right"}:
        raise SchemaError(path, "this is left, center or right")
    return value


def _parts(*parts: tuple[Sequence[str], int, bool]) -> tuple[Part, ...]:
    return tuple(Part(frozenset(names), least, many) for names, least, many in parts)


_ONE_OR_MORE_BLOCKS = _parts((BLOCKS, 1, True))
_ITEM = _parts((("paragraph",), 1, False), (BLOCKS, 0, True))
_LINE = _parts((INLINE, 0, True))
_CODE = _parts((("text",), 0, True))
_CELL = _parts((("paragraph",), 1, False))
_ALIGN = {"align": Attribute(_align)}
_LABEL = {"label": Attribute(label, is_required=True)}

_DEFINED = (
    NodeType("doc", _parts((BLOCKS, 1, True), (("footnote",), 0, True))),
    NodeType("paragraph", _LINE, allows_marks=True),
    NodeType("heading", _LINE, {"level": Attribute(_number(1, 6), 1)}, allows_marks=True),
    NodeType("bulletList", _parts((("listItem",), 1, True))),
    NodeType(
        "orderedList",
        _parts((("listItem",), 1, True)),
        {"start": Attribute(_number(0, MAX_START), 1)},
    ),
    NodeType("taskList", _parts((("taskItem",), 1, True))),
    # A list may hold tasks beside other items: then each task is an item with this attribute.
    NodeType("listItem", _ITEM, {"checked": Attribute(_maybe_flag)}, adds_level=True),
    NodeType("taskItem", _ITEM, {"checked": Attribute(_flag, default=False)}, adds_level=True),
    NodeType("blockquote", _ONE_OR_MORE_BLOCKS, adds_level=True),
    NodeType("codeBlock", _CODE, {"language": Attribute(_text)}),
    NodeType("htmlBlock", _CODE),
    NodeType("horizontalRule"),
    NodeType("table", _parts((("tableRow",), 1, True))),
    NodeType("tableRow", _parts((("tableHeader", "tableCell"), 1, True))),
    NodeType("tableHeader", _CELL, _ALIGN, adds_level=True),
    NodeType("tableCell", _CELL, _ALIGN, adds_level=True),
    NodeType("footnote", _ITEM, _LABEL, adds_level=True),
    NodeType("text", is_inline=True),
    NodeType("hardBreak", is_inline=True),
    NodeType("softBreak", is_inline=True),
    NodeType(
        "image",
        (),
        {
            "src": Attribute(_address, is_required=True),
            "alt": Attribute(_text),
            "title": Attribute(_text),
        },
        is_inline=True,
    ),
    NodeType("htmlInline", (), {"html": Attribute(_text, is_required=True)}, is_inline=True),
    NodeType("footnoteReference", (), _LABEL, is_inline=True),
)


def _with_first(kind: NodeType) -> NodeType:
    first = set[str]()
    for part in kind.content:
        first |= part.names
        if part.least:
            break
    return NodeType(
        kind.name,
        kind.content,
        kind.attributes,
        kind.is_inline,
        kind.allows_marks,
        kind.adds_level,
        frozenset(first),
    )


NODES: Mapping[str, NodeType] = {kind.name: _with_first(kind) for kind in _DEFINED}
TEXT = NODES["text"]
LINK = {"href": Attribute(_address, is_required=True), "title": Attribute(_text)}


def check_attribute(kind: NodeType, name: str, value: Any, path: str) -> Any:
    """The value of a node's attribute after its check. Raises `SchemaError`."""
    return _checked(kind.attributes, name, value, f"{path}.attrs.{str(name)[:40]}")


def _checked(attributes: Mapping[str, Attribute], name: str, value: Any, path: str) -> Any:
    attribute = attributes.get(name)
    if attribute is None:
        raise SchemaError(path, "there is no such attribute here")
    if value is None and not attribute.is_required:
        return attribute.default
    return attribute.check(value, path)


def attributes_of(
    attributes: Mapping[str, Attribute], given: Any, path: str
) -> tuple[tuple[str, Any], ...]:
    """All attributes in the order of the type. Raises `SchemaError`."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise SchemaError(f"{path}.attrs", "attrs is an object")
    for name in given:
        if name not in attributes:
            raise SchemaError(f"{path}.attrs.{str(name)[:40]}", "there is no such attribute here")
    return tuple(
        (name, _checked(attributes, name, given.get(name), f"{path}.attrs.{name}"))
        for name in attributes
    )


def only(given: Json, names: set[str], path: str) -> None:
    for name in given:
        if name not in names:
            raise SchemaError(f"{path}.{str(name)[:40]}", "there is no such field here")
