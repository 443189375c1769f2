"""Derives HTML, plain text and links from a document.

Invariant: all text of a document is escaped; the only tags are those written here. Raw HTML is
shown as text; an address becomes a link only if its scheme is known to be harmless.
"""

import re
import unicodedata
from html import escape
from typing import Any
from uuid import UUID

import msgspec

from notes.doc.attributes import Json, is_live
from notes.doc.raw_html import TAG_OF_MARK

_BLOCK_TAGS = {
    "blockquote": "blockquote",
    "bulletList": "ul",
    "tableRow": "tr",
}
_ID = r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?=[#?]|$)"
_PAGE = re.compile(r"^/p/" + _ID)
_FILE = re.compile(r"^/api/v1/attachments/" + _ID)
_IN_LINES = {"text", "hardBreak", "softBreak", "image", "htmlInline", "footnoteReference"}
#: The endings of the files that a page shows in their place, and the element that shows them.
SHOWN = (
    dict.fromkeys(("mp4", "m4v", "mov", "ogv", "webm"), "video")
    | dict.fromkeys(("aac", "flac", "m4a", "mp3", "oga", "ogg", "opus", "wav"), "audio")
    | {"pdf": "pdf"}
)
PAGES = "/p/"
FILES = "/api/v1/attachments/"


class Derived(msgspec.Struct, frozen=True):
    """The text and links that are derived from a document when it is saved."""

    text: str
    links: list[UUID]


def html(doc: Json, attachments: str = FILES, pages: str = PAGES) -> str:
    """The document as HTML; links to files and pages get the given path prefixes.

    Only an address that is exactly a page's or a file's of this site gets a prefix: a prefix may
    contain a secret, so no other address may get it.
    """
    return _Writer(attachments, pages).doc(doc)


class _Writer:
    def __init__(self, files: str, pages: str) -> None:
        self._files = files
        self._pages = pages
        self._ids = dict[str, int]()
        self._numbers = dict[str, int]()

    def doc(self, doc: Json) -> str:
        notes = [block for block in doc["content"] if block["type"] == "footnote"]
        body = "".join(self._block(b) for b in doc["content"] if b["type"] != "footnote")
        if not notes:
            return body
        items = {note["attrs"]["label"]: self._inner(note) for note in notes}
        for name in items:
            self._number(name)
        listed = "".join(
            f'<li id="fn:{escape(name)}">\n{items[name]}'
            f'<a href="#fnref:{escape(name)}" aria-label="back to the text">↩</a></li>\n'
            for name in sorted(items, key=self._number)
        )
        return f'{body}<section aria-label="Footnotes">\n<hr>\n<ol>\n{listed}</ol>\n</section>\n'

    def _number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers) + 1)

    def _inner(self, node: Json) -> str:
        return "".join(self._block(child) for child in node.get("content", []))

    def _block(self, node: Json) -> str:
        kind = node["type"]
        attrs: dict[str, Any] = node.get("attrs", {})
        content: list[Json] = node.get("content", [])
        if kind == "paragraph":
            return self._file(content) or f"<p>{self._line(content)}</p>\n"
        if kind == "heading":
            # The page's title is the h1.
            level = min(6, attrs["level"] + 1)
            return f"<h{level}{self._id(content)}>{self._line(content)}</h{level}>\n"
        if kind == "horizontalRule":
            return "<hr>\n"
        if kind in {"codeBlock", "htmlBlock"}:
            text = escape(content[0]["text"]) if content else ""
            name = attrs.get("language")
            language = f' class="language-{escape(name)}"' if name else ""
            return f'<pre tabindex="0"><code{language}>{text}\n</code></pre>\n'
        if kind in {"listItem", "taskItem"}:
            return self._item(node)
        if kind in {"tableHeader", "tableCell"}:
            return self._cell(node)
        inner = self._inner(node)
        if kind == "orderedList":
            start = "" if attrs["start"] == 1 else f' start="{attrs["start"]}"'
            return f"<ol{start}>\n{inner}</ol>\n"
        if kind == "taskList":
            return f'<ul class="tasks">\n{inner}</ul>\n'
        if kind == "table":
            return f'<div class="wide" tabindex="0"><table>\n{inner}</table></div>\n'
        tag = _BLOCK_TAGS[kind]
        return f"<{tag}>{inner}</{tag}>\n"

    def _file(self, content: list[Json]) -> str:
        """A paragraph that only links to a film, a sound or a PDF of this site: its player."""
        name = content[0].get("text", "") if len(content) == 1 else ""
        kind = SHOWN.get(name.rpartition(".")[2].lower())
        marks: list[Json] = content[0].get("marks", []) if kind else []
        href = next((one["attrs"]["href"] for one in marks if one["type"] == "link"), "")
        if not _FILE.match(href) or "?" in href:
            return ""
        source, label = f'src="{self._local(href)}"', escape(name)
        shown = (
            f'<details><summary>PDF</summary><iframe {source} title="{label}" loading="lazy">'
            "</iframe></details>"
            if kind == "pdf"
            else f'<{kind} {source} aria-label="{label}" controls preload="metadata"></{kind}>'
        )
        said = self._line(content)
        return f'<figure class="file">{shown}<figcaption>{said}</figcaption></figure>\n'

    def _item(self, node: Json) -> str:
        checked = node.get("attrs", {}).get("checked")
        if checked is None:
            return f"<li>{self._inner(node)}</li>\n"
        state, sign = ("done", "☑") if checked else ("open", "☐")
        box = f'<span role="img" aria-label="{state}">{sign}</span>'
        return f'<li class="task">{box} {self._inner(node)}</li>\n'

    def _id(self, content: list[Json]) -> str:
        """The `id` attribute of a heading, derived from its text as GitHub does."""
        text = "".join(node["text"] for node in content if node["type"] == "text")
        base = slug(text)
        if not base:
            return ""
        made = base
        while made in self._ids:
            self._ids[base] += 1
            made = f"{base}-{self._ids[base]}"
        self._ids[made] = 0
        return f' id="{escape(made)}"'

    def _cell(self, node: Json) -> str:
        content = self._line(node["content"][0].get("content", []))
        align = node.get("attrs", {}).get("align")
        css = f' class="{align}"' if align else ""
        if node["type"] == "tableHeader" and content:
            return f'<th scope="col"{css}>{content}</th>'
        return f"<td{css}>{content}</td>"

    def _line(self, nodes: list[Json]) -> str:
        return "".join(self._inline(node) for node in nodes)

    def _inline(self, node: Json) -> str:
        attrs: dict[str, Any] = node.get("attrs", {})
        marks: list[Json] = node.get("marks", [])
        match node["type"]:
            case "hardBreak":
                return "<br>"
            case "softBreak":
                return "\n"
            case "image":
                out = self._image(attrs)
            case "htmlInline":
                out = f"<code>{escape(attrs['html'], quote=False)}</code>"
            case "footnoteReference":
                out = self._reference(attrs["label"])
            case _:
                out = escape(node["text"], quote=False)
        for mark in reversed(marks):
            if mark["type"] == "link":
                out = self._link(mark["attrs"], out)
            else:
                tag = TAG_OF_MARK[mark["type"]]
                out = f"<{tag}>{out}</{tag}>"
        return out

    def _reference(self, label: str) -> str:
        first = "" if label in self._numbers else f' id="fnref:{escape(label)}"'
        number = self._number(label)
        return f'<sup{first}><a href="#fn:{escape(label)}">{number}</a></sup>'

    def _image(self, attrs: Json) -> str:
        alt = escape(attrs.get("alt", ""))
        if not is_live(attrs["src"]):
            return alt
        title = f' title="{escape(attrs["title"])}"' if "title" in attrs else ""
        return f'<img src="{self._local(attrs["src"])}" alt="{alt}"{title} loading="lazy">'

    def _link(self, attrs: Json, inner: str) -> str:
        if attrs["href"].lower().startswith("mention:"):
            # The name alone: the account's id is not for readers of public pages.
            return f'<span class="mention">{inner}</span>'
        if not is_live(attrs["href"]):
            # Not a link: it is unknown which program would open the address, and with what effect.
            return f'<span title="{escape(attrs["href"])}">{inner}</span>'
        title = f' title="{escape(attrs["title"])}"' if "title" in attrs else ""
        href = self._local(attrs["href"])
        return f'<a href="{href}" rel="noopener nofollow"{title}>{inner}</a>'

    def _local(self, url: str) -> str:
        for pattern, base in ((_FILE, self._files), (_PAGE, self._pages)):
            found = pattern.match(url)
            if found:
                return escape(base + found[1] + url[found.end() :])
        return escape(url)


def slug(text: str) -> str:
    """A heading's text as an anchor: letters, digits, `-` and `_`, in lower case."""
    plain = text.lower().replace(" ", "-")
    return "".join(
        c for c in plain if c in "-_" or c.isalnum() or unicodedata.category(c)[0] == "M"
    )


def derive(doc: Json) -> Derived:
    """The plain text, one line per block, and the ids of the linked pages."""
    lines = list[str]()
    links = dict[UUID, None]()
    _walk(doc, lines, links)
    return Derived("\n".join(lines), list(links))


def _walk(node: Json, lines: list[str], links: dict[UUID, None]) -> None:
    content: list[Json] = node.get("content", [])
    if content and content[0]["type"] in _IN_LINES:
        parts = list[str]()
        for child in content:
            parts.append(_said(child))
            for mark in child.get("marks", ()):
                page = _PAGE.match(mark["attrs"]["href"]) if mark["type"] == "link" else None
                if page:
                    links[UUID(page[1])] = None
        lines.append("".join(parts))
        return
    for child in content:
        _walk(child, lines, links)


def _said(node: Json) -> str:
    """The plain text of an inline node."""
    attrs: dict[str, Any] = node.get("attrs", {})
    match node["type"]:
        case "text":
            return str(node["text"])
        case "softBreak" | "footnoteReference":
            return " "
        case "htmlInline":
            return str(attrs["html"])
    return str(attrs.get("alt", "")) or "\n"


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
