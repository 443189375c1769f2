"""The normal form of inline nodes: texts, breaks, images, tags, references.

Invariant: neighbouring texts with the same marks are one text; a pair of raw tags that means a mark
becomes that mark; a break is only where Markdown can have one.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from notes.doc import raw_html
from notes.doc.attributes import (
    SEEN_AS_SPACE,
    Json,
    SchemaError,
    address,
    attributes,
    label,
    marked,
    marks_of,
    plain_text,
    same_marks,
    with_marks,
)

#: Removes control characters from a text and counts its characters; arguments: text and path.
Clean = Callable[[str, str], str]
BREAK: Json = {"type": "hardBreak"}
BREAKS = {"hardBreak", "softBreak"}


def normal(
    nodes: list[Json], path: str, clean: Clean, labels: Mapping[str, str], *, breaks: bool
) -> list[Json]:
    """The nodes of a line in normal form; `labels` maps case-folded footnote labels to labels.

    Without `breaks` a soft break becomes a space.
    """
    line = _Line(clean, labels, breaks=breaks)
    made = [line.node(node, f"{path}.content[{at}]") for at, node in enumerate(nodes)]
    return _joined(_settled(_paired(made)))


def one_line(nodes: list[Json]) -> list[Json]:
    """A line in normal form, with spaces instead of soft breaks."""
    return _joined(
        [
            marked({"type": "text", "text": " "}, n.get("marks", []))
            if n["type"] == "softBreak"
            else n
            for n in nodes
        ]
    )


class _Line:
    def __init__(self, clean: Clean, labels: Mapping[str, str], *, breaks: bool) -> None:
        self._clean = clean
        self._labels = labels
        self._breaks = breaks

    def node(self, node: Json, path: str) -> Json:
        """One inline node in normal form; an invalid tag or reference becomes text."""
        kind = node["type"]
        marks = marks_of(node, path)
        if kind == "text":
            made = self._text(node.get("text"), path)
        elif kind == "hardBreak":
            made = dict(BREAK)
        elif kind == "softBreak":
            made = {"type": "softBreak"} if self._breaks else {"type": "text", "text": " "}
        elif kind == "image":
            made = self._image(node, path)
        elif kind == "htmlInline":
            made = self._tag(node, path)
        elif kind == "footnoteReference":
            made = self._reference(node, path)
        else:
            raise SchemaError(path, f"{kind[:40]!r} cannot be within a line")
        if made["type"] == "footnoteReference":
            # A reference is a link itself, and a link cannot contain a link.
            marks = [mark for mark in marks if mark["type"] != "link"]
        return marked(made, marks)

    def _text(self, text: Any, path: str) -> Json:
        if not isinstance(text, str):
            raise SchemaError(path, "a text node has a text")
        plain = text.replace("\r\n", "\n").translate(SEEN_AS_SPACE)
        return {"type": "text", "text": self._clean(plain, path)}

    def _image(self, node: Json, path: str) -> Json:
        attrs = attributes(node, path)
        kept: Json = {"src": address(attrs.get("src"), f"{path}.attrs.src")}
        for name in ("alt", "title"):
            value = attrs.get(name)
            if isinstance(value, str) and value:
                plain = self._clean(plain_text(value), path)
                if plain:
                    kept[name] = plain
        return {"type": "image", "attrs": kept}

    def _tag(self, node: Json, path: str) -> Json:
        made = self._text(attributes(node, path).get("html"), path)
        source = made["text"]
        if raw_html.is_break(source):
            return dict(BREAK)
        return (
            {"type": "htmlInline", "attrs": {"html": source}} if raw_html.is_tag(source) else made
        )

    def _reference(self, node: Json, path: str) -> Json:
        name = label(attributes(node, path).get("label"), f"{path}.attrs.label")
        known = self._labels.get(name.casefold())
        if known is None:
            return self._text(f"[^{name}]", path)
        return {"type": "footnoteReference", "attrs": {"label": known}}


def _paired(nodes: list[Json]) -> list[Json]:
    """Replaces pairs of raw tags by marks; a tag without its counterpart is kept."""
    tags = [
        raw_html.mark_tag(n["attrs"]["html"]) if n["type"] == "htmlInline" else None for n in nodes
    ]
    if not any(tags):
        return nodes
    waiting = dict[str, list[int]]()
    twins = set[int]()
    for at, tag in enumerate(tags):
        if tag is None:
            continue
        name, _, closes = tag
        if not closes:
            waiting.setdefault(name, []).append(at)
        elif waiting.get(name):
            twins |= {waiting[name].pop(), at}
    found = list[Json]()
    opened = Counter[str]()
    for at, (node, tag) in enumerate(zip(nodes, tags, strict=True)):
        if tag is not None and at in twins:
            opened[tag[1]] += -1 if tag[2] else 1
            continue
        here = [kind for kind, count in opened.items() if count]
        # An unpaired tag that Markdown is written with could later form a pair: keep it as text.
        is_text = tag is not None and tag[0] in raw_html.WRITTEN_TAGS
        made = {"type": "text", "text": node["attrs"]["html"]} if is_text else dict(node)
        found.append(marked(made, with_marks(node.get("marks", []), here)))
    return found


def _settled(nodes: list[Json]) -> list[Json]:
    """Removes empty texts, and soft breaks next to another break or at an end."""
    full = [node for node in nodes if node["type"] != "text" or node["text"]]
    found = list[Json]()
    for at, node in enumerate(full):
        if node["type"] == "softBreak":
            before = found[-1]["type"] if found else "softBreak"
            after = full[at + 1]["type"] if at + 1 < len(full) else "softBreak"
            if before in BREAKS or after in BREAKS:
                continue
        found.append(node)
    return found


def _joined(nodes: list[Json]) -> list[Json]:
    """Joins neighbouring texts that have the same marks."""
    found = list[Json]()
    parts = list[list[str]]()
    for node in nodes:
        is_text = node["type"] == "text"
        if is_text and parts and parts[-1] and same_marks(found[-1], node.get("marks", [])):
            parts[-1].append(node["text"])
        else:
            found.append(node)
            parts.append([node["text"]] if is_text else [])
    for node, texts in zip(found, parts, strict=True):
        if texts:
            node["text"] = "".join(texts)
    return found
