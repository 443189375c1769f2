"""Tests of the groups that a commit leaves out, and that all of their names exist."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shares import CHOICE, LONG, left_out
from tests.support.side_by_side import LONGEST_FIRST, TOGETHER, WITHOUT_LAB

ROOT = Path(__file__).parents[3]
CONFTEST = """
from tests.support.shares import Shares
def pytest_configure(config):
    names = ["test_a.py", "test_b.py", "test_c.py"]
    config.pluginmanager.register(Shares(lambda test: test.partition("::")[0], names))
"""


def test_without_a_choice_nothing_is_left_out() -> None:
    assert left_out(LONG, "") == frozenset()


def test_each_long_group_is_in_one_of_three_shares_of_one_size() -> None:
    shares = {frozenset(LONG) - left_out(LONG, choice) for choice in "abcdefghijkl"}
    assert len(shares) == 3
    assert frozenset().union(*shares) == set(LONG)
    assert sum(map(len, shares)) == len(LONG)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_long_groups_are_groups() -> None:
    assert set(LONG) <= {*LONGEST_FIRST, *WITHOUT_LAB}
    assert not set(LONG) & set(TOGETHER)
    for name in LONG:
        assert (ROOT / "tests" / name).exists(), name


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize("choice", ["", "a", "b", "c"])
def test_what_is_left_out_is_named_and_the_others_run(
    tmp_path: Path, workers: str, choice: str
) -> None:
    names = ["test_a.py", "test_b.py", "test_c.py", "test_d.py"]
    for name in names:
        (tmp_path / name).write_text("def test_it():\n    open(__file__ + '.ran', 'w').close()\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    plugins = ["-p", "xdist.plugin", "-p", "no:cacheprovider", "-n", workers]
    env = {**os.environ, CHOICE: choice, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env.pop("PYTEST_ADDOPTS", None)  # The outer run's, for plugins that this one does not load.
    asked = [sys.executable, "-m", "pytest", "-q", *plugins]
    ran = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert ran.returncode == 0, ran.stdout
    others = left_out(names[:3], choice)
    assert {name for name in names if not (tmp_path / f"{name}.ran").exists()} == others
    said = {line.split()[2] for line in ran.stdout.splitlines() if line.startswith("LEFT OUT ")}
    assert said == others
