"""What changed between two texts: lines, and words within changed lines.

Invariant: putting `same` and `removed` together gives the old text, `same` and `added` the new one.
"""

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Literal

import msgspec

Kind = Literal["same", "added", "removed"]
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
MAX_WORDS = 2000
MAX_PAIRS = 100_000  # of equal lines; comparing goes over them again and again


class Piece(msgspec.Struct, frozen=True):
    """A stretch of text and what happened to it."""

    kind: Kind
    text: str


def diff(old: str, new: str) -> list[Piece]:
    """The pieces, in order."""
    pieces = list[Piece]()
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if _pairs(before, after) > MAX_PAIRS:
        return _joined(_ends(before, after))
    for tag, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes():
        gone, come = "".join(before[a:b]), "".join(after[c:d])
        if tag == "equal":
            pieces.append(Piece("same", gone))
        elif tag == "replace":
            pieces += _words(gone, come)
        else:
            pieces.append(Piece("removed", gone) if gone else Piece("added", come))
    return _joined(pieces)


def _pairs(before: list[str], after: list[str]) -> int:
    """How many pairs of equal lines the matcher will look at: it leaves out very frequent ones."""
    counts = Counter(after)
    most = len(after) // 100 + 1 if len(after) >= 200 else len(after)
    return sum(counts[line] for line in before if counts[line] <= most)


def _ends(before: list[str], after: list[str]) -> list[Piece]:
    """What is the same at the beginning and at the end, and all between as changed."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    return [
        Piece("same", "".join(before[:head])),
        Piece("removed", "".join(before[head : len(before) - tail])),
        Piece("added", "".join(after[head : len(after) - tail])),
        Piece("same", "".join(before[len(before) - tail :])),
    ]


def _words(old: str, new: str) -> list[Piece]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    whole = [Piece("removed", old), Piece("added", new)]
    if len(before) > MAX_WORDS or len(after) > MAX_WORDS:
        return whole
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.real_quick_ratio() < 0.3:
        return whole
    pieces = list[Piece]()
    for tag, a, b, c, d in matcher.get_opcodes():
        gone, come = "".join(before[a:b]), "".join(after[c:d])
        if tag == "equal":
            pieces.append(Piece("same", gone))
        else:
            pieces += [Piece("removed", gone), Piece("added", come)]
    return pieces


def _joined(pieces: list[Piece]) -> list[Piece]:
    joined = list[Piece]()
    for piece in pieces:
        if not piece.text:
            continue
        if joined and joined[-1].kind == piece.kind:
            joined[-1] = Piece(piece.kind, joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined
