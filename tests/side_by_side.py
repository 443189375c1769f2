"""Decides which lab each of several test workers has, what shares a lab, and whose turn it is.

``make e2e`` runs LABS workers (pytest-xdist), each with a lab of its own. Tests that share what is
deployed are a *group* and stay on one lab, in their order: those of a module, or all of
tests/contract. The longest groups start first, so that the labs are done at about the same time.
Invariant: no lab is made bare or deployed while a test marked ``quiet`` runs on another one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.lab.settings import LabSettings

LONGEST_FIRST = (
    "e2e/cluster/test_faults.py",
    "e2e/cluster/test_day_two.py",
    "e2e/cluster/test_databases.py",
    "e2e/cluster/test_vip.py",
    "e2e/cluster/test_notes_upgrade.py",
    "e2e/cluster/test_notes.py",
    "e2e/cluster/test_edge_rollout.py",
    "e2e/cluster/test_trouble.py",
    "e2e/cluster/test_killed_operator.py",
    "e2e/cluster/test_repairs.py",
    "e2e/cluster/test_commands.py",
    "e2e/cluster/test_first_deployment.py",
    "contract",
    "e2e/test_images.py",
    "e2e/cluster/test_documents.py",
    "e2e/test_route.py",
    "e2e/test_edge.py",
    "e2e/test_lab.py",
    "e2e/cluster/test_operator_service.py",
)
"""Groups by the time they take. One that is not listed starts before them all."""


def worker_number() -> int:
    """This process's number among its session's workers, 0 when it is the only one."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def group_of(test: str) -> str:
    """The group of a test by its id, such as ``tests/e2e/test_lab.py::test_a``."""
    module = test.partition("::")[0].removeprefix("tests/")
    return "contract" if module.startswith("contract/") else module


def rank(group: str) -> int:
    return LONGEST_FIRST.index(group) if group in LONGEST_FIRST else -1


class ByGroup(LoadScopeScheduling):
    """Gives a group to each worker, and the next group to the one that is about to be done."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order that the tests are collected in

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


class SideBySide:
    """The plugin of one worker; made before any of its tests is collected."""

    def __init__(self) -> None:
        first = LabSettings.from_environment()
        first.directory.mkdir(parents=True, exist_ok=True)
        self._turn = (first.directory / "quiet.lock").open("w")
        self._module: Path | None = None
        os.environ.update(first.beside(worker_number()).variables())

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: rank(group_of(item.nodeid)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Wait for the turn before the test's own time limit begins to run."""
        deploys, self._module = item.path != self._module, item.path
        if deploys:
            fcntl.flock(self._turn, fcntl.LOCK_EX)
        elif _is_quiet(item):
            fcntl.flock(self._turn, fcntl.LOCK_SH)
        try:
            return (yield)
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """What a module's first test needs is deployed by now."""
        fcntl.flock(self._turn, fcntl.LOCK_SH if _is_quiet(item) else fcntl.LOCK_UN)
        return (yield)


def _is_quiet(item: pytest.Item) -> bool:
    return item.get_closest_marker("quiet") is not None
