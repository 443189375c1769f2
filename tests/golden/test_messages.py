"""The page of messages has no entry that no test compares any more."""

from __future__ import annotations

import os
from pathlib import Path

from tests.golden.messages import PAGE, name_of_test, names_of_tests, page_text, read_page

TESTS = Path(__file__).parents[1]


def test_every_entry_of_the_page_is_compared_by_a_test() -> None:
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    names = set().union(*map(names_of_tests, texts))
    page = read_page(PAGE.read_text(encoding="utf-8"))
    used = {entry: words for entry, words in page.items() if name_of_test(entry) in names}
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page_text(used), encoding="utf-8")
    else:
        assert page.keys() == used.keys(), "UPDATE_GOLDEN=1 removes them"


def test_the_page_is_written_as_it_is_read() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_text(read_page(text)) == text
