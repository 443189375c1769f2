"""Tests that tests which share something run in one process."""

from pathlib import Path

from tests.groups import group_of

TESTS = Path(__file__).parent


def test_a_file_is_a_group_and_the_lab_is_one() -> None:
    files = [path.relative_to(TESTS.parent) for path in sorted(TESTS.rglob("test_*.py"))]
    groups = {str(file): group_of(f"{file}::test_one[a/b::c]") for file in files}
    on_lab = {group for file, group in groups.items() if "/image/" in file}
    others = [group for file, group in groups.items() if "/image/" not in file]
    assert len(on_lab) == 1
    assert len({*on_lab, *others}) == 1 + len(others), "two files are one group"
