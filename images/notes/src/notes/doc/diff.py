"""Compares two texts: lines, and words within changed lines.

Lines and words are compared by Myers' algorithm of the library diff-match-patch, which has a
deadline: text that is not compared by then is reported as removed and added. Invariant: `same` and
`removed` together give the old text, `same` and `added` the new one.
"""

import re
import time
from collections.abc import Iterable
from typing import Literal

import msgspec
from diff_match_patch import diff_match_patch

Kind = Literal["same", "added", "removed"]
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
SECONDS = 2.0  # for the whole of a comparison
MAX_PIECES = 20_000  # nobody reads a longer comparison
# The library gets one character for each different line or word, so there are at most as many as
# Unicode has characters without surrogates.
_CHARACTERS = 0x10FFFF - 0x800
_SURROGATES = 0xD800


class Piece(msgspec.Struct, frozen=True):
    """A part of the text and its kind: same, added or removed."""

    kind: Kind
    text: str


def diff(old: str, new: str) -> list[Piece]:
    """The pieces of the comparison, in order."""
    until = time.monotonic() + SECONDS
    pieces = list[Piece]()
    lines = _compare(old.splitlines(keepends=True), new.splitlines(keepends=True), SECONDS / 2)
    at = 0
    while at < len(lines):
        one, following = lines[at], lines[at + 1] if at + 1 < len(lines) else None
        is_replaced = one.kind == "removed" and following and following.kind == "added"
        if is_replaced and following is not None:
            pieces += _words(one.text, following.text, until)
            at += 1
        else:
            pieces.append(one)
        at += 1
    joined = _joined(pieces)
    return joined if len(joined) <= MAX_PIECES else _ends(old, new)


def _words(old: str, new: str, until: float) -> Iterable[Piece]:
    whole = [Piece("removed", old), Piece("added", new)]
    left = until - time.monotonic()
    if left <= 0:
        return whole
    pieces = _compare(_WORD.findall(old), _WORD.findall(new), left)
    # Lines with little in common are easier to read whole, one after the other.
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    return pieces if 2 * same >= 0.3 * (len(old) + len(new)) else whole


def _compare(before: list[str], after: list[str], seconds: float) -> list[Piece]:
    """Compares two lists of lines or words."""
    numbers = dict[str, int]()
    for part in (*before, *after):
        numbers.setdefault(part, len(numbers))
    if len(numbers) > _CHARACTERS:
        return [Piece("removed", "".join(before)), Piece("added", "".join(after))]
    library = diff_match_patch()
    library.Diff_Timeout = max(0.001, seconds)
    found = library.diff_main(
        "".join(_character(numbers[part]) for part in before),
        "".join(_character(numbers[part]) for part in after),
        checklines=False,
    )
    pieces = list[Piece]()
    old_at = new_at = 0
    for operation, characters in found:
        length = len(characters)
        if operation >= 0:
            text = "".join(after[new_at : new_at + length])
            new_at += length
        if operation <= 0:
            text = "".join(before[old_at : old_at + length])
            old_at += length
        pieces.append(Piece(_KINDS[operation], text))
    return pieces


_KINDS: dict[int, Kind] = {-1: "removed", 0: "same", 1: "added"}


def _character(number: int) -> str:
    return chr(number if number < _SURROGATES else number + 0x800)


def _ends(old: str, new: str) -> list[Piece]:
    """A coarse comparison: equal beginning and end, and everything between as changed."""
    library = diff_match_patch()
    head = library.diff_commonPrefix(old, new)
    tail = library.diff_commonSuffix(old[head:], new[head:])
    return _joined(
        [
            Piece("same", old[:head]),
            Piece("removed", old[head : len(old) - tail]),
            Piece("added", new[head : len(new) - tail]),
            Piece("same", old[len(old) - tail :] if tail else ""),
        ]
    )


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    joined = list[tuple[Kind, list[str]]]()
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1][0] == piece.kind:
            joined[-1][1].append(piece.text)
        else:
            joined.append((piece.kind, [piece.text]))
    return [Piece(kind, "".join(texts)) for kind, texts in joined]
