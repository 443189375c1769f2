"""The schema of documents as ProseMirror's `Schema` takes it."""

from notes.doc.attributes import MARKS, Json
from notes.steps.schema import NODES, NodeType


def _expression(kind: NodeType) -> str:
    return " ".join(
        f"({'|'.join(sorted(part.names))}){('*', '+')[part.least] if part.many else ''}"
        for part in kind.content
    )


def _node_spec(kind: NodeType) -> Json:
    attrs = {
        name: {} if attribute.is_required else {"default": attribute.default}
        for name, attribute in kind.attributes.items()
    }
    made: Json = {"content": _expression(kind), "inline": kind.is_inline, "attrs": attrs}
    if kind.content and not kind.allows_marks:
        made["marks"] = ""
    return {} if kind.is_text else made


def schema() -> Json:
    """The schema as ProseMirror's `Schema` takes it."""
    link = {"attrs": {"href": {}, "title": {"default": None}}}
    return {
        "nodes": {name: _node_spec(kind) for name, kind in NODES.items()},
        "marks": {name: link if name == "link" else {} for name in MARKS},
    }
