"""Reads documents and slices from their JSON, strictly.

Invariant: an unknown name, attribute, mark or field is refused, never dropped.
"""

from typing import Any

from notes.doc.attributes import SchemaError
from notes.doc.schema import MAX_DEPTH
from notes.steps.checks import check, check_limits
from notes.steps.marks import marks_of
from notes.steps.model import EMPTY, Node, Slice
from notes.steps.schema import NODES, attributes_of, only, utf16

MAX_NESTING = 2 * MAX_DEPTH + 10
FIELDS = {"type", "attrs", "content", "marks", "text"}


def document(given: Any) -> Node:
    """A whole document from its JSON, checked. Raises `SchemaError` or `StepError`."""
    doc = node_from(given, "doc")
    if doc.kind.name != "doc":
        raise SchemaError("doc", "a document is an object of the type doc")
    if doc.marks:
        raise SchemaError("doc", "a document has no marks")
    check(doc)
    check_limits(doc)
    return doc


def node_from(given: Any, path: str, nesting: int = 0) -> Node:
    """A node from its JSON; its content is not checked yet. Raises `SchemaError`."""
    name = given.get("type") if isinstance(given, dict) else None
    kind = NODES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SchemaError(path, f"{str(name)[:40]!r} is no node")
    if nesting > MAX_NESTING:
        raise SchemaError(path, f"more than {MAX_NESTING} levels")
    only(given, FIELDS, path)
    marks = marks_of(given.get("marks"), path)
    if kind.is_text:
        text = given.get("text")
        if not isinstance(text, str) or not text or "content" in given or given.get("attrs"):
            raise SchemaError(path, "a text node has a text, and no attrs or content")
        return Node(kind, (), (), marks, utf16(text))
    if "text" in given:
        raise SchemaError(f"{path}.text", "only a text node has a text")
    attrs = attributes_of(kind.attributes, given.get("attrs"), path)
    return Node(kind, attrs, content_from(given.get("content"), path, nesting + 1), marks)


def content_from(given: Any, path: str, nesting: int) -> tuple[Node, ...]:
    """The nodes of a JSON list. Raises `SchemaError`."""
    if given is None:
        return ()
    if not isinstance(given, list):
        raise SchemaError(f"{path}.content", "content is a list")
    return tuple(
        node_from(child, f"{path}.content[{at}]", nesting) for at, child in enumerate(given)
    )


def slice_from(given: Any, path: str) -> Slice:
    """A slice from its JSON. Raises `SchemaError`."""
    if given is None:
        return EMPTY
    if not isinstance(given, dict):
        raise SchemaError(path, "a slice is an object")
    only(given, {"content", "openStart", "openEnd"}, path)
    content = content_from(given.get("content"), path, 0)
    opened = given.get("openStart", 0), given.get("openEnd", 0)
    for count, last in zip(opened, (0, -1), strict=True):
        if type(count) is not int or not 0 <= count <= _spine(content, last):
            raise SchemaError(path, "a slice is open at as many levels as it has")
    made = Slice(content, *opened)
    if made.size < 0:
        raise SchemaError(path, "a slice is open at more levels than it has")
    return made


def _spine(content: tuple[Node, ...], at: int) -> int:
    depth = 0
    while content and not content[at].kind.is_leaf:
        depth += 1
        content = content[at].content
    return depth
