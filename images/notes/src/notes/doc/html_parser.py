"""Reads HTML into a document: its content, not its appearance.

The parser is lxml's, which calls a builder for each tag and builds no tree. Invariant: the result
holds no raw HTML, so nothing has to be sanitised, and the schema checks all addresses.
"""

import re
from typing import Any

from lxml import etree

from notes.doc.attributes import Json
from notes.doc.html_blocks import BlockBuilder, Read

MAX_TAGS = 150_000
_MARKS = {
    "strong": "bold",
    "b": "bold",
    "em": "italic",
    "i": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strike",
    "del": "strike",
    "strike": "strike",
    "mark": "highlight",
    "sub": "subscript",
    "sup": "superscript",
    "code": "code",
    "kbd": "code",
    "samp": "code",
    "tt": "code",
    "annotation": "code",
}
_SKIPPED = {
    "script", "style", "template", "noscript", "svg", "button", "select", "textarea", "object",
    "canvas", "title", "math:semantics",
}  # fmt: skip
_ICONS = {"property-icon", "page-header-icon"}
_EMBEDS = {"iframe", "embed", "video", "audio", "source"}
_BREAKS = {
    "p", "div", "section", "article", "header", "footer", "main", "figure", "figcaption", "address",
    "center", "details", "summary", "dl", "dt", "dd", "nav", "form", "fieldset", "caption", "body",
    "hgroup", "legend",
}  # fmt: skip
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_VOID = {"br", "hr", "img", "input", "meta", "link", "source", "embed", "wbr", "col", "area"}
_LANGUAGE = re.compile(r"\blang(?:uage)?-([\w+#.-]+)")


class UnreadableHtmlError(ValueError):
    """The HTML is too large or too complex; the text says why."""


def read(source: str) -> Read:
    """The blocks of a HTML page or fragment. Raises `UnreadableHtmlError`."""
    if source.count("<") > MAX_TAGS:
        raise UnreadableHtmlError(f"it has more than {MAX_TAGS} tags")
    builder = _Builder()
    parser = etree.HTMLParser(target=builder, encoding="utf-8", no_network=True)
    try:
        if source.strip():
            parser.feed(source.encode("utf-8", "replace"))
            parser.close()
    except (etree.LxmlError, RecursionError):
        raise UnreadableHtmlError("the parser cannot read it as HTML") from None
    if any("depth" in str(entry.message).lower() for entry in parser.feed_error_log):
        raise UnreadableHtmlError("it is nested too deeply")
    builder.end()
    return builder.found


class _Builder:
    """The parser's target: the parser calls `start`, `end`, `data` and `close`."""

    def __init__(self) -> None:
        self.found = Read()
        self._blocks = BlockBuilder(self.found)
        self._open: list[str] = []  # tags, of which some have a block
        self._skip = 0
        self._code: list[str] | None = None
        self._language: str | None = None
        self._in_katex = 0
        self._title: list[str] | None = None

    # Called by the parser.

    def start(self, tag: str, attrs: Any) -> None:
        tag = tag.lower()
        if self._skip:
            self._skip += tag not in _VOID
            return
        classes = str(attrs.get("class", "")).split()
        if tag in _SKIPPED or _ICONS & set(classes) or tag == "head":
            self._skip = 1
            return
        if self._title is None and self.found.title is None and "page-title" in classes:
            self._blocks.flush()
            self._title = []
            self._open.append("page-title")
            return
        if tag not in _VOID:
            self._open.append(tag)
        if self._in_katex or "katex" in classes:
            self._in_katex += tag not in _VOID
            if tag == "annotation":
                self._blocks.mark("code", 1)
            return
        if self._code is not None:
            if tag == "br":
                self._code.append("\n")
            elif tag == "code" and self._language is None:
                self._language = _language(attrs)
            return
        self._tag(tag, attrs, classes)

    def end(self, tag: str | None = None) -> None:
        if tag is None:
            self._blocks.finish()
            return
        tag = tag.lower()
        if self._skip:
            self._skip -= tag not in _VOID
            return
        if self._open and self._open[-1] == "page-title":
            self._open.pop()
            self.found.title = "".join(self._title or []).strip() or None
            self._title = None
            return
        if self._open and self._open[-1] == tag:
            self._open.pop()
        if self._in_katex:
            self._in_katex -= tag not in _VOID
            if tag == "annotation":
                self._blocks.mark("code", -1)
            return
        self._end_tag(tag)

    def data(self, text: str) -> None:
        if self._skip:
            return
        if self._title is not None:
            self._title.append(text)
        elif self._code is not None:
            self._code.append(text)
        elif not self._in_katex or self._blocks.has_mark("code"):
            self._blocks.text(text)

    def comment(self, text: str) -> None:
        """Nobody sees comments."""

    def close(self) -> None:
        """Does nothing: `end` without a tag completes open blocks."""

    # What the tags mean.

    def _tag(self, tag: str, attrs: Any, classes: list[str]) -> None:
        if tag in _MARKS:
            self._blocks.mark(_MARKS[tag], 1)
        elif tag == "a":
            self._blocks.link(str(attrs.get("href", "")))
        elif tag == "br":
            self._blocks.line_break()
        elif tag == "img":
            self._blocks.image(str(attrs.get("src", "")), str(attrs.get("alt", "")))
        elif tag in _EMBEDS:
            self._blocks.embed(str(attrs.get("src", "")))
        elif tag == "input":
            if str(attrs.get("type", "")).lower() == "checkbox":
                self._blocks.task("checked" in attrs)
        elif tag == "hr":
            self._blocks.add({"type": "horizontalRule"})
        elif "checkbox" in classes and {"checkbox-on", "checkbox-off"} & set(classes):
            self._blocks.task("checkbox-on" in classes)
        else:
            self._block(tag, attrs, classes)

    def _block(self, tag: str, attrs: Any, classes: list[str]) -> None:
        if tag in _HEADINGS:
            self._blocks.push(tag, {"type": "heading", "attrs": {"level": _HEADINGS[tag]}})
        elif tag in {"ul", "menu"}:
            self._blocks.push(tag, {"type": "bulletList"})
        elif tag == "ol":
            start = str(attrs.get("start", "1"))
            number = int(start) if re.fullmatch(r"[0-9]{1,8}", start) else 1
            self._blocks.push(tag, {"type": "orderedList", "attrs": {"start": number}})
        elif tag == "li":
            self._blocks.push(tag, {"type": "listItem"})
        elif tag in {"blockquote", "aside"} or "callout" in classes:
            self._blocks.push(tag, {"type": "blockquote"})
        elif tag == "pre":
            self._blocks.flush()
            self._code, self._language = [], _language(attrs)
        elif tag == "table":
            self._blocks.push(tag, {"type": "table"})
        elif tag == "tr":
            self._blocks.push(tag, {"type": "tableRow"})
        elif tag in {"td", "th"}:
            kind = "tableHeader" if tag == "th" else "tableCell"
            span = str(attrs.get("colspan", "1"))
            node: Json = {"type": kind, "span": min(int(span), 50) if span.isdecimal() else 1}
            self._blocks.push(tag, node)
        elif tag in _BREAKS:
            self._blocks.flush()

    def _end_tag(self, tag: str) -> None:
        if tag in _MARKS:
            self._blocks.mark(_MARKS[tag], -1)
        elif tag == "a":
            self._blocks.end_link()
        elif tag == "pre" and self._code is not None:
            text = "".join(self._code).strip("\n")
            self._code = None
            node: Json = {"type": "codeBlock", "attrs": {"language": self._language}}
            if text:
                node["content"] = [{"type": "text", "text": text}]
            self._blocks.add(node)
        elif not self._blocks.close(tag) and tag in _BREAKS:
            self._blocks.flush()


def _language(attrs: Any) -> str | None:
    match = _LANGUAGE.search(str(attrs.get("class", "")))
    return match[1] if match else None
