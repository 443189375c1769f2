"""Tests of the judges that a commit leaves out, and of their names, which are those of files."""

from pathlib import Path

from tests.halves import LONG, file_of, left_out

ROOT = Path(__file__).parents[1]


def test_without_a_choice_nothing_is_left_out() -> None:
    assert left_out("") == frozenset()


def test_two_halves_are_all() -> None:
    halves = {left_out(choice) for choice in "abcdefgh"}
    assert len(halves) == 2
    assert frozenset().union(*halves) == set(map(file_of, LONG))
    assert sum(map(len, halves)) == len(set(LONG)) == len(LONG)


def test_the_long_judges_are_files() -> None:
    missing = [name for name in LONG if not (ROOT / file_of(name)).exists()]
    assert not missing
