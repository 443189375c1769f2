"""The plugin for a second try exists twice, because the notes application has tests of its own."""

from __future__ import annotations

from tests.tidy.test_tidy import ROOT


def test_both_copies_of_the_second_try_are_equal() -> None:
    ours = ROOT / "tests/support/second_try.py"
    copy = ROOT / "images/notes/tests/second_try.py"
    assert copy.read_text() == ours.read_text(), f"copy {ours} to {copy}"
