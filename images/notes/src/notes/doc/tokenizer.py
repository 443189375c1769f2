"""Splits text into words for searching; the same rules apply to stored text and to queries.

Latin and other spaced scripts give words, folded to lower case without accents; Chinese, Japanese
and Korean give pairs of characters; identifiers give themselves and their parts. Invariant: an
identifier and its first part have the same place, so phrases match across both.
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
MAX_PLACES = 16_000  # a tsvector stores places up to 16,383
MAX_VECTOR_BYTES = 1_000_000  # a tsvector holds less than 1 MB, places included
MAX_QUERY_WORDS = 20


class Word(NamedTuple):
    """A folded word, its place in the text, and the characters it covers."""

    text: str
    place: int
    start: int
    end: int


@functools.lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """The text in lower case, without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))


def words(text: str) -> Iterator[Word]:
    """Yields every word of a text."""
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
        for number, part in enumerate(_parts(token)):
            place += number > 0
            span = (start + part.start(), start + part.end())
            yield Word(fold(part[0])[:MAX_WORD], place, *span)


def vector(title: str, text: str) -> str:
    """The tsvector literal of a page; words of the title weigh most."""
    places = dict[str, list[str]]()
    last = size = 0
    for word in words(title):
        places.setdefault(word.text, []).append(f"{word.place}A")
        last = word.place
    for word in words(text):
        place = last + 1 + word.place
        if place > MAX_PLACES:
            break
        at = places.get(word.text)
        size += 2 if at else len(word.text.encode()) + 6
        if size > MAX_VECTOR_BYTES:
            break
        if at is None:
            at = places[word.text] = []
        if len(at) < 200:
            at.append(str(place))
    return " ".join(f"{_quoted(word)}:{','.join(at)}" for word, at in places.items())


class Query(NamedTuple):
    """A query for the index.

    `loose` is `expression` without the order of words, which the index does not store: every match
    of `expression` is a match of `loose`. `marked` are the words to highlight; the last of them may
    be the beginning of a word.
    """

    expression: str
    loose: str
    marked: list[str]
    has_without: bool = False

    @property
    def has_order(self) -> bool:
        return self.expression != self.loose


def query(text: str) -> Query:
    """The tsquery for a typed text.

    All words must occur; the last one may be a beginning. "Quoted" words must follow each other,
    and -word must not occur. Empty if the text has no word to search for.
    """
    exact, loose = list[str](), list[str]()
    marked = list[str]()
    pieces = re.findall(r'(-?)(?:"([^"]*)"|(\S+))', text)[:MAX_QUERY_WORDS]
    for number, (minus, phrase, plain) in enumerate(pieces):
        parts = _sequence(phrase or plain, by_parts=True)
        if not parts:
            continue
        last = parts[-1].text
        is_last = number == len(pieces) - 1 and not phrase and not text.endswith(" ")
        # A lone CJK character is stored as the beginning of a pair.
        is_cjk = _CJK_RUN.match(last) is not None
        may_begin = len(last) == 1 if is_cjk else is_last and not minus
        whole = parts if phrase else _sequence(plain, by_parts=False)
        # An identifier matches as a whole, and as a part of a longer one.
        ways = [whole] if whole == parts else [whole, parts]
        exact_clause = " | ".join(_joined(way, may_begin, in_order=True) for way in ways)
        if minus:
            exact.append(f"!({exact_clause})")
            if "<" not in exact_clause:
                loose.append(exact[-1])
            continue
        exact.append(f"({exact_clause})")
        loose.append(f"({' | '.join(_joined(way, may_begin, in_order=False) for way in ways)})")
        marked += [step.text for way in reversed(ways) for step in way]
    if not marked:
        return Query("", "", [])
    has_without = any(clause.startswith("!") for clause in exact)
    return Query(" & ".join(exact), " & ".join(loose), marked, has_without)


class _Step(NamedTuple):
    """A word of a sequence, and the distance in places to the next word."""

    text: str
    places: int


def _sequence(text: str, *, by_parts: bool) -> list[_Step]:
    """The words of one typed piece, with places as `words` assigns them to stored text."""
    found = list[_Step]()
    for match in _TOKEN.finditer(text):
        token = match[0]
        if _CJK_RUN.match(token):
            pairs = [fold(token[at : at + 2]) for at in range(max(1, len(token) - 1))]
            found += [_Step(pair, 1) for pair in pairs[:-1]]
            found.append(_Step(pairs[-1], len(pairs[-1])))
            continue
        parts = _parts(token)
        if by_parts and parts:
            found += [_Step(fold(part[0])[:MAX_WORD], 1) for part in parts]
        else:
            found.append(_Step(fold(token)[:MAX_WORD], max(1, len(parts))))
    return found


def _parts(token: str) -> list[re.Match[str]]:
    """The parts of an identifier; an empty list for a plain word."""
    if token.isalpha() and token[1:].islower():
        return []
    parts = list(_PART.finditer(token))
    return parts if len(parts) > 1 else []


def _joined(steps: list[_Step], may_begin: bool, *, in_order: bool) -> str:
    clause = ""
    for step in steps[:-1]:
        clause += _quoted(step.text) + (f" <{step.places}> " if in_order else " & ")
    return clause + _quoted(steps[-1].text) + (":*" if may_begin else "")


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
