"""Cuts text into words for searching, alike for what is stored and for what is asked.

Latin and other spaced scripts give words, folded to lower case without accents; Chinese, Japanese
and Korean give pairs of characters; identifiers give themselves and their parts. Invariant: a
word's place is the same for an identifier and for its first part, so phrases match across both.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_CJK = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff"
    r"\U00020000-\U0002fa1f"
)
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:[-_./'’:@+#]+[^\W{_CJK}]+)*[+#]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_CJK_RUN = re.compile(rf"[{_CJK}]")
MAX_WORD = 80
MAX_PLACES = 16_000  # a tsvector knows no further place
MAX_QUERY_WORDS = 20


class Word(NamedTuple):
    """A folded word, its place in the text, and the characters it covers."""

    text: str
    place: int
    start: int
    end: int


@functools.lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Lower case, without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))


def words(text: str) -> Iterator[Word]:
    """Every word of a text."""
    place = 0
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if _CJK_RUN.match(token):
            for at in range(max(1, len(token) - 1)):
                place += 1
                end = min(at + 2, len(token))
                yield Word(fold(token[at:end]), place, start + at, start + end)
            if len(token) > 1:
                place += 1
                yield Word(fold(token[-1]), place, start + len(token) - 1, match.end())
            continue
        place += 1
        yield Word(fold(token)[:MAX_WORD], place, start, match.end())
        if token.isalpha() and token[1:].islower():
            continue  # a plain word has no parts
        parts = list(_PART.finditer(token))
        if len(parts) > 1:
            for number, part in enumerate(parts):
                place += number > 0
                span = (start + part.start(), start + part.end())
                yield Word(fold(part[0])[:MAX_WORD], place, *span)


def vector(title: str, text: str) -> str:
    """The tsvector literal of a page; words of the title weigh most."""
    places = dict[str, list[str]]()
    last = 0
    for word in words(title):
        places.setdefault(word.text, []).append(f"{word.place}A")
        last = word.place
    for word in words(text):
        place = last + 1 + word.place
        if place > MAX_PLACES:
            break
        at = places.setdefault(word.text, [])
        if len(at) < 200:
            at.append(str(place))
    return " ".join(f"{_quoted(word)}:{','.join(at)}" for word, at in places.items())


def query(text: str) -> tuple[str, list[str]]:
    """The tsquery for what somebody typed, and the words to highlight.

    All words must occur; the last one may be a beginning. "Quoted" words follow each other, and
    -word must not occur. Empty when nothing can be searched for.
    """
    clauses = list[str]()
    marked = list[str]()
    pieces = re.findall(r'(-?)(?:"([^"]*)"|(\S+))', text)[:MAX_QUERY_WORDS]
    for number, (minus, phrase, plain) in enumerate(pieces):
        found = _whole(phrase or plain)
        if not found:
            continue
        is_last = number == len(pieces) - 1 and not phrase and not text.endswith(" ")
        # A lone CJK character is stored as the beginning of a pair.
        is_cjk = _CJK_RUN.match(found[-1]) is not None
        may_begin = len(found[-1]) == 1 if is_cjk else is_last and not minus
        terms = [
            _quoted(word) + (":*" if may_begin and word == found[-1] else "") for word in found
        ]
        clause = " <-> ".join(terms)
        clauses.append(f"!({clause})" if minus else f"({clause})")
        if not minus:
            marked += found
    if not marked:
        return "", []
    return " & ".join(clauses), marked


def _whole(text: str) -> list[str]:
    """The words of one typed piece, identifiers whole, pairs of characters in order."""
    found = list[str]()
    for match in _TOKEN.finditer(text):
        token = match[0]
        if not _CJK_RUN.match(token):
            found.append(fold(token)[:MAX_WORD])
        elif len(token) == 1:
            found.append(fold(token))
        else:
            found += [fold(token[at : at + 2]) for at in range(len(token) - 1)]
    return found


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
