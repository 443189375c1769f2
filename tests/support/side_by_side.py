"""Decides which lab each of several test workers has, what shares a lab, and whose turn it is.

``make e2e`` runs LABS workers (pytest-xdist), each with a lab of its own, and a last one without.
Tests that share what is deployed are a *group* and stay on one worker, in their order: those of a
module, or of a directory in ``TOGETHER``. The last worker runs the groups that need no lab. The
longest groups start first, so that the workers are done at about the same time.
Invariant: no lab is made bare or deployed while a test marked ``quiet`` runs on another one. Labs
are deployed side by side, and quiet tests run so.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, TextIO

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.lab.settings import LabSettings

LONGEST_FIRST = (
    "e2e/cluster/test_topology.py",
    "e2e/cluster/test_faults.py",
    "e2e/cluster/test_damaged_data.py",
    "e2e/cluster/test_backup.py",
    "e2e/cluster/test_notes_upgrade.py",
    "e2e/cluster/test_topology_small.py",
    "e2e/cluster/test_full_disk.py",
    "e2e/cluster/test_access_edits.py",
    "e2e/cluster/test_day_two.py",
    "e2e/cluster/test_backup_faults.py",
    "e2e/cluster/test_backup_volume.py",
    "e2e/cluster/test_edge_rollout.py",
    "e2e/cluster/test_standby.py",
    "e2e/cluster/test_vip.py",
    "e2e/notes/test_workspace_rows.py",
    "e2e/cluster/test_notes.py",
    "e2e/cluster/test_in_place.py",
    "e2e/cluster/test_majority_lost.py",
    "contract",
    "e2e/cluster/test_databases.py",
    "e2e/cluster/test_notes_restored.py",
    "e2e/cluster/test_replication.py",
    "e2e/cluster/test_documents.py",
    "e2e/cluster/test_repairs.py",
    "e2e/cluster/test_trouble.py",
    "e2e/cluster/test_first_deployment.py",
    "e2e/cluster/test_commands.py",
    "e2e/cluster/test_killed_operator.py",
    "e2e/cluster/test_operator_service.py",
)
"""Groups on a lab by the time they take. One that is not listed starts before them all."""


WITHOUT_LAB = (
    "contract/test_raft_membership.py",
    "contract/test_archive_of_replicas.py",
    "e2e/test_route.py",
    "e2e/test_route_start.py",
    "e2e/test_lab.py",
    "e2e/test_own_disks.py",
    "e2e/images",
    "contract/test_catalog_text.py",
    "e2e/test_edge.py",
    "e2e/page/test_page.py",
    "contract/test_backup.py",
    "contract/test_volume_repository.py",
    "contract/test_drill.py",
    "contract/test_raft_status.py",
    "contract/test_restore.py",
    "contract/test_replica.py",
    "contract/test_rewind.py",
    "contract/test_control_file.py",
    "contract/test_used_timelines.py",
    "contract/test_backup_refusals.py",
    "contract/test_hostile_owner.py",
    "contract/test_given_up_statement.py",
    "contract/test_catalogs.py",
    "contract/test_archiving.py",
)
"""Groups that need no lab, or make one of their own; by the time they take."""

YIELDS = 10
"""By how much the priority of the worker without a lab is lower than that of the labs."""

SIDE_BY_SIDE = "side-by-side"
"""The name under which the plugin is registered."""

TOGETHER = ("contract", "e2e/images")
"""Directories that are one group: their tests share what is deployed, or names on the builder."""


def worker_number() -> int:
    """This process's number among its session's workers, 0 when it is the only one."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def has_lab(number: int, workers: int) -> bool:
    """Return True unless the worker is the last of several; one that replaces a crashed one has."""
    return workers == 1 or number != workers - 1


def group_of(test: str) -> str:
    """The group of a test by its id, such as ``tests/e2e/test_lab.py::test_a``."""
    module = test.partition("::")[0].removeprefix("tests/")
    if module in WITHOUT_LAB:
        return module
    return next((name for name in TOGETHER if module.startswith(f"{name}/")), module)


def deploys(group: str) -> bool:
    """Return False for the modules of contracts that need no lab: they start a few processes, and
    quiet tests and they don't wait for each other. The other ones may make a lab of their own."""
    return not (group in WITHOUT_LAB and group.startswith("contract/"))


def rank(group: str) -> int:
    order = LONGEST_FIRST + WITHOUT_LAB
    return order.index(group) if group in order else -1


def next_group(waiting: Iterable[str], *, on_lab: bool) -> str | None:
    """Return the group for a worker. One with a lab takes what needs none at the end only."""
    groups = list(waiting)
    fitting = [group for group in groups if (group not in WITHOUT_LAB) == on_lab]
    return next(iter(fitting or groups * on_lab), None)


class ByGroup(LoadScopeScheduling):
    """Gives a group to each worker, and the next group to the one that is about to be done."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # the order that the tests are collected in
        self._workers = int(config.getoption("numprocesses") or 1)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _next(self, node: WorkerController) -> str | None:
        number = int(node.gateway.id.removeprefix("gw"))
        return next_group(self.workqueue, on_lab=has_lab(number, self._workers))

    def _assign_work_unit(self, node: WorkerController) -> None:
        group = self._next(node)
        if group is None:
            self.assigned_work.setdefault(node, {})
            return
        self.workqueue.move_to_end(group, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        """End a worker for which there is nothing more, though there is for others."""
        if node.shutting_down:
            return
        if self.workqueue and self._next(node) is None:
            node.shutdown()
        else:
            super()._reschedule(node)


class Turns:
    """One worker's view of whose turn it is; the workers share the files of a directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._queue = (directory / "queue.lock").open("w")
        self._deploying = (directory / "deploying.lock").open("w")
        self._quiet = (directory / "quiet.lock").open("w")
        self._held: TextIO | None = None

    def deploy(self) -> None:
        """Wait until no quiet test runs; none begins before ``end``."""
        self._take(self._deploying, unless=self._quiet)

    def be_quiet(self) -> None:
        """Wait until no lab is deployed; none begins to be before ``end``."""
        self._take(self._quiet, unless=self._deploying)

    def end(self) -> None:
        if self._held is not None:
            fcntl.flock(self._held, fcntl.LOCK_UN)
        self._held = None

    def _take(self, lock: TextIO, unless: TextIO) -> None:
        """Wait in a queue: else quiet tests that overlap on two labs keep a third one waiting."""
        if self._held is lock:
            return
        self.end()
        fcntl.flock(self._queue, fcntl.LOCK_EX)
        fcntl.flock(unless, fcntl.LOCK_EX)
        fcntl.flock(unless, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_SH)
        self._held = lock
        fcntl.flock(self._queue, fcntl.LOCK_UN)


class SideBySide:
    """The plugin of one worker; made before any of its tests is collected."""

    def __init__(self) -> None:
        first = LabSettings.from_environment()
        self._turns = Turns(first.directory / "turns")
        self._module: Path | None = None
        self._limit: tuple[pytest.Item, Any] | None = None
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        is_on_lab = has_lab(worker_number(), workers)
        if not is_on_lab and workers > 1:
            os.nice(YIELDS)  # the labs' health checks have time limits
        number = worker_number() if is_on_lab else 0
        os.environ.update(first.beside(number).variables())

    def wait_to_deploy(self) -> None:
        """Wait for the turn to deploy the lab anew in a test's preparations; it ends with these."""
        self._untimed(self._turns.deploy)

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_timeout_set_timer(
        self, item: pytest.Item, settings: Any
    ) -> Generator[None, Any, Any]:
        """Keep the time limit of the test that runs."""
        self._limit = (item, settings)
        return (yield)

    def _untimed(self, wait: Callable[[], None]) -> None:
        """Wait while the test's time limit does not run; it begins anew afterwards."""
        if self._limit is None:
            wait()
            return
        item, settings = self._limit
        item.ihook.pytest_timeout_cancel_timer(item=item)
        wait()
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if group_of(item.nodeid) in WITHOUT_LAB and "lab" in getattr(item, "fixturenames", ()):
                raise pytest.UsageError(f"{item.nodeid}: needs the lab, and is in WITHOUT_LAB")
        items.sort(key=lambda item: rank(group_of(item.nodeid)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Wait for the turn before the test's own time limit begins to run."""
        is_first, self._module = item.path != self._module, item.path
        if is_first and deploys(group_of(item.nodeid)):
            self._turns.deploy()
        elif _is_quiet(item):
            self._turns.be_quiet()
        try:
            return (yield)
        finally:
            self._limit = None
            self._turns.end()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Release the lab: the objects for a module's first test are deployed by now."""
        if _is_quiet(item):
            self._untimed(self._turns.be_quiet)
        else:
            self._turns.end()
        return (yield)


def _is_quiet(item: pytest.Item) -> bool:
    return item.get_closest_marker("quiet") is not None
