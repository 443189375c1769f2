"""Finds mentions of people in documents and comments, and hides whom they mean.

A mention is a link to `mention:<the user's id>`; its text is the name at the time of writing.
"""

import re
from collections import Counter
from typing import Any
from uuid import UUID

import msgspec

SCHEME = "mention:"
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ADDRESS = re.compile(SCHEME + f"({_ID})")
#: In a comment, which is plain text, a mention is written as in Markdown.
_WRITTEN = re.compile(r"\[(@[^\[\]\n]{1,200})\]\(" + SCHEME + f"({_ID})" + r"\)")
#: In JSON, a quotation mark inside of a text is escaped: only an attribute looks like this.
_STORED = re.compile(rb'"href":"(?i:mention):[^"\\]*"')


def may_have(doc: bytes) -> bool:
    """True if a document or list of steps, as JSON, may have mentions."""
    return b'"mention:' in doc


def in_document(doc: bytes) -> Counter[UUID]:
    """The number of mentions of each user in a document, as JSON."""
    return in_nodes(msgspec.json.decode(doc)) if may_have(doc) else Counter()


def in_nodes(doc: dict[str, Any]) -> Counter[UUID]:
    """As `in_document`, for decoded JSON."""
    found = Counter[UUID]()
    waiting = [doc]
    while waiting:
        before = None
        for child in waiting.pop().get("content", ()):
            href = _href(child)
            # A name of which a part is bold is several nodes, and one mention.
            if href is not None and href != before:
                named = _ADDRESS.fullmatch(href)
                if named:
                    found[UUID(named[1])] += 1
            before = href
            if "content" in child:
                waiting.append(child)
    return found


def _href(node: dict[str, Any]) -> str | None:
    for mark in node.get("marks", ()):
        if mark["type"] == "link":
            return str(mark["attrs"]["href"])
    return None


def in_text(body: str) -> list[UUID]:
    """The users whom a comment mentions, each once, in order."""
    return list(dict.fromkeys(UUID(found[2]) for found in _WRITTEN.finditer(body)))


def said(body: str) -> str:
    """A comment with the names of its mentions alone."""
    return _WRITTEN.sub(r"\1", body)


def hidden(doc: bytes) -> bytes:
    """A document or steps, as JSON, with mentions that do not tell whose account they mean."""
    return _STORED.sub(b'"href":"mention:"', doc)
