"""Finds the message that a text was made of, and says it in another language.

The application writes its messages in English: clients of the API get them so, and jobs and reports
are stored so. A catalogue has the translation of each message, with `%s` for a part that differs.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

PLACE: Final = re.compile(r"%(?:([1-9])\$)?s")
#: A longer text is no message, or its parts are a person's.
MOST_CHARACTERS: Final = 8_000
_DEEPEST: Final = 3
_BEGIN: Final = 2


def fill(text: str, values: Sequence[object]) -> str:
    """The text with its places filled: `%s` is the next value, `%2$s` the second."""
    following = iter(values)
    return PLACE.sub(
        lambda found: str(values[int(found[1]) - 1] if found[1] else next(following)), text
    )


class Messages:
    """The messages of one language."""

    def __init__(self, translated: Mapping[str, str]) -> None:
        self._whole = {text: other for text, other in translated.items() if "%s" not in text}
        made = [(text.split("%s"), other) for text, other in translated.items() if "%s" in text]
        # The message with more words of its own first: the other's places would take them.
        made.sort(key=lambda one: -sum(map(len, one[0])))
        #: By their first characters; a message that begins with a place is under none.
        self._parts = defaultdict[str, list[tuple[list[str], str]]](list)
        for pieces, other in made:
            self._parts[pieces[0][:_BEGIN]].append((pieces, other))

    def said(self, text: str, depth: int = 0) -> str | None:
        """The message in this language; None if no message has this text."""
        if len(text) > MOST_CHARACTERS or depth > _DEEPEST:
            return None
        whole = self._whole.get(text)
        if whole is not None:
            return whole
        for pieces, other in (*self._parts.get(text[:_BEGIN], ()), *self._parts.get("", ())):
            values = _values(text, pieces)
            if values is not None:
                return fill(other, [self.said(one, depth + 1) or one for one in values])
        # The name of a field or file is before its message: `body: this is not an id`.
        field, mark, rest = text.partition(": ")
        said = self.said(rest, depth + 1) if mark else None
        return None if said is None else f"{field}{mark}{said}"


def _values(text: str, pieces: Sequence[str]) -> list[str] | None:
    """The values between the pieces, each as short as possible; None if the pieces do not fit."""
    first, last = pieces[0], pieces[-1]
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return None
    at, end = len(first), len(text) - len(last)
    values = list[str]()
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return None
        values.append(text[at:found])
        at = found + len(piece)
    values.append(text[at:end])
    return values if all(values) else None
