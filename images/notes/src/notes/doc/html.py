"""A document as HTML, as plain text, and as what it links to.

Invariant: everything that a document says is escaped; the only tags are those written here.
"""

import re
from html import escape
from typing import Any
from uuid import UUID

import msgspec

from notes.doc.attributes import Json

_MARK_TAGS = {
    "bold": "strong",
    "italic": "em",
    "strike": "s",
    "underline": "u",
    "highlight": "mark",
    "subscript": "sub",
    "superscript": "sup",
    "code": "code",
}
_BLOCK_TAGS = {
    "blockquote": "blockquote",
    "bulletList": "ul",
    "listItem": "li",
    "tableRow": "tr",
}
_PAGE = re.compile(r"^/p/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[#?]|$)")
_FILE = re.compile(
    r"/api/v1/attachments/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
)


class Derived(msgspec.Struct, frozen=True):
    """What is derived from a document when it is saved."""

    text: str
    links: list[UUID]


def html(doc: Json, attachments: str = "/api/v1/attachments/") -> str:
    """The document as HTML. Its files are looked for at `attachments`."""
    return "".join(_block(block, attachments) for block in doc["content"])


def _block(node: Json, base: str) -> str:
    kind = node["type"]
    attrs: dict[str, Any] = node.get("attrs", {})
    content: list[Json] = node.get("content", [])
    if kind == "paragraph":
        return f"<p>{_inline(content, base)}</p>\n"
    if kind == "heading":
        # The page's title is the h1.
        level = min(6, attrs["level"] + 1)
        return f"<h{level}>{_inline(content, base)}</h{level}>\n"
    if kind == "horizontalRule":
        return "<hr>\n"
    if kind == "codeBlock":
        text = escape(content[0]["text"]) if content else ""
        return f'<pre tabindex="0"><code>{text}\n</code></pre>\n'
    inner = "".join(_block(child, base) for child in content)
    if kind == "orderedList":
        start = "" if attrs["start"] == 1 else f' start="{attrs["start"]}"'
        return f"<ol{start}>\n{inner}</ol>\n"
    if kind == "taskList":
        return f'<ul class="tasks">\n{inner}</ul>\n'
    if kind == "taskItem":
        done = attrs["checked"]
        state, sign = ("done", "☑") if done else ("open", "☐")
        return f'<li><span role="img" aria-label="{state}">{sign}</span> {inner}</li>\n'
    if kind == "table":
        return f'<div class="wide" tabindex="0"><table>\n{inner}</table></div>\n'
    if kind in {"tableHeader", "tableCell"}:
        return _cell(node, base)
    tag = _BLOCK_TAGS[kind]
    return f"<{tag}>{inner}</{tag}>\n"


def _cell(node: Json, base: str) -> str:
    content = _inline(node["content"][0].get("content", []), base)
    align = node.get("attrs", {}).get("align")
    css = f' class="{align}"' if align else ""
    if node["type"] == "tableHeader" and content:
        return f'<th scope="col"{css}>{content}</th>'
    return f"<td{css}>{content}</td>"


def _inline(nodes: list[Json], base: str) -> str:
    return "".join(_inline_node(node, base) for node in nodes)


def _inline_node(node: Json, base: str) -> str:
    if node["type"] == "hardBreak":
        return "<br>"
    if node["type"] == "image":
        attrs = node["attrs"]
        title = f' title="{escape(attrs["title"])}"' if "title" in attrs else ""
        alt = escape(attrs.get("alt", ""))
        out = f'<img src="{_local(attrs["src"], base)}" alt="{alt}"{title} loading="lazy">'
    else:
        out = escape(node["text"], quote=False)
    for mark in reversed(node.get("marks", [])):
        if mark["type"] == "link":
            attrs = mark["attrs"]
            title = f' title="{escape(attrs["title"])}"' if "title" in attrs else ""
            out = (
                f'<a href="{_local(attrs["href"], base)}" rel="noopener nofollow"{title}>{out}</a>'
            )
        else:
            tag = _MARK_TAGS[mark["type"]]
            out = f"<{tag}>{out}</{tag}>"
    return out


def _local(url: str, base: str) -> str:
    return escape(_FILE.sub(lambda match: base + match[1], url))


def derive(doc: Json) -> Derived:
    """Plain text, a line a block, and the pages that are linked to."""
    lines = list[str]()
    links = dict[UUID, None]()
    _walk(doc, lines, links)
    return Derived("\n".join(lines), list(links))


def _walk(node: Json, lines: list[str], links: dict[UUID, None]) -> None:
    content: list[Json] = node.get("content", [])
    if content and content[0]["type"] in {"text", "hardBreak", "image"}:
        parts = list[str]()
        for child in content:
            if child["type"] == "text":
                parts.append(child["text"])
            else:
                parts.append(child.get("attrs", {}).get("alt", "") or "\n")
            for mark in child.get("marks", ()):
                page = _PAGE.match(mark["attrs"]["href"]) if mark["type"] == "link" else None
                if page:
                    links[UUID(page[1])] = None
        lines.append("".join(parts))
        return
    for child in content:
        _walk(child, lines, links)


def rewrite(node: Any, change: "Any") -> Any:
    """A copy of a document with every address `a` replaced by `change(a)`."""
    if isinstance(node, list):
        return [rewrite(child, change) for child in node]
    if not isinstance(node, dict):
        return node
    made = {key: rewrite(value, change) for key, value in node.items()}
    attrs = made.get("attrs")
    if isinstance(attrs, dict):
        for name in ("href", "src"):
            if name in attrs:
                attrs[name] = change(attrs[name])
    return made
