"""Reads the editor document of an Outline export into a document.

Invariant: of an unknown node only its text is kept; nothing is copied unchecked.
"""

from typing import Any

from notes.doc.attributes import Json, SchemaError, address

MAX_DEEP = 28
_MARKS = {
    "strong": "bold",
    "em": "italic",
    "underline": "underline",
    "strikethrough": "strike",
    "highlight": "highlight",
    "code_inline": "code",
    "bold": "bold",
    "italic": "italic",
    "code": "code",
    "strike": "strike",
}
_LISTS = {
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "checkbox_list": "taskList",
}
_CONTAINERS = {"doc", "toggle_block", "container_toggle", "heading_section"}


def read(doc: Any) -> list[Json]:
    """The blocks of a document; an empty list if `doc` is no object."""
    return _blocks(_content(doc), 0) if isinstance(doc, dict) else []


def _content(node: Any) -> list[Any]:
    content = node.get("content") if isinstance(node, dict) else None
    if not isinstance(content, list):
        return []
    return [child for child in content if isinstance(child, dict)]


def _attrs(node: Json) -> Json:
    attrs = node.get("attrs")
    return attrs if isinstance(attrs, dict) else {}


def _blocks(nodes: list[Any], depth: int) -> list[Json]:
    made = list[Json]()
    line = list[Json]()
    for node in nodes:
        kind = node.get("type")
        if kind in {"text", "image", "br", "hard_break", "mention", "emoji", "math_inline"}:
            line += _inline(node)
            continue
        if line:
            made.append({"type": "paragraph", "content": line})
            line = []
        if depth > MAX_DEEP:
            made.append({"type": "paragraph", "content": _texts(node)})
        else:
            made += _block(node, str(kind), depth)
    if line:
        made.append({"type": "paragraph", "content": line})
    return made


def _block(node: Json, kind: str, depth: int) -> list[Json]:
    attrs = _attrs(node)
    if kind == "heading":
        level = attrs.get("level")
        number = level if type(level) is int and 1 <= level <= 6 else 1
        return [{"type": "heading", "attrs": {"level": number}, "content": _line(node)}]
    if kind in {"code_block", "code_fence", "math_block"}:
        language = "latex" if kind == "math_block" else attrs.get("language")
        text = "".join(str(child.get("text", "")) for child in _content(node))
        block: Json = {"type": "codeBlock", "attrs": {"language": language}}
        return [{**block, "content": [{"type": "text", "text": text}]}] if text else [block]
    if kind == "hr":
        return [{"type": "horizontalRule"}]
    if kind in _LISTS:
        return _list(node, kind, depth)
    if kind in {"blockquote", "container_notice"}:
        inner = _blocks(_content(node), depth + 1)
        if kind == "container_notice":
            style = str(attrs.get("style") or "info").capitalize()[:40]
            bold = {"type": "text", "text": style, "marks": [{"type": "bold"}]}
            inner.insert(0, {"type": "paragraph", "content": [bold]})
        return [{"type": "blockquote", "content": inner}]
    if kind == "table":
        return [{"type": "table", "content": [_row(row, depth) for row in _content(node)]}]
    if kind in {"attachment", "embed", "video"}:
        href = attrs.get("href") or attrs.get("src")
        title = attrs.get("title") or attrs.get("name") or href
        return [{"type": "paragraph", "content": _linked(str(title or ""), href)}]
    if kind in _CONTAINERS or any(str(c.get("type")) == "paragraph" for c in _content(node)):
        return _blocks(_content(node), depth + 1)
    return [{"type": "paragraph", "content": _line(node)}]


def _list(node: Json, kind: str, depth: int) -> list[Json]:
    items = list[Json]()
    for item in _content(node):
        blocks = _blocks(_content(item), depth + 1)
        if kind == "checkbox_list":
            done = _attrs(item).get("checked") is True
            items.append({"type": "taskItem", "attrs": {"checked": done}, "content": blocks})
        else:
            items.append({"type": "listItem", "content": blocks})
    made: Json = {"type": _LISTS[kind], "content": items}
    if kind == "ordered_list":
        order = _attrs(node).get("order")
        made["attrs"] = {"start": order if type(order) is int and 0 <= order < 10**8 else 1}
    return [made]


def _row(row: Json, depth: int) -> Json:
    cells = list[Json]()
    for cell in _content(row):
        kind = "tableHeader" if cell.get("type") == "th" else "tableCell"
        made: Json = {"type": kind, "content": _blocks(_content(cell), depth + 2)}
        align = _attrs(cell).get("alignment")
        if align in {"left", "center", "right"}:
            made["attrs"] = {"align": align}
        cells.append(made)
    return {"type": "tableRow", "content": cells}


def _line(node: Json) -> list[Json]:
    return [made for child in _content(node) for made in _inline(child)]


def _inline(node: Json) -> list[Json]:
    kind, attrs = node.get("type"), _attrs(node)
    if kind == "text":
        text = str(node.get("text", ""))
        marks = _marks(node)
        return [{"type": "text", "text": text, **({"marks": marks} if marks else {})}]
    if kind in {"br", "hard_break"}:
        return [{"type": "hardBreak"}]
    if kind == "image":
        src = attrs.get("src")
        if not _is_sound(src):
            return [{"type": "text", "text": str(attrs.get("alt") or "")}]
        return [{"type": "image", "attrs": {"src": src, "alt": str(attrs.get("alt") or "")}}]
    if kind == "mention":
        label = str(attrs.get("label") or "")
        if attrs.get("type") == "document" and attrs.get("modelId"):
            return _linked(label, f"/.doc/{attrs['modelId']}")
        return [{"type": "text", "text": f"@{label}"}]
    if kind == "emoji":
        return [{"type": "text", "text": f":{attrs.get('data-name', '')}:"}]
    if kind == "math_inline":
        text = "".join(str(child.get("text", "")) for child in _content(node))
        return [{"type": "text", "text": text, "marks": [{"type": "code"}]}]
    return _texts(node)


def _marks(node: Json) -> list[Json]:
    given = node.get("marks")
    made = list[Json]()
    for mark in given if isinstance(given, list) else []:
        kind = mark.get("type") if isinstance(mark, dict) else None
        if kind == "link" and _is_sound(_attrs(mark).get("href")):
            made.append({"type": "link", "attrs": {"href": _attrs(mark)["href"]}})
        elif kind in _MARKS:
            made.append({"type": _MARKS[kind]})
    return made


def _linked(text: str, href: Any) -> list[Json]:
    if not text:
        return []
    node: Json = {"type": "text", "text": text}
    if _is_sound(href):
        node["marks"] = [{"type": "link", "attrs": {"href": href}}]
    return [node]


def _is_sound(value: Any) -> bool:
    try:
        address(value, "href")
    except SchemaError:
        return False
    return True


def _texts(node: Json) -> list[Json]:
    """The text of a node and of all nodes in it."""
    found, stack = list[str](), [node]
    while stack:
        here = stack.pop()
        if isinstance(here.get("text"), str):
            found.append(here["text"])
        stack += reversed(_content(here))
    text = " ".join(found)
    return [{"type": "text", "text": text}] if text else []
