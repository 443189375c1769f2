"""A deployed cluster that a module's tests share: the operator as a process, the swarm real."""

from __future__ import annotations

import base64
import contextlib
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.repository import backed_up, place, programs, store
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    eventually,
    is_whole,
    leader_node,
    quick_manifest,
    serves,
)
from tests.lab.engine import EngineError
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.support.side_by_side import SIDE_BY_SIDE

__all__ = ["backed_up", "place", "programs", "store"]
"""Fixtures of a cluster with a repository."""

_failed = set[Path]()
"""Files of which a test failed since their lab was last made well: a node may be off, an edit half
undone, and each further test of the file, and the second try, would wait for a cluster in vain."""
WAKING = "wakes-the-operator"
"""A config that is made and removed at once."""
NOTHING = base64.b64encode(b"nothing").decode()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.failed:
        _failed.add(item.path)
    return report


@pytest.fixture(autouse=True)
def no_fault_left(request: pytest.FixtureRequest) -> None:
    """End the faults that a failed test of this file left on the lab."""
    if request.path in _failed and "lab" in request.fixturenames:
        request.getfixturevalue("lab").mend()


@pytest.fixture(scope="session")
def images(lab: Lab) -> dict[str, str]:
    """The images that members and proxies run, in the lab's registry."""
    return publish(lab.registry, ["member", "proxy"], lab.settings)


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    """The cluster to deploy; a module that is about the contract's timings has its own fixture."""
    return quick_manifest(lab)


@pytest.fixture(scope="module")
def resync_s() -> float | None:
    """The operator's resync interval; a module that is about events has its own fixture (None)."""
    return QUICK_RESYNC_S


@pytest.fixture(scope="module")
def operator_command() -> list[str]:
    """The operator's program; empty: the usual one."""
    return []


@pytest.fixture(scope="module")
def module_operator(
    lab: Lab,
    resync_s: float | None,
    operator_command: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> RunningOperator:
    """The module's operator, which is not started yet."""
    directory = tmp_path_factory.mktemp("operator")
    return RunningOperator(lab, directory, operator_command, resync_s=resync_s)


@pytest.fixture(scope="module")
def deployment(
    lab: Lab, images: dict[str, str], first_manifest: str, module_operator: RunningOperator
) -> Iterator[Deployment]:
    """Deploy a whole cluster from a bare swarm; the operator ends with the module."""
    lab.reset()
    operator = module_operator
    operator.write(first_manifest)
    with operator:
        took = operator.wait_converged()
        eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0")
        eventually(lambda: serves(lab, leader_node(lab)), "the proxy to pass on to the leader")
        yield Deployment(lab, operator, took)


def switch_over(deployment: Deployment) -> str:
    """Move the lead to another member, as a person does; returns the former leader's node."""
    former = leader_node(deployment.lab)
    candidate = next(f"member-{n}" for n, node in enumerate(MEMBER_NODES, 1) if node != former)
    found = deployment.operator.command("switchover", "--candidate", candidate, "--force")
    assert found.returncode == 0, found.stderr
    return former


@pytest.fixture
def settled(
    request: pytest.FixtureRequest, deployment: Deployment, first_manifest: str
) -> Deployment:
    """The deployment, whole and converged again after whatever an earlier test did to it; deployed
    anew where one failed."""
    if request.path in _failed:
        turns = request.config.pluginmanager.get_plugin(SIDE_BY_SIDE)
        if turns is not None:
            turns.wait_to_deploy()
        deploy_anew(deployment, first_manifest)
        _failed.discard(request.path)
    well_again(deployment)
    return deployment


def deploy_anew(deployment: Deployment, manifest: str) -> None:
    """Begin again from a bare swarm, with an operator that remembers nothing."""
    lab, operator = deployment.lab, deployment.operator
    if operator.is_running():
        operator.stop(signal.SIGKILL)
    for directory in (operator.manifests, operator.state):
        shutil.rmtree(directory, ignore_errors=True)
    operator.manifests.mkdir()
    lab.reset()
    operator.write(manifest)
    since = len(list(operator.passes()))
    operator.start().wait_converged(since=since)


def well_again(deployment: Deployment) -> None:
    """Wait for a whole cluster, and for a pass from now on that finds everything as desired. The
    former alone is true for a moment after a task was stopped: Patroni still lists its member."""
    eventually(lambda: is_whole(deployment.lab), "a whole cluster", timeout_s=180)
    since = len(list(deployment.operator.passes())) + 1  # one may have begun before
    eventually(lambda: finds_all_well(deployment, since), "a converged pass", timeout_s=180)


def finds_all_well(deployment: Deployment, since: int) -> bool:
    """Return True if a pass after the first ``since`` ones finds everything as desired. Events of
    Docker wake the operator, whose own interval may be long."""
    operator, engine = deployment.operator, deployment.lab.manager.engine
    assert operator.is_running()
    for wake in (
        partial(engine.post, "/configs/create", {"Name": WAKING, "Data": NOTHING}),
        partial(engine.delete, f"/configs/{WAKING}"),
    ):
        with contextlib.suppress(OSError, EngineError, HTTPException):
            wake()
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        if any(found["converged"] for found in list(operator.passes())[since:]):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def own_operator(lab: Lab, images: dict[str, str], tmp_path: Path) -> Iterator[RunningOperator]:
    """A bare swarm, and an operator that is not started yet, with the usual manifest."""
    lab.reset()
    operator = RunningOperator(lab, tmp_path, resync_s=QUICK_RESYNC_S)
    operator.write(quick_manifest(lab))
    yield operator
    if operator.is_running():
        operator.stop()
