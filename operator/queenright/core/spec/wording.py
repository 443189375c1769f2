"""How messages quote a value, and the error by which a value is refused in plain words."""

import difflib
from collections.abc import Iterable

_MOST = 60


class UnfitValueError(ValueError):
    """A value that can't stand where it stands. Its text is what the person reads."""


def printable(text: str) -> str:
    """Text that is safe in one line of a terminal or log: nothing but printable characters."""
    text = text if len(text) <= 4 * _MOST else text[: 4 * _MOST - 1] + "…"
    return "".join(character if character.isprintable() else "�" for character in text)


def describe(value: object) -> str:
    """A value as a message quotes it: `"abc"`, `true`, `a list`; never longer than half a line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value)
    text = printable(text if len(text) <= _MOST else text[: _MOST - 1] + "…")
    return f'"{text}"' if isinstance(value, str) else text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant, or None."""
    plain = {_plain(name): name for name in sorted(known, reverse=True)}
    match = difflib.get_close_matches(_plain(word[:100]), sorted(plain), n=1, cutoff=0.6)
    return plain[match[0]] if match else None


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`, did you mean "x"?`, or nothing where nothing is near."""
    name = nearest(word, known)
    return f'; did you mean "{name}"?' if name else ""
