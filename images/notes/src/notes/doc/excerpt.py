"""Cuts the part of a text around the hits of a search.

Invariant: the result is pieces of plain text, never HTML, and together they are a part of the text.
"""

import msgspec

from notes.doc.tokenizer import words

AROUND = 80  # characters of context on either side


class Fragment(msgspec.Struct, frozen=True):
    """A piece of plain text; `hit` if it is a word of the query."""

    text: str
    hit: bool


def highlight(text: str, marked: list[str], *, whole: bool = False) -> list[Fragment]:
    """The part of `text` around its first hits, cut into hits and other text."""
    begins = marked[-1]
    skipped = 0 if whole else _first(text, marked)
    if skipped:
        text = text[skipped:]
    spans = list[tuple[int, int]]()
    until = len(text)
    for word in words(text):
        if word.start > until:
            break
        if word.text in marked or word.text.startswith(begins):
            if not spans and not whole:
                until = word.end + 2 * AROUND
            if spans and word.start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(spans[-1][1], word.end))
            else:
                spans.append((word.start, word.end))
    start = 0 if whole or not spans else max(0, spans[0][0] - AROUND)
    end = len(text) if whole else min(len(text), until if spans else 2 * AROUND)
    fragments = list[Fragment]()
    at = start
    for low, high in spans:
        if low > at:
            fragments.append(Fragment(text[at:low], hit=False))
        fragments.append(Fragment(text[low:high], hit=True))
        at = high
    if at < end:
        fragments.append(Fragment(text[at:end], hit=False))
    return fragments


def _first(text: str, marked: list[str]) -> int:
    """The index from which to search: shortly before the first possible hit."""
    if not text.isascii():
        return 0  # folding may change indexes
    low = text.lower()
    places = [at for at in (low.find(word) for word in marked) if at >= 0]
    return low.rfind(" ", 0, max(0, min(places) - AROUND)) + 1 if places else 0
