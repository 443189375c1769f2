"""How messages quote a value, and the error by which a value is refused in plain words."""

_MOST = 40


class UnfitValueError(ValueError):
    """A value that can't stand where it stands. Its text is what the person reads."""


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
    text = text if len(text) <= _MOST else text[: _MOST - 1] + "…"
    text = "".join(character if character.isprintable() else "�" for character in text)
    return f'"{text}"' if isinstance(value, str) else text
