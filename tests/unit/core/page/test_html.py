"""HTML as values: what a text can't do."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from queenright.core.page.html import Html, joined, tag, within
from tests.support.sights import HOSTILE


class Elements(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def test_a_text_is_never_markup() -> None:
    made = tag("p", HOSTILE, tag("b", HOSTILE), title=HOSTILE)
    elements = Elements(made.markup).found
    assert [name for name, _ in elements] == ["p", "b"]
    assert [name for name, _ in elements[0][1]] == ["title"]


@pytest.mark.parametrize("hidden", ["\x00", "\x1b", "\u202e", "\u2066", "\u200b", "\ud800", "\x85"])
def test_nothing_is_hidden_in_a_text(hidden: str) -> None:
    made = tag("p", f"a{hidden}b", title=f"a{hidden}b").markup
    assert hidden not in made
    assert made.count("a\ufffdb") == 2
    made.encode()


def test_attributes_are_named_as_html_names_them() -> None:
    made = tag("input", class_="x", aria_label="y", value="", title="")
    assert made == Html('<input class="x" aria-label="y" value="">')


def test_rows_beyond_the_limit_are_counted_and_left_out() -> None:
    rows = [joined("x" * 40) for _ in range(5)]
    kept, left = within(rows, 100)
    assert (len(kept), left) == (2, 3)


def test_a_small_row_after_a_large_one_keeps_the_order() -> None:
    kept, left = within([joined("a"), joined("b" * 200), joined("c")], 100)
    assert ([one.markup for one in kept], left) == (["a"], 2)
