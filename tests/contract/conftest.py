"""The two worlds that one contract is kept by: the fake always, the real one on the lab."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Iterator
from operator import methodcaller
from pathlib import Path

import pytest

from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.swarm.objects import CLUSTER_LABEL
from queenright.ports.swarm import Swarm
from tests.contract.backup_places import passable, store_with_tls
from tests.contract.by_hand import DockerHand, FakeHand, Hand
from tests.contract.deployed import Stage, on_the_lab, on_the_model
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import eventually, is_whole, manifest
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.files import FakeClock
from tests.fakes.swarm_store import SwarmStore
from tests.lab.lab import Lab
from tests.lab.product_images import publish
from tests.support.object_store import ObjectStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    """An S3 server with a certificate of its own authority, for a module's tests."""
    with store_with_tls(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory of the test's own that PostgreSQL's user may pass."""
    with passable("contract-") as found:
        yield found


@pytest.fixture(params=["fake", pytest.param("docker", marks=pytest.mark.lab)])
async def swarm(request: pytest.FixtureRequest, name: str) -> AsyncIterator[Swarm]:
    """A manager; what a test made under its own name is removed afterwards."""
    if request.param == "fake":
        store = SwarmStore(now=FakeClock().now)
        store.add_node("node1", "10.77.0.11", "manager")
        yield FakeSwarm(store, random.Random(0), images={"known:1": f"sha256:{'a' * 64}"})
        return
    lab = request.getfixturevalue("lab")
    real = DockerSwarm(lab.manager.client_environment(), timeout_s=10)
    try:
        yield real
    finally:
        state = await real.observe()
        for service in state.services:
            if service.value.name.startswith(name):
                await real.remove_service(service.id)
        for secret in state.secrets:
            if secret.value.name.startswith(name):
                real._client.call(methodcaller("remove_secret", secret.id))
        for config in state.configs:
            if config.value.name.startswith(name):
                await real.remove_config(config.id)
        for network in state.networks:
            if network.value.name.startswith(name):
                await real.remove_network(network.id)
        await real.aclose()


@pytest.fixture
async def hand(swarm: Swarm, request: pytest.FixtureRequest) -> Hand:
    if isinstance(swarm, DockerSwarm):
        return DockerHand(swarm, request.getfixturevalue("lab").registry)
    assert isinstance(swarm, FakeSwarm)
    return FakeHand(swarm)


@pytest.fixture(scope="session")
def deployed_lab(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The lab with the usual cluster on it, deployed anew, and no operator any more."""
    publish(lab.registry, ["member", "proxy"], lab.settings)
    lab.reset()
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"))
    operator.write(manifest(lab))
    with operator:
        operator.wait_converged()
        eventually(lambda: is_whole(lab), "a whole cluster", timeout_s=60)
    return lab


@pytest.fixture(params=["fake", pytest.param("lab", marks=pytest.mark.lab)])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    if request.param == "fake":
        return on_the_model
    return on_the_lab(request.getfixturevalue("deployed_lab"), tmp_path)


@pytest.fixture
def name() -> str:
    """A prefix of this test's own, so that the lab may be in use."""
    return f"contract-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def labels(name: str) -> dict[str, str]:
    return {CLUSTER_LABEL: name}
