"""Writes inline nodes as Markdown.

Invariant: reading the result gives the same nodes again. If Markdown's own delimiters would be
ambiguous, inline HTML tags are written instead; text that could be read as syntax is escaped.
"""

import re
from typing import Any

from notes.doc.attributes import Json
from notes.doc.raw_html import GUARD, TAG_OF_MARK, starts_block

_DELIMITERS = {"bold": "**", "italic": "*", "strike": "~~"}
_MAY_PRECEDE = " \n([{\"'-/:;,."
_MAY_FOLLOW = " .,;:!?)]}\"'-/"
_SPECIAL = re.compile(r"[\\`*\[\]~]|_|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|!$")
_LINE_START = re.compile(r"^(?:([#+=>|-]|:(?=-))|(\d{1,9})([.)]))")
# A reference to a footnote that would be read as the beginning of another one.
_NOTE_START = re.compile(r"^(\[\^[^\]]+\]):")
# Text that would be read as a link although it has no link mark.
_BARE = re.compile(
    r"(?:(?<=http)|(?<=https)):(?=//)|(?<=www)\.|(?<=[A-Za-z0-9.+_-])@(?=[A-Za-z0-9_\\-])"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[!-;=?-~]*")
_MAIL = re.compile(r"[A-Za-z0-9._+-]+@[A-Za-z0-9]{1,60}(?:\.[A-Za-z0-9]{1,60})+")


class _Run:
    """A mark and its content; without a mark, a whole line."""

    def __init__(self, mark: Json | None) -> None:
        self.mark = mark
        self.children: list[_Run | Json] = []


def line(nodes: list[Json], *, one_line: bool = False, in_table: bool = False) -> str:
    """The Markdown of the content of a paragraph, or with `one_line` of a heading or a cell."""
    root = _Run(None)
    stack = [root]
    for at, node in enumerate(nodes):
        marks: list[Json] = node.get("marks", [])
        keep = 0
        while keep < min(len(marks), len(stack) - 1) and stack[keep + 1].mark == marks[keep]:
            keep += 1
        del stack[keep + 1 :]
        for mark in marks[keep:]:
            run = _Run(mark)
            stack[-1].children.append(run)
            stack.append(run)
        if node["type"] == "hardBreak":
            around = nodes[at - 1 : at] + nodes[at + 1 : at + 2]
            between = len(around) == 2 and all(n["type"] == "text" for n in around)
            stack[-1].children.append({**node, "soft": between and not one_line})
        else:
            stack[-1].children.append(node)
    text = _Writer(in_table=in_table).run(root)
    return _guarded(text, may_start_html=not one_line)


def _guarded(text: str, *, may_start_html: bool) -> str:
    lines = list[str]()
    for plain in text.split("\n"):
        lead = len(plain) - len(plain.lstrip(" "))
        guarded = "&#32;" * lead + plain[lead:]
        trail = len(guarded) - len(guarded.rstrip(" "))
        if trail:
            guarded = guarded[:-trail] + "&#32;" * trail
        if may_start_html and starts_block(guarded, is_first=not lines):
            guarded = GUARD + guarded
        guarded = _NOTE_START.sub(r"\1\:", guarded)
        lines.append(_LINE_START.sub(_escape_start, guarded))
    return "\n".join(lines)


def _escape_start(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"


class _Writer:
    def __init__(self, *, in_table: bool) -> None:
        self._in_table = in_table
        self._in_link = False

    def run(self, run: _Run) -> str:
        """The Markdown of a mark's content."""
        parts = list[str]()
        before = ""
        for at, child in enumerate(run.children):
            if isinstance(child, _Run):
                following = run.children[at + 1] if at + 1 < len(run.children) else None
                written = self._marked(child, before, following, inside=run.mark is not None)
            else:
                written = self._leaf(child)
            parts.append(written)
            before = written[-1:] or before
        return "".join(parts)

    def _leaf(self, node: Json) -> str:
        match node["type"]:
            case "text":
                return self._text(node["text"], in_link=self._in_link)
            case "hardBreak":
                return "\\\n" if node["soft"] else "<br>"
            case "softBreak":
                return "\n"
            case "htmlInline":
                return self._piped(str(node["attrs"]["html"]))
            case "footnoteReference":
                return f"[^{node['attrs']['label']}]"
        attrs = node["attrs"]
        return f"![{self._text(attrs.get('alt', ''))}]({_target(attrs['src'], attrs.get('title'))})"

    def _piped(self, source: str) -> str:
        """The source unchanged, except that `|` is escaped in a table."""
        return source.replace("|", "\\|") if self._in_table else source

    def _marked(self, run: _Run, before: str, following: Any, *, inside: bool) -> str:
        mark = run.mark or {}
        kind = mark["type"]
        if kind == "link":
            attrs = mark["attrs"]
            if _is_its_own_text(run, attrs):
                return f"<{attrs['href'].removeprefix('mailto:')}>"
            self._in_link = True
            text = self.run(run)
            self._in_link = False
            return f"[{text}]({_target(attrs['href'], attrs.get('title'))})"
        if kind == "code":
            return self._code(run)
        content = self.run(run)
        delimiter = _DELIMITERS.get(kind)
        safe_before = before in _MAY_PRECEDE if before else not inside
        if following is None:
            safe_after = not inside
        else:
            safe_after = not isinstance(following, _Run) and (
                (following["type"] == "text" and following["text"][0] in _MAY_FOLLOW)
                or following["type"] == "softBreak"
                or (following["type"] == "hardBreak" and following["soft"])
            )
        apart = safe_before and safe_after and content[0].isalnum() and content[-1].isalnum()
        if delimiter and apart:
            return f"{delimiter}{content}{delimiter}"
        return f"<{TAG_OF_MARK[kind]}>{content}</{TAG_OF_MARK[kind]}>"

    def _code(self, run: _Run) -> str:
        text = "".join(c.get("text", "") for c in run.children if not isinstance(c, _Run))
        plain = all(not isinstance(c, _Run) and c["type"] == "text" for c in run.children)
        fit = text and text.isprintable() and text[0] not in " `" and text[-1] not in " `"
        if not plain or not fit:
            return f"<code>{self.run(run)}</code>"
        longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
        fence = "`" * (longest + 1)
        return self._piped(f"{fence}{text}{fence}")

    def _text(self, text: str, *, in_link: bool = False) -> str:
        escaped = _SPECIAL.sub(lambda match: _escape(match, text), text)
        if not in_link:
            escaped = _BARE.sub(r"\\\g<0>", escaped)
        if self._in_table:
            escaped = escaped.replace("|", "&#124;")
        if escaped.isascii() and escaped.isprintable():
            return escaped
        return "".join(f"&#{ord(c)};" if c.isspace() and c != " " else c for c in escaped)


def _is_its_own_text(run: _Run, attrs: Json) -> bool:
    """True if a link may be written as an address between angle brackets."""
    child = run.children[0]
    if len(run.children) != 1 or isinstance(child, _Run) or "title" in attrs:
        return False
    text, href = child.get("text", ""), attrs["href"]
    if text == href:
        return _ADDRESS.fullmatch(href) is not None
    return href == f"mailto:{text}" and _MAIL.fullmatch(text) is not None


def _escape(match: re.Match[str], text: str) -> str:
    if match[0] == "_":
        start, end = match.start(), match.end()
        if start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            return "_"
    return f"\\{match[0]}"


def _target(href: str, title: str | None) -> str:
    target = re.sub(r"[&*_\[\]()~!]", lambda match: f"\\{match[0]}", href) or "<>"
    if title is None:
        return target
    quoted = re.sub(r"[\\\"&`*_\[\]<~|]", lambda match: f"&#{ord(match[0])};", title)
    quoted = "".join(f"&#{ord(c)};" if c.isspace() and c != " " else c for c in quoted)
    return f'{target} "{quoted}"'
