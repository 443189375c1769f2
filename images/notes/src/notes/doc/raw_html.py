"""Recognises HTML in Markdown; it is kept as written, shown as text and never run.

Decides from the source alone, by the parser's own expressions. Invariant: a source that is accepted
here is read back from Markdown as one block or one tag.
"""

import re

from markdown_it.common.html_re import HTML_TAG_RE
from markdown_it.rules_block.html_block import HTML_SEQUENCES

MARK_TAGS = {
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
#: The tag with which both writers write a mark.
TAG_OF_MARK = {
    "bold": "strong",
    "italic": "em",
    "strike": "s",
    "underline": "u",
    "highlight": "mark",
    "subscript": "sub",
    "superscript": "sup",
    "code": "code",
}
#: The tags of `MARK_TAGS` that the Markdown writer uses.
WRITTEN_TAGS = set(TAG_OF_MARK.values())
#: An empty pair of tags: in front of a line it prevents the line from being read as an HTML block.
GUARD = "<b></b>"
_MARK_TAG = re.compile(r"<(/?)([a-z]+)\s*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# The ends of those kinds of block that a blank line does not end, in the parser's order.
_ENDS = (None, "-->", "?>", ">", "]]>")


def block(source: str) -> tuple[str, str]:
    """A source as one HTML block, and the text that must be added before another block follows.

    Both are empty if the source is no block, or more than one.
    """
    lines = source.rstrip(" \t\n").split("\n")
    lines = [line if line.strip(" \t") else "" for line in lines]
    lines[0] = lines[0].lstrip(" ")
    for at, (start, end, _) in enumerate(HTML_SEQUENCES):
        found = start.search(lines[0])
        if found is None:
            continue
        if at >= len(_ENDS):
            return ("\n".join(lines) if all(lines) else "", "")
        closed = next((n for n, line in enumerate(lines) if end.search(line)), None)
        if closed is None:
            return "\n".join(lines), f"\n{_ENDS[at] or f'</{found[1]}>'}"
        return ("\n".join(lines) if closed == len(lines) - 1 else "", "")
    return "", ""


def starts_block(line: str, *, is_first: bool) -> bool:
    """True if a line of a paragraph would be read as the start of an HTML block."""
    if not line.startswith("<"):
        return False
    return any(
        start.search(line)
        for start, _, may_interrupt in HTML_SEQUENCES
        if may_interrupt or is_first
    )


def is_tag(source: str) -> bool:
    """True if a source is one tag, comment, declaration, instruction or CDATA section."""
    match = HTML_TAG_RE.match(source)
    return match is not None and match.end() == len(source)


def is_break(source: str) -> bool:
    return _BREAK.fullmatch(source) is not None


def mark_tag(source: str) -> tuple[str, str, bool] | None:
    """The name, the mark and the closing flag of a tag that means a mark; else None."""
    match = _MARK_TAG.fullmatch(source)
    name = match[2].lower() if match else ""
    return (name, MARK_TAGS[name], bool(match[1])) if match and name in MARK_TAGS else None
