"""A pseudo-language from right to left, for tests: text that no catalogue has stays readable."""

import re
from collections.abc import Iterable
from typing import Final

#: Private use, as the workspace names it, too.
TAG: Final = "qps"
_PLACES: Final = re.compile(r"(%(?:[1-9]\$)?[a-zA-Z])")
_VOWELS: Final = re.compile("[aeiou]")


def odd(text: str) -> str:
    """The text in brackets, with accents; its places stay."""
    parts = _PLACES.split(text)
    parts[::2] = [_VOWELS.sub("\\g<0>\u0301", part) for part in parts[::2]]
    return f"⟦{''.join(parts)}⟧"


def catalogue(texts: Iterable[str]) -> dict[str, str]:
    """The texts, each with its odd form."""
    return {text: odd(text) for text in texts}
