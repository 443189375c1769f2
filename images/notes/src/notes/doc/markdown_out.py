"""Writes a document in normal form as Markdown (CommonMark with tables, strikes and task lists).

Invariant: reading the result gives the same document again. Where Markdown's own delimiters could
be read otherwise, an inline HTML tag is written in their place; whatever could be taken for syntax
is escaped.
"""

import re
from collections.abc import Callable
from typing import Any

from notes.doc.attributes import Json

_TAGS = {
    "bold": "strong",
    "italic": "em",
    "strike": "s",
    "underline": "u",
    "highlight": "mark",
    "subscript": "sub",
    "superscript": "sup",
    "code": "code",
}
_DELIMITERS = {"bold": "**", "italic": "*", "strike": "~~"}
_MAY_FOLLOW = " .,;:!?)"
_SPECIAL = re.compile(r"[\\`*\[\]~]|_|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|!$")
_LINE_START = re.compile(r"^(?:([#+=>|-])|(\d{1,9})([.)]))")


def markdown(doc: Json) -> str:
    """The Markdown of a document in normal form, ending with a newline unless it is empty."""
    lines = _blocks(doc["content"])
    return "\n".join(lines) + "\n" if any(lines) else ""


def _blocks(blocks: list[Json], *, tight: bool = False, other_marker: bool = False) -> list[str]:
    lines = list[str]()
    previous: Json | None = None
    alternate = False
    for block in blocks:
        kind = block["type"]
        follows_list = previous is not None and previous["type"].endswith("List")
        is_list = kind.endswith("List")
        # Two lists in a row are told apart by their markers.
        follows_alike = follows_list and _is_ordered(previous) == _is_ordered(block)
        alternate = is_list and follows_alike and not alternate
        if is_list and previous is None and other_marker:
            alternate = True
        written = _list(block, alternate=alternate) if is_list else _WRITERS[kind](block)
        if previous is not None and not (tight and _may_touch(previous, block)):
            lines.append("")
        lines += written
        previous = block
    return lines


def _is_ordered(block: Json | None) -> bool:
    return block is not None and block["type"] == "orderedList"


def _may_touch(previous: Json, block: Json) -> bool:
    """Whether a nested list may follow its paragraph without an empty line between."""
    if previous["type"] != "paragraph" or not previous.get("content"):
        return False
    if block["type"] == "orderedList" and block["attrs"]["start"] != 1:
        return False
    return block["type"].endswith("List") and bool(block["content"][0]["content"][0].get("content"))


def _paragraph(block: Json) -> list[str]:
    return _inline(block.get("content", [])).split("\n")


def _heading(block: Json) -> list[str]:
    text = _inline(block["content"], one_line=True)
    if text.endswith("#"):
        text = text[:-1] + "\\#"
    return [f"{'#' * block['attrs']['level']} {text}"]


def _list(block: Json, *, alternate: bool) -> list[str]:
    lines = list[str]()
    ordered = block["type"] == "orderedList"
    was_simple = True
    for at, item in enumerate(block["content"]):
        if ordered:
            marker = f"{block['attrs']['start'] + at}{')' if alternate else '.'}"
        else:
            marker = "+" if alternate else "-"
        lead = f"{marker} "
        content = item["content"]
        is_simple = len(content) == 1 or (len(content) == 2 and _may_touch(*content))
        if at and not (is_simple and was_simple):
            lines.append("")
        was_simple = is_simple
        if content[0].get("content") is None and len(content) > 1 and not item.get("attrs"):
            content = content[1:]
        # On one line, "- - -" would be a rule.
        body = _blocks(content, tight=True, other_marker=not ordered and not alternate)
        if block["type"] == "taskList":
            body[0] = f"[{'x' if item['attrs']['checked'] else ' '}] {body[0]}"
        indent = " " * len(lead)
        lines.append((lead + body[0]).rstrip(" "))
        lines += [indent + line if line else "" for line in body[1:]]
    return lines


def _quote(block: Json) -> list[str]:
    return [f"> {line}" if line else ">" for line in _blocks(block["content"])]


def _code(block: Json) -> list[str]:
    text = block.get("content", [{"text": ""}])[0]["text"]
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = block.get("attrs", {}).get("language", "")
    return [fence + language, *(text.split("\n") if text else []), fence]


def _table(block: Json) -> list[str]:
    rows = [[_cell(cell) for cell in row["content"]] for row in block["content"]]
    marks = {None: "---", "left": ":--", "center": ":-:", "right": "--:"}
    aligns = [marks[c.get("attrs", {}).get("align")] for c in block["content"][0]["content"]]
    return [f"| {' | '.join(row)} |" for row in (rows[0], aligns, *rows[1:])]


def _cell(cell: Json) -> str:
    return _inline(cell["content"][0].get("content", []), one_line=True, in_table=True)


_WRITERS: dict[str, Callable[[Json], list[str]]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "blockquote": _quote,
    "codeBlock": _code,
    "table": _table,
    "horizontalRule": lambda _: ["***"],
}


class _Run:
    """A mark and what is within it; without a mark, a whole line."""

    def __init__(self, mark: Json | None) -> None:
        self.mark = mark
        self.children: list[_Run | Json] = []


def _inline(nodes: list[Json], *, one_line: bool = False, in_table: bool = False) -> str:
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
    return _guard_lines(text)


def _guard_lines(text: str) -> str:
    lines = list[str]()
    for line in text.split("\n"):
        lead = len(line) - len(line.lstrip(" "))
        guarded = "&#32;" * lead + line[lead:]
        trail = len(guarded) - len(guarded.rstrip(" "))
        if trail:
            guarded = guarded[:-trail] + "&#32;" * trail
        lines.append(_LINE_START.sub(_escape_start, guarded))
    return "\n".join(lines)


def _escape_start(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"


class _Writer:
    def __init__(self, *, in_table: bool) -> None:
        self._in_table = in_table

    def run(self, run: _Run) -> str:
        out = ""
        for at, child in enumerate(run.children):
            following = run.children[at + 1] if at + 1 < len(run.children) else None
            if isinstance(child, _Run):
                out += self._marked(child, out, following, inside=run.mark is not None)
            elif child["type"] == "text":
                out += self._text(child["text"])
            elif child["type"] == "hardBreak":
                out += "\\\n" if child["soft"] else "<br>"
            else:
                attrs = child["attrs"]
                alt = self._text(attrs.get("alt", ""))
                out += f"![{alt}]({_target(attrs['src'], attrs.get('title'))})"
        return out

    def _marked(self, run: _Run, before: str, following: Any, *, inside: bool) -> str:
        mark = run.mark or {}
        kind = mark["type"]
        if kind == "link":
            attrs = mark["attrs"]
            return f"[{self.run(run)}]({_target(attrs['href'], attrs.get('title'))})"
        if kind == "code":
            return self._code(run)
        content = self.run(run)
        delimiter = _DELIMITERS.get(kind)
        safe_before = before[-1] in " \n" if before else not inside
        if following is None:
            safe_after = not inside
        else:
            safe_after = not isinstance(following, _Run) and (
                (following["type"] == "text" and following["text"][0] in _MAY_FOLLOW)
                or (following["type"] == "hardBreak" and following["soft"])
            )
        apart = safe_before and safe_after and content[0].isalnum() and content[-1].isalnum()
        if delimiter and apart:
            return f"{delimiter}{content}{delimiter}"
        return f"<{_TAGS[kind]}>{content}</{_TAGS[kind]}>"

    def _code(self, run: _Run) -> str:
        text = "".join(c["text"] for c in run.children if not isinstance(c, _Run))
        plain = all(not isinstance(c, _Run) and c["type"] == "text" for c in run.children)
        fit = text and text.isprintable() and text[0] not in " `" and text[-1] not in " `"
        if not plain or not fit or "|" in text:
            return f"<code>{self.run(run)}</code>"
        longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
        fence = "`" * (longest + 1)
        return f"{fence}{text}{fence}"

    def _text(self, text: str) -> str:
        escaped = _SPECIAL.sub(lambda match: _escape(match, text), text)
        if self._in_table:
            escaped = escaped.replace("|", "&#124;")
        if escaped.isascii() and escaped.isprintable():
            return escaped
        return "".join(f"&#{ord(c)};" if c.isspace() and c != " " else c for c in escaped)


def _escape(match: re.Match[str], text: str) -> str:
    if match[0] == "_":
        start, end = match.start(), match.end()
        if start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            return "_"
    return f"\\{match[0]}"


def _target(href: str, title: str | None) -> str:
    target = re.sub(r"[&*_\[\]~!]", lambda match: f"\\{match[0]}", href)
    if title is None:
        return target
    quoted = re.sub(r"[\\\"&`*_\[\]<~|]", lambda match: f"&#{ord(match[0])};", title)
    quoted = "".join(f"&#{ord(c)};" if c.isspace() and c != " " else c for c in quoted)
    return f'{target} "{quoted}"'
