"""A deployed cluster that a module's tests share: the operator as a process, the swarm real."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import eventually, is_whole, manifest
from tests.lab.lab import Lab
from tests.lab.product_images import publish


@dataclass(frozen=True)
class Deployment:
    """A lab on which an operator runs, and how long the first convergence took."""

    lab: Lab
    operator: RunningOperator
    convergence_s: float


@pytest.fixture(scope="session")
def images(lab: Lab) -> dict[str, str]:
    """The images that members and proxies run, in the lab's registry."""
    return publish(lab.registry, ["member", "proxy"], lab.settings)


@pytest.fixture(scope="module")
def deployment(
    lab: Lab, images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """From a bare swarm to the whole cluster; the operator ends with the module."""
    lab.reset()
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"))
    operator.write(manifest(lab))
    with operator:
        took = operator.wait_converged()
        eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0")
        yield Deployment(lab, operator, took)


@pytest.fixture
def settled(deployment: Deployment) -> Deployment:
    """The deployment, whole and converged again after whatever an earlier test did to it."""
    last = len(list(deployment.operator.passes()))
    deployment.operator.wait_converged(since=max(0, last - 1), timeout_s=180)
    eventually(lambda: is_whole(deployment.lab), "a whole cluster", timeout_s=120)
    return deployment


@pytest.fixture
def own_operator(lab: Lab, images: dict[str, str], tmp_path: Path) -> Iterator[RunningOperator]:
    """A bare swarm, and an operator that is not started yet, with the usual manifest."""
    lab.reset()
    operator = RunningOperator(lab, tmp_path)
    operator.write(manifest(lab))
    yield operator
    if operator.is_running():
        operator.stop()
