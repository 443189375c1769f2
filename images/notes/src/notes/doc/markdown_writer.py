"""Writes a document in normal form as Markdown (CommonMark and GitHub's additions).

Invariant: reading the result gives the same document again.
"""

import re
from collections.abc import Callable

from notes.doc.attributes import Json
from notes.doc.markdown_lines import line

_LAST_NUMBER = 999_999_999


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
        # Two consecutive lists need different markers, or they would be read as one.
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
    """True if a nested list may follow its paragraph without an empty line between."""
    if previous["type"] != "paragraph" or not previous.get("content"):
        return False
    if block["type"] == "orderedList" and block["attrs"]["start"] != 1:
        return False
    return block["type"].endswith("List") and bool(block["content"][0]["content"][0].get("content"))


def _paragraph(block: Json) -> list[str]:
    return line(block.get("content", [])).split("\n")


def _heading(block: Json) -> list[str]:
    text = line(block.get("content", []), one_line=True)
    if text.endswith("#") and text != "\\#":
        text = text[:-1] + "\\#"
    return [f"{'#' * block['attrs']['level']} {text}".rstrip(" ")]


def _list(block: Json, *, alternate: bool) -> list[str]:
    lines = list[str]()
    ordered = block["type"] == "orderedList"
    was_simple = True
    for at, item in enumerate(block["content"]):
        if ordered:
            number = min(block["attrs"]["start"] + at, _LAST_NUMBER)
            marker = f"{number}{')' if alternate else '.'}"
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
        # On one line, "- - -" would be a horizontal rule.
        body = _blocks(content, tight=True, other_marker=not ordered and not alternate)
        if "attrs" in item:
            body[0] = f"[{'x' if item['attrs']['checked'] else ' '}] {body[0]}"
        indent = " " * len(lead)
        lines.append((lead + body[0]).rstrip(" "))
        lines += [indent + text if text else "" for text in body[1:]]
    return lines


def _footnote(block: Json) -> list[str]:
    first, *others = _blocks(block["content"])
    lead = f"[^{block['attrs']['label']}]: {first}".rstrip(" ")
    return [lead, *("    " + text if text else "" for text in others)]


def _quote(block: Json) -> list[str]:
    return [f"> {text}" if text else ">" for text in _blocks(block["content"])]


def _code(block: Json) -> list[str]:
    text = block.get("content", [{"text": ""}])[0]["text"]
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = re.sub(r"[\\&]", r"\\\g<0>", block.get("attrs", {}).get("language", ""))
    return [fence + language, *(text.split("\n") if text else []), fence]


def _table(block: Json) -> list[str]:
    rows = [[_cell(cell) for cell in row["content"]] for row in block["content"]]
    marks = {None: "---", "left": ":--", "center": ":-:", "right": "--:"}
    aligns = [marks[c.get("attrs", {}).get("align")] for c in block["content"][0]["content"]]
    return [f"| {' | '.join(row)} |" for row in (rows[0], aligns, *rows[1:])]


def _cell(cell: Json) -> str:
    return line(cell["content"][0].get("content", []), one_line=True, in_table=True)


_WRITERS: dict[str, Callable[[Json], list[str]]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "blockquote": _quote,
    "codeBlock": _code,
    "footnote": _footnote,
    "htmlBlock": lambda block: list(block["content"][0]["text"].split("\n")),
    "table": _table,
    "horizontalRule": lambda _: ["***"],
}
