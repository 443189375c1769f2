"""Reads Markdown into a document.

Invariant: any text at all is some document; what is no syntax that we know stays as text. HTML is
text too, but for the few tags that stand for marks.
"""

import functools
import re
import time
from collections import Counter
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from notes.doc.attributes import Json, SchemaError, address
from notes.doc.schema import normalise

_MARK_TAGS = {
    "strong": "bold",
    "b": "bold",
    "em": "italic",
    "i": "italic",
    "s": "strike",
    "del": "strike",
    "u": "underline",
    "mark": "highlight",
    "sub": "subscript",
    "sup": "superscript",
    "code": "code",
}
_TAG = re.compile(r"<(/?)([a-z]+)\s*/?>", re.IGNORECASE)
_OPENERS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_TASK = re.compile(r"\[([ xX])\](?: |$)")
_ALIGN = re.compile(r"text-align:(left|center|right)")
MAX_CHARACTERS = 2_000_000
# Brackets that nothing closes take the square of their number; two million characters of ordinary
# text take four seconds.
MAX_CPU_S = 15.0


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block"])
    parser.inline.ruler.before("text", "in_time", _in_time)
    # Addresses are judged by the schema; they are kept as they are written.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _in_time(state: StateInline, silent: bool) -> bool:
    if time.thread_time() > state.env["until_s"]:
        raise SchemaError("markdown", f"takes more than {MAX_CPU_S:.0f} s to read")
    return False


def parse(text: str) -> Json:
    """The document, in normal form, that a Markdown text stands for.

    Raises `SchemaError` only for a text that is too large, too deep or too intricate.
    """
    if len(text) > MAX_CHARACTERS:
        raise SchemaError("markdown", f"more than {MAX_CHARACTERS} characters")
    tokens = _parser().parse(text, {"until_s": time.thread_time() + MAX_CPU_S})
    return normalise({"type": "doc", "content": _blocks(tokens)})


def _blocks(tokens: list[Token]) -> list[Json]:
    stack: list[Json] = [{"type": "doc", "content": []}]
    for token in tokens:
        kind = token.type
        if kind == "inline":
            stack[-1].setdefault("content", []).extend(_Inline().read(token.children or []))
        elif kind.endswith("_open"):
            stack.append(_opened(token))
        elif kind.endswith("_close"):
            node = stack.pop()
            stack[-1]["content"].extend(_closed(node))
        elif kind in {"fence", "code_block"}:
            stack[-1]["content"].append(_code(token))
        elif kind == "hr":
            stack[-1]["content"].append({"type": "horizontalRule"})
    return list(stack[0]["content"])


def _opened(token: Token) -> Json:
    kind = token.type.removesuffix("_open")
    node: Json = {"type": _TYPES.get(kind, kind), "content": []}
    if kind == "heading":
        node["attrs"] = {"level": int(token.tag[1])}
    elif kind == "ordered_list":
        node["attrs"] = {"start": int(token.attrs.get("start", 1))}
    elif kind in {"th", "td"}:
        aligned = _ALIGN.search(str(token.attrs.get("style", "")))
        if aligned:
            node["attrs"] = {"align": aligned[1]}
    return node


_TYPES = {
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "th": "tableHeader",
    "td": "tableCell",
    "tr": "tableRow",
}


def _closed(node: Json) -> list[Json]:
    """A node that is complete: what it becomes in its parent."""
    if node["type"] in {"thead", "tbody"}:
        return list(node["content"])
    if node["type"] in {"tableHeader", "tableCell"}:
        node["content"] = [{"type": "paragraph", "content": node["content"]}]
    if node["type"] == "bulletList":
        return _split_tasks(node)
    return [node]


def _split_tasks(node: Json) -> list[Json]:
    """A bullet list as lists of tasks and of others, in order."""
    found = list[Json]()
    for item in node["content"]:
        checked = _take_task(item)
        kind = "bulletList" if checked is None else "taskList"
        if not found or found[-1]["type"] != kind:
            found.append({"type": kind, "content": []})
        if checked is not None:
            item.update(type="taskItem", attrs={"checked": checked})
        found[-1]["content"].append(item)
    return found


def _take_task(item: Json) -> bool | None:
    first = item["content"][0] if item["content"] else None
    if first is None or first["type"] != "paragraph" or not first["content"]:
        return None
    text = first["content"][0]
    match = None if text["type"] != "text" or "marks" in text else _TASK.match(text["text"])
    if match is None or text.get("guarded"):
        return None
    text["text"] = text["text"][match.end() :]
    return match[1] != " "


def _code(token: Token) -> Json:
    language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else None
    text = token.content.removesuffix("\n")
    return {
        "type": "codeBlock",
        "attrs": {"language": language},
        "content": [{"type": "text", "text": text}] if text else [],
    }


class _Inline:
    """Reads the tokens of one line of text.

    Of marks it keeps only how often each is open: a copy of all for every text within them would
    take the square of their number.
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
            case "text_special":
                self._text(token.content, guarded=True)
            case "softbreak":
                self._text(" ")
            case "hardbreak":
                self._out.append({"type": "hardBreak"})
            case "code_inline":
                self._text(token.content, {"type": "code"})
            case "html_inline":
                self._html(token.content)
            case "link_open":
                self._link(token)
            case "image":
                self._image(token)
            case "link_close":
                self._links.pop()
            case "strong_close" | "em_close" | "s_close":
                self._close(_OPENERS[token.type.replace("_close", "_open")])
            case kind if kind in _OPENERS:
                self._open[_OPENERS[kind]] += 1
            case _:
                self._text(token.content)

    def _text(self, text: str, *more: Json, guarded: bool = False) -> None:
        if text:
            node: Json = {"type": "text", "text": text}
            marks = [*self._link_marks(), *({"type": k} for k, n in self._open.items() if n), *more]
            if marks:
                node["marks"] = marks
            if guarded and not self._out:
                node["guarded"] = True
            self._out.append(node)

    def _link_marks(self) -> list[Json]:
        return [link for link in self._links[-1:] if link is not None]

    def _close(self, kind: str) -> bool:
        is_open = self._open[kind] > 0
        self._open[kind] -= is_open
        return is_open

    def _html(self, source: str) -> None:
        match = _TAG.fullmatch(source)
        name = match[2].lower() if match else ""
        if match and name == "br" and not match[1]:
            self._out.append({"type": "hardBreak"})
        elif match and name in _MARK_TAGS and not match[1]:
            self._open[_MARK_TAGS[name]] += 1
        elif not (match and name in _MARK_TAGS and self._close(_MARK_TAGS[name])):
            self._text(source)

    def _link(self, token: Token) -> None:
        attrs: dict[str, Any] = {"href": str(token.attrs.get("href", ""))}
        if token.attrs.get("title"):
            attrs["title"] = str(token.attrs["title"])
        try:
            address(attrs["href"], "href")
        except SchemaError:
            # A link that leads nowhere good is kept as its text.
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
        if links := self._link_marks():
            node["marks"] = links
        self._out.append(node)


def _plain(token: Token) -> str:
    if token.children:
        return "".join(_plain(child) for child in token.children)
    return " " if token.type in {"softbreak", "hardbreak"} else token.content
