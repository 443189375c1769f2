"""HTML as values: every text is escaped, unless it was made here.

Pure. Invariant: a ``str`` is escaped wherever it goes, so that no name, message or answer of a
member can become markup; only ``tag`` and ``joined`` make ``Html``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
"""Control characters, marks of the writing direction, and halves of surrogate pairs: they would
make a text look like another one, or could not be encoded."""
REPLACEMENT = "\ufffd"
_VOID = frozenset({"link", "meta", "input"})


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of a page, as markup."""

    markup: str

    @property
    def size(self) -> int:
        """Return its bytes."""
        return len(self.markup.encode())


def visible(text: str) -> str:
    """Return a text in which nothing is hidden."""
    return _INVISIBLE.sub(REPLACEMENT, text)


def tag(name: str, /, *children: Html | str, **attributes: str) -> Html:
    """Return an element. ``class_`` is the attribute ``class``, ``aria_label`` is ``aria-label``;
    an attribute with an empty text is left out, except ``value`` and ``alt``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(value))}"'
        for key, value in attributes.items()
        if value or key in {"value", "alt"}
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children).markup}</{name}>")


def joined(*children: Html | str) -> Html:
    return Html(
        "".join(
            child.markup if isinstance(child, Html) else escape(visible(child))
            for child in children
        )
    )


def within(rows: Iterable[Html], most_bytes: int) -> tuple[tuple[Html, ...], int]:
    """Return the first rows that fit into so many bytes, and the number of the others."""
    kept: list[Html] = []
    left, size = 0, 0
    for row in rows:
        size += row.size
        if left or size > most_bytes:
            left += 1
        else:
            kept.append(row)
    return tuple(kept), left


def table(columns: Iterable[str], rows: Iterable[Html], caption: str) -> Html:
    """Return a table in a box of its own, which scrolls on a narrow screen."""
    head = tag("tr", *(tag("th", name, scope="col") for name in columns))
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", head),
            tag("tbody", *rows),
        ),
        class_="wide",
        role="region",
        tabindex="0",
        aria_label=caption,
    )
