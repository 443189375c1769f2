"""Fixtures that tests on the lab share: the lab, as it runs, and the lab made bare."""

import fcntl
import os
from collections.abc import Iterator

import pytest

from tests.lab.lab import Lab
from tests.lab.settings import LabSettings
from tests.side_by_side import ByGroup, SideBySide, worker_number


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--side-by-side", action="store_true", help="each worker (-n) has a lab")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("side_by_side"):
        config.pluginmanager.register(SideBySide())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByGroup | None:
    return ByGroup(config, log) if config.getoption("side_by_side") else None


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab that LAB_* name, brought up or used as it runs.

    One test session at a time has it: the next one waits here. It is left running, but for the
    labs that further workers have: those go down.
    """
    if os.geteuid() != 0:
        pytest.skip("the lab needs root")
    settings = LabSettings.from_environment()
    settings.directory.mkdir(parents=True, exist_ok=True)
    with (settings.directory / "session.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lab = Lab(settings)
        lab.up()
        yield lab
        if worker_number() > 0:
            lab.down()


@pytest.fixture
def bare_lab(lab: Lab) -> Lab:
    """The lab with a bare swarm: no service, volume, secret, config or label."""
    lab.reset()
    return lab
