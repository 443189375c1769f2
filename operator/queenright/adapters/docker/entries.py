"""An engine's list, object by object, without parsing those that have not changed.

Swarm writes each object's id, version and times first, in compact JSON, so that the objects of a
list can be told apart by their beginnings, as the text comes in. Of a thousand clusters the lists
have some 60 MB: to parse them takes most of a second and several hundred MB, to find their
beginnings some 50 ms and the memory of one piece.
Invariant: an object is read by the JSON parser from the first byte to the last of its own text, or
it is the same as before; a list of another shape is parsed as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Json = dict[str, Any]

BEGINNING = b'{"ID":"'
BETWEEN = b"}," + BEGINNING
"""Between two objects of a list; an object that is a field's value comes after a colon."""
HEAD = re.compile(
    rb'\{"ID":"([^"\\]+)","Version":\{"Index":(\d+)\},'
    rb'"CreatedAt":"[^"\\]*","UpdatedAt":"([^"\\]+)"[,}]'
)
VERSIONED = frozenset({"service", "task", "secret", "config"})
"""Kinds of which each difference between two lists is a write, with a version of its own."""


class NotSlicedError(Exception):
    """A part of a list's text is no object: it has to be read again, and parsed as a whole."""


class Entry:
    """One object of a list: its key, what is another value after each change, and how to parse
    it."""

    __slots__ = ("key", "parse", "state")

    def __init__(self, key: str, state: object, parse: Callable[[], Any]) -> None:
        self.key, self.state, self.parse = key, state, parse


def entries_of(kind: str, pieces: Iterable[bytes], *, whole: bool = False) -> Iterator[Entry]:
    """Yield the objects of a list of this kind, whose text comes in pieces. With ``whole``, it is
    parsed at once; otherwise any object may raise NotSlicedError."""
    source = iter(pieces)
    text = beginning_of(source)
    if whole or not text.startswith(b"[" + BEGINNING):
        yield from parsed(kind, listed(text + b"".join(source)))
        return
    begin = scanned = 1
    while True:
        end = text.find(BETWEEN, scanned)
        if end >= 0:
            yield entry_of(kind, text[begin : end + 1])
            begin = scanned = end + 2
            continue
        piece = next(source, None)
        if piece is None:
            break
        scanned = max(begin, len(text) - len(BETWEEN) + 1) - begin
        text, begin = text[begin:] + piece, 0
    end = text.rfind(b"]")
    if end < begin:
        raise ValueError("the list is cut off")
    yield entry_of(kind, text[begin:end])


def beginning_of(source: Iterator[bytes]) -> bytes:
    """Return the first pieces: as many as show what kind of text it is."""
    text = b""
    for piece in source:
        text += piece
        if len(text) > len(BEGINNING):
            break
    return text


def entry_of(kind: str, text: bytes) -> Entry:
    """Return the object of this text; raises NotSlicedError where none begins."""
    head = HEAD.match(text)
    if head is None:
        raise NotSlicedError("no object as swarm writes it")
    key, index, changed_at = head.groups()
    state: object = (int(index), changed_at)
    if kind not in VERSIONED:
        state = (int(index), changed_at, hash(text))

    def parse() -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise NotSlicedError(str(error)) from error

    return Entry(key.decode(), state, parse)


def parsed(kind: str, raws: Iterable[Any]) -> list[Entry]:
    """Return the objects of a list that was parsed as a whole. One without an id has no key: it is
    decoded each time."""
    return [Entry(key_of(raw), state_of(kind, raw), lambda raw=raw: raw) for raw in raws]  # type: ignore[misc]


def key_of(raw: Any) -> str:
    return str(part(raw, "ID") or part(raw, "Id"))


def state_of(kind: str, raw: Any) -> object:
    """Return what is another value after each change of an object: swarm's version index with the
    time of the change, as a swarm that was restored from a backup counts again. Where the engine
    lists neither, or more than swarm keeps (a manager's reachability), the object itself."""
    index, changed_at = part(part(raw, "Version"), "Index"), part(raw, "UpdatedAt")
    if kind in VERSIONED and isinstance(index, int) and isinstance(changed_at, str) and changed_at:
        return (index, changed_at.encode())
    return raw


def part(raw: Any, key: str) -> Any:
    return raw.get(key) if isinstance(raw, dict) else None


def listed(text: bytes) -> list[Any]:
    """Return the objects of a list; TypeError for another answer."""
    found = json.loads(text)
    if found is not None and not isinstance(found, list):
        raise TypeError("not a list")
    return found or []
