"""Fixtures that end-to-end tests share: the lab, as it runs, and the lab made bare."""

import fcntl
import os
from collections.abc import Iterator

import pytest

from tests.lab.lab import Lab
from tests.lab.settings import LabSettings


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab that LAB_* name, brought up or used as it runs; it is left running.

    One test session at a time has it: the next one waits here.
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


@pytest.fixture
def bare_lab(lab: Lab) -> Lab:
    """The lab with a bare swarm: no service, volume, secret, config or label."""
    lab.reset()
    return lab
