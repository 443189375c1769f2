"""Fixtures that tests on the lab share: the lab, as it runs, and the lab made bare."""

import fcntl
import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.lab.lab import Lab
from tests.lab.settings import LabSettings
from tests.support.examples import examples
from tests.support.failures_at_once import FailuresAtOnce
from tests.support.group_times import GroupTimes
from tests.support.plain_log import log_plainly
from tests.support.processor_time import OPTION as PROCESSOR_TIME
from tests.support.processor_time import ProcessorTime
from tests.support.second_try import SecondTry
from tests.support.shares import Shares
from tests.support.side_by_side import (
    SIDE_BY_SIDE,
    ByGroup,
    SideBySide,
    group_of,
    worker_number,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--side-by-side", action="store_true", help="each worker (-n) has a lab, but for the last"
    )
    parser.addoption(
        PROCESSOR_TIME, action="store_true", help="print the processor time by folder and by file"
    )


NEW_OBJECTS = 50_000
"""New objects before Python looks for unused cycles: by its default of 700 it spends a tenth of
the tests' time looking."""


settings.register_profile(  # no test is a measurement: a busy machine takes longer
    "untimed",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def pytest_configure(config: pytest.Config) -> None:
    log_plainly()
    settings.load_profile("untimed")
    gc.set_threshold(NEW_OBJECTS, 20, 20)
    config.pluginmanager.register(SecondTry(config))
    if config.getoption(PROCESSOR_TIME):
        config.pluginmanager.register(ProcessorTime(config))
    if config.getoption("side_by_side"):
        config.pluginmanager.register(FailuresAtOnce(config))
        config.pluginmanager.register(Shares(group_of))
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(GroupTimes(group_of))
        config.pluginmanager.register(SideBySide(), SIDE_BY_SIDE)


def pytest_collection_finish() -> None:
    """Exempt the objects at the beginning of the tests from garbage collection: they stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByGroup | None:
    return ByGroup(config, log) if config.getoption("side_by_side") else None


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab that LAB_* name, brought up or used as it runs.

    One test session at a time has it: the next one waits here. It is left running, but for the
    labs that further workers have: those go down, and their nodes keep the images.
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
            lab.down(keep_images=True)


@pytest.fixture
def bare_lab(lab: Lab) -> Lab:
    """The lab with a bare swarm: no service, volume, secret, config or label."""
    lab.reset()
    return lab
