"""Quote values in messages, suggest near words, and the error for a refused value."""

import difflib
import re
from collections.abc import Callable, Iterable

_MOST = 60
_USERINFO = re.compile(r"(://[^/@\s:]*:)[^\s]*@")
"""The password of a URL."""


class UnfitValueError(ValueError):
    """A value that its field does not accept. Its text is shown to the person."""


def printable(text: str) -> str:
    """Return the text with printable characters only, safe in one line of a terminal or log."""
    text = text if len(text) <= 4 * _MOST else text[: 4 * _MOST - 1] + "…"
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "�" for character in text)


def describe(value: object) -> str:
    """Return a value as a message quotes it: `"abc"`, `true`, `a list`; at most half a line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = _USERINFO.sub(r"\1***@", str(value))
    text = printable(text if len(text) <= _MOST else text[: _MOST - 1] + "…")
    return f'"{text}"' if isinstance(value, str) else text


def fits(pattern: str, expected: str) -> Callable[[str], str]:
    """Return a validator of texts that match a pattern as a whole; ``expected`` says in a message
    what another text is not."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise UnfitValueError(f"{describe(value)} is not {expected}")
        return value

    return check


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was most likely meant, or None."""
    plain = {_plain(name): name for name in sorted(known, reverse=True)}
    match = difflib.get_close_matches(_plain(word[:100]), sorted(plain), n=1, cutoff=0.6)
    return plain[match[0]] if match else None


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?`, or nothing where no known word is near."""
    name = nearest(word, known)
    return f'; did you mean "{name}"?' if name else ""
