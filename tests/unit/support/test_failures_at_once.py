"""Tests that a failure is printed when it happens, and not only at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CONFTEST = """
import os
from tests.support.failures_at_once import FailuresAtOnce
def pytest_configure(config):
    config.pluginmanager.register(FailuresAtOnce(config))
"""
TESTS = """
import os, signal
import pytest
@pytest.fixture
def broken():
    raise ValueError("no lab here")
def test_whole():
    pass
def test_without_its_fixture(broken):
    pass
def test_wrong():
    assert 1 == 2
def test_that_ends_the_run(pytestconfig):
    os.kill(int(os.environ["RUN"]), signal.SIGKILL)
"""


@pytest.mark.parametrize("workers", ["0", pytest.param("1", marks=pytest.mark.slow)])
def test_a_run_that_is_cut_off_has_named_what_failed(tmp_path: Path, workers: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    plugins = ["-p", "xdist.plugin", "-p", "no:cacheprovider"]
    asked = [sys.executable, "-m", "pytest", "-q", *plugins, "-n", workers]
    few = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
    few.pop("PYTEST_ADDOPTS", None)  # The outer run's, for plugins that this one does not load.
    shell = ["sh", "-c", 'export RUN=$$; exec "$@"', "sh", *asked]
    ran = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=False, env=few)
    assert ran.returncode == -9, ran.stdout
    assert "FAILED test_some.py::test_without_its_fixture (setup)" in ran.stdout
    assert "no lab here" in ran.stdout
    assert "FAILED test_some.py::test_wrong (call)" in ran.stdout
    assert "test_whole" not in ran.stdout
