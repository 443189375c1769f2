"""Plain prose: first lines of docstrings, and words that must not come back.

All Python files of ``operator`` and ``tests`` are checked.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.sources import facts
from tests.tidy.test_tidy import ROOT, named, python_files, text_of

PACKAGE = ROOT / "operator" / "queenright"
QUESTIONS = {"what", "whether", "which", "why", "who", "whose", "whom", "how"}
"""A docstring says what the code does or returns; it does not name a question."""
WORDS = re.compile(
    r"\b(?:deeds?|befalls?|befell|doctrine|wish(?:e[sd])?|disturb(?:s|ed|ing|ances?)?"
    r"|(?:is|are) (?:told|said)|(?:was|were) told|tells? (?:people|whom|of)|told (?:of|about)"
    r"|lost sight|own word|second line of defence|ever less often|in its way|lives to hear"
    r"|by a fault of (?:its|our|the operator's) own)\b"
)
"""Metaphors and passives for which there is a plain word: action, fault, report, desired, claim. In
small letters: a search that minds no case takes five times as long."""

NAMES = re.compile(r"\{[^}]*\}|``?[^`]*``?")
"""Values in a message and names of the code, which are no prose."""


@cache
def checked() -> tuple[Path, ...]:
    return tuple(path for path in python_files("operator", "tests") if path != Path(__file__))


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of docstrings and comments; of the operator its messages too."""
    yield from facts(path).docstrings
    has_messages = path.is_relative_to(PACKAGE)
    for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
        if token.type == tokenize.COMMENT or (
            has_messages and token.type == tokenize.STRING and " " in token.string
        ):
            yield token.start[0], NAMES.sub("", token.string)


def may_have_words(path: Path) -> bool:
    """True if one of the words is in the file at all; then it is looked up where it stands."""
    text = text_of(path).lower()
    return any(WORDS.search(found) for found in (text, NAMES.sub("", text)))


def test_a_docstring_begins_with_what_the_code_does_or_returns() -> None:
    questions = [
        f"{named(path)}:{line}: {text.split(chr(10))[0]}"
        for path in (*checked(), *python_files("images"))
        for line, text in facts(path).docstrings
        if re.split(r"\W", text.strip(), maxsplit=1)[0].lower() in QUESTIONS
    ]
    assert not questions, "\n".join(questions)


def test_words_that_must_not_come_back() -> None:
    found = [
        f"{named(path)}:{line + text.count(chr(10), 0, match.start())}: {match[0]}"
        for path in checked()
        if may_have_words(path)
        for line, text in ((line, found.lower()) for line, found in prose(path))
        for match in WORDS.finditer(text)
    ]
    assert not found, "\n".join(found)
