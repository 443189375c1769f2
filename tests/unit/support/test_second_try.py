"""Tests that a test which passes at the second try is named, and that only few may."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CONFTEST = """
from tests.support.second_try import SecondTry
def pytest_configure(config):
    config.pluginmanager.register(SecondTry(config))
"""
TESTS = """
from pathlib import Path
import pytest
@pytest.mark.parametrize("number", range({flaky}))
def test_flaky(number, pytestconfig):
    seen = pytestconfig.rootpath / f"seen-{{number}}"
    was_seen = seen.exists()
    seen.touch()
    assert was_seen
@pytest.mark.parametrize("number", range({broken}))
def test_broken(number):
    assert False
def test_whole():
    pass
"""


PLUGINS = ["-p", "xdist.plugin", "-p", "pytest_rerunfailures", "-p", "no:cacheprovider"]
"""All that the runs need: the import of the others takes most of a run's time."""


@pytest.mark.parametrize(
    ("flaky", "broken", "code", "workers"),
    [
        (4, 0, 0, "0"),
        *(
            pytest.param(*case, workers, marks=pytest.mark.slow)
            for case in [(0, 0, 0), (4, 0, 0), (5, 0, 1), (0, 1, 1), (1, 1, 1)]
            for workers in ("0", "2")
            if (*case, workers) != (4, 0, 0, "0")
        ),
    ],
)
def test_few_tests_may_need_a_second_try(
    tmp_path: Path, flaky: int, broken: int, code: int, workers: str
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS.format(flaky=flaky, broken=broken))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    asked = [sys.executable, "-m", "pytest", "-q", *PLUGINS, "--reruns", "1", "-n", workers]
    few = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    few.pop("PYTEST_ADDOPTS", None)  # The outer run's, for plugins that this one does not load.
    ran = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False, env=few)
    assert ran.returncode == code, ran.stdout
    named = {line for line in ran.stdout.splitlines() if line.startswith("SECOND TRY")}
    assert len(named) == flaky + broken, ran.stdout
    printed = [line for line in ran.stdout.splitlines() if line.startswith("    E ")]
    assert len(printed) >= flaky + broken, ran.stdout
