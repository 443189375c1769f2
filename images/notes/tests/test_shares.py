"""Tests of the judges that a commit leaves out, and of their names, which are those of files."""

from pathlib import Path

from tests.shares import LONG, file_of, left_out

ROOT = Path(__file__).parents[1]


def test_without_a_choice_nothing_is_left_out() -> None:
    assert left_out("") == frozenset()


def test_each_long_judge_is_in_one_of_three_shares() -> None:
    assert len(set(LONG)) == len(LONG)
    whole = frozenset(map(file_of, LONG))
    shares = {whole - left_out(choice) for choice in "abcdefghijkl"}
    assert len(shares) == 3
    assert frozenset().union(*shares) == whole
    assert sum(map(len, shares)) == len(whole)


def test_the_long_judges_are_files() -> None:
    missing = [name for name in LONG if not (ROOT / file_of(name)).exists()]
    assert not missing
