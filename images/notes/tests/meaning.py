"""Normalises HTML to its meaning, to compare two renderings.

The normalisation: white space is one space and none at the edge of a block, except in `pre`;
marks are a set on each text, so their order, repetition and splitting do not count, and `b`, `i`,
`s` are `strong`, `em`, `del`; a paragraph of a list's item is its bare text, since
a list is neither tight nor loose here; addresses are compared unquoted; a raw tag counts as itself.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote

_MARKS = {"em": "em", "i": "em", "strong": "strong", "b": "strong", "del": "del", "s": "del",
          "u": "u", "mark": "mark", "sub": "sub", "sup": "sup", "code": "code"}  # fmt: skip
_BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr",
           "table", "thead", "tbody", "tr", "th", "td", "section", "div"}  # fmt: skip
_EMPTY = {"hr", "br", "img", "input"}
Event = tuple[object, ...]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[Event] = []
        self._open = Counter[str]()
        self._links: list[tuple[str, str]] = []
        self._link_start: list[int] = []
        self._blocks: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: re.sub(r"\s+", " ", value or "").strip() for name, value in attrs}
        if tag == "a" and set(given) <= {"href", "title"}:
            self._links.append((unquote(given.get("href", "")), given.get("title", "")))
            self._link_start.append(len(self.events))
        elif tag in _MARKS and not attrs and "pre" not in self._blocks:
            self._open[_MARKS[tag]] += 1
        elif tag == "img":
            given["src"] = unquote(given.get("src", ""))
            self.events.append(("img", *sorted(given.items()), self._marks()))
        elif tag == "br":
            self.events.append(("br",))
        elif tag in _BLOCKS:
            # GitHub's renderer writes the alignment of a cell in two ways.
            if "style" in given:
                given["align"] = given.pop("style").removeprefix("text-align:").strip(" ;")
            if not (tag == "p" and self._blocks[-1:] == ["li"]):
                self.events.append(("<", tag, *sorted(given.items())))
            if tag not in _EMPTY:
                self._blocks.append(tag)
        else:
            self.events.append(("raw", tag, *sorted(given.items())))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._links:
            if len(self.events) == self._link_start.pop():
                self.events.append(("empty link", *self._links[-1]))
            self._links.pop()
        elif tag in _MARKS and self._open[_MARKS[tag]] and "pre" not in self._blocks:
            self._open[_MARKS[tag]] -= 1
        elif tag in _BLOCKS and tag in self._blocks:
            while self._blocks.pop() != tag:
                pass
            if not (tag == "p" and self._blocks[-1:] == ["li"]):
                self.events.append((">", tag))
        elif tag not in _BLOCKS:
            self.events.append(("raw end", tag))

    def handle_data(self, data: str) -> None:
        if "pre" in self._blocks:
            self.events.append(("pre", data))
        else:
            self.events.append(("text", re.sub(r"[ \t\r\n]+", " ", data), self._marks()))

    def handle_comment(self, data: str) -> None:
        self.events.append(("comment", re.sub(r"\s+", " ", data)))

    def handle_decl(self, decl: str) -> None:
        self.events.append(("declaration", re.sub(r"\s+", " ", decl)))

    def handle_pi(self, data: str) -> None:
        self.events.append(("instruction", re.sub(r"\s+", " ", data)))

    def unknown_decl(self, data: str) -> None:
        self.events.append(("section", re.sub(r"\s+", " ", data)))

    def _marks(self) -> Event:
        return (frozenset(k for k, n in self._open.items() if n), *self._links[-1:])


def meaning(html: str) -> list[Event]:
    """The normalised parser events of a piece of HTML."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    joined = list[Event]()
    for event in reader.events:
        kind = event[0]
        last = joined[-1] if joined else ("",)
        if kind == "text" and last[0] == "text" and last[2] == event[2]:
            joined[-1] = ("text", re.sub(" +", " ", f"{last[1]}{event[1]}"), event[2])
        elif kind == "pre" and last[0] == "pre":
            joined[-1] = ("pre", f"{last[1]}{event[1]}")
        else:
            joined.append(event)
    found = list[Event]()
    edges = {
        "<",
        ">",
        "br",
        "",
        "raw",
        "raw end",
        "comment",
        "declaration",
        "instruction",
        "section",
    }
    for at, event in enumerate(joined):
        if event[0] == "text":
            text = str(event[1])
            if (joined[at - 1][0] if at else "") in edges:
                text = text.lstrip(" ")
            if (joined[at + 1][0] if at + 1 < len(joined) else "") in edges:
                text = text.rstrip(" ")
            if not text:
                continue
            event = ("text", text, event[2])  # noqa: PLW2901 - the text alone is another
        found.append(event)
    return found


_ALLOWED = {
    "a": {"href", "rel", "title", "aria-label"}, "img": {"src", "alt", "title", "loading"},
    "pre": {"tabindex"}, "li": {"id", "class"}, "section": {"aria-label"}, "sup": {"id"},
    "span": {"title", "role", "aria-label"}, "ol": {"start"}, "ul": {"class"},
    "div": {"class", "tabindex"}, "th": {"scope", "class"}, "td": {"class"},
    "code": {"class"}, "figure": {"class"}, "figcaption": set[str](), "details": set[str](),
    "summary": set[str](), "iframe": {"src", "title", "loading"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
    **{tag: {"src", "aria-label", "controls", "preload"} for tag in ("video", "audio")},
}  # fmt: skip
_PLAYERS = {"video", "audio", "iframe"}


_BARE = {
    "p",
    "hr",
    "br",
    "strong",
    "em",
    "s",
    "u",
    "mark",
    "sub",
    "blockquote",
    "table",
    "tr",
}


class _Judge(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ALLOWED or tag in _BARE, tag
        assert {name for name, _ in attrs} <= _ALLOWED.get(tag, set()), attrs
        for name, value in attrs:
            if name == "src" and tag in _PLAYERS:
                assert (value or "").startswith("/api/v1/attachments/"), attrs
            if name in {"href", "src"}:
                head = re.split("[/?#]", value or "")[0].lower()
                assert ":" not in head or head.startswith(("http:", "https:", "mailto:", "tel:"))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def harmless(html: str) -> None:
    """Raises for a tag, an attribute or an address that a page's HTML must not have."""
    judge = _Judge()
    judge.feed(html)
    judge.close()
