"""Reads Markdown into a document.

Invariant: every text is a document; unknown syntax stays text. HTML is kept as text and never run;
only the tags that mean marks become marks.
"""

import re
import time
from collections import Counter
from typing import Any

from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from notes.doc.attributes import Json, SchemaError, address
from notes.doc.markdown_rules import parser
from notes.doc.schema import normalise

_OPENERS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_TASK = re.compile(r"\[([ xX])\](?:[ \n]|$)")
_ALIGN = re.compile(r"text-align:(left|center|right)")
MAX_CHARACTERS = 2_000_000
# Two million characters of ordinary text take four seconds.
MAX_CPU_S = 15.0


def parse(text: str) -> Json:
    """Reads a Markdown text into a document in normal form.

    Raises `SchemaError` only for a text that is too large, too deep or too complex.
    """
    if len(text) > MAX_CHARACTERS:
        raise SchemaError("markdown", f"more than {MAX_CHARACTERS} characters")
    tokens = parser().parse(text, {"until_s": time.thread_time() + MAX_CPU_S})
    return normalise({"type": "doc", "content": _blocks(tokens)})


def _blocks(tokens: list[Token]) -> list[Json]:
    stack: list[Json] = [{"type": "doc", "content": []}]
    footnotes = list[Json]()
    for token in tokens:
        kind = token.type
        if kind == "inline":
            line = _Inline().read(token.children or [])
            stack[-1]["content"].extend(line)
            stack[-1]["task"] = _TASK.match(token.content)
        elif kind.endswith("_open"):
            stack.append(_opened(token))
        elif kind == "footnote_reference_close":
            footnotes.append(stack.pop())
        elif kind.endswith("_close"):
            node = stack.pop()
            stack[-1]["content"].extend(_closed(node))
        elif kind in {"fence", "code_block"}:
            stack[-1]["content"].append(_code(token))
        elif kind == "html_block":
            raw = [{"type": "text", "text": token.content}]
            stack[-1]["content"].append({"type": "htmlBlock", "content": raw})
        elif kind == "hr":
            stack[-1]["content"].append({"type": "horizontalRule"})
    return [*stack[0]["content"], *footnotes]


def _opened(token: Token) -> Json:
    kind = token.type.removesuffix("_open")
    node: Json = {"type": _TYPES.get(kind, kind), "content": []}
    if kind == "heading":
        node["attrs"] = {"level": int(token.tag[1])}
    elif kind == "ordered_list":
        node["attrs"] = {"start": int(token.attrs.get("start", 1))}
    elif kind == "footnote_reference":
        node["attrs"] = {"label": token.meta["label"]}
    elif kind in {"th", "td"}:
        aligned = _ALIGN.search(str(token.attrs.get("style", "")))
        if aligned:
            node["attrs"] = {"align": aligned[1]}
    return node


_TYPES = {
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "footnote_reference": "footnote",
    "th": "tableHeader",
    "td": "tableCell",
    "tr": "tableRow",
}


def _closed(node: Json) -> list[Json]:
    """The nodes that a completed node adds to its parent."""
    if node["type"] in {"thead", "tbody"}:
        return list(node["content"])
    if node["type"] in {"tableHeader", "tableCell"}:
        node["content"] = [{"type": "paragraph", "content": node["content"]}]
    if node["type"] == "listItem":
        checked = _take_task(node)
        if checked is not None:
            node["attrs"] = {"checked": checked}
    return [node]


def _take_task(item: Json) -> bool | None:
    """Removes the task box at the start of a list item; its state, or None without a box."""
    first = item["content"][0] if item["content"] else {}
    match = first.get("task") if first.get("type") == "paragraph" else None
    text = first["content"][0] if match else {}
    # A box that is a link or escaped is no task box.
    if match is None or text.get("marks") or not text.get("text", "").startswith(match[0].rstrip()):
        return None
    text["text"] = text["text"][len(match[0].rstrip("\n")) :]
    return bool(match[1] != " ")


def _code(token: Token) -> Json:
    language = next(iter(unescapeAll(token.info).split()), None)
    text = token.content.removesuffix("\n")
    return {
        "type": "codeBlock",
        "attrs": {"language": language},
        "content": [{"type": "text", "text": text}] if text else [],
    }


class _Inline:
    """Reads the tokens of one line of text.

    It only counts how often each mark is open: copying the open marks for every text would take
    quadratic time.
    """

    def __init__(self) -> None:
        self._open = Counter[str]()
        self._links: list[Json | None] = []
        self._out: list[Json] = []

    def read(self, tokens: list[Token]) -> list[Json]:
        for token in tokens:
            self._token(token)
        return self._out

    def _token(self, token: Token) -> None:
        match token.type:
            case "text":
                self._text(token.content)
            case "softbreak":
                self._add({"type": "softBreak"})
            case "hardbreak":
                self._add({"type": "hardBreak"})
            case "code_inline":
                self._add({"type": "text", "text": token.content}, {"type": "code"})
            case "html_inline":
                self._add({"type": "htmlInline", "attrs": {"html": token.content}})
            case "footnote_reference":
                self._add({"type": "footnoteReference", "attrs": {"label": token.content}})
            case "link_open":
                self._link(token)
            case "image":
                self._image(token)
            case "link_close":
                self._links.pop()
            case "strong_close" | "em_close" | "s_close":
                self._open[_OPENERS[token.type.replace("_close", "_open")]] -= 1
            case kind if kind in _OPENERS:
                self._open[_OPENERS[kind]] += 1
            case _:
                self._text(token.content)

    def _text(self, text: str) -> None:
        if text:
            self._add({"type": "text", "text": text})

    def _add(self, node: Json, *more: Json) -> None:
        links = [link for link in self._links[-1:] if link is not None]
        marks = [*links, *({"type": k} for k, n in self._open.items() if n), *more]
        if marks:
            node["marks"] = marks
        self._out.append(node)

    def _link(self, token: Token) -> None:
        attrs: dict[str, Any] = {"href": str(token.attrs.get("href", ""))}
        if token.attrs.get("title"):
            attrs["title"] = str(token.attrs["title"])
        try:
            address(attrs["href"], "href")
        except SchemaError:
            # A link with a refused address is kept as its text.
            self._links.append(None)
        else:
            self._links.append({"type": "link", "attrs": attrs})

    def _image(self, token: Token) -> None:
        alt = "".join(_plain(child) for child in token.children or [])
        src = str(token.attrs.get("src", ""))
        try:
            address(src, "src")
        except SchemaError:
            self._text(alt)
            return
        node: Json = {"type": "image", "attrs": {"src": src, "alt": alt}}
        if token.attrs.get("title"):
            node["attrs"]["title"] = str(token.attrs["title"])
        self._add(node)


def _plain(token: Token) -> str:
    if token.children:
        return "".join(_plain(child) for child in token.children)
    return " " if token.type in {"softbreak", "hardbreak"} else token.content
