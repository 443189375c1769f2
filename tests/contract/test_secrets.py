"""Contract of ``Secrets``: the fake and the real one, and what the real one leaves behind."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from queenright.adapters.docker.client import DockerClient
from queenright.adapters.docker.secret_reader import FILTER
from queenright.adapters.docker.secrets import DockerSecrets
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.kinds.postgres_cluster.deletion import owned_clusters
from queenright.ports.errors import RejectedError, UnavailableError
from tests.contract.deployed import SECRET, Deployed, Stage
from tests.e2e.swarm_facts import read_secret
from tests.lab.lab import Lab

SECRETS = (SECRET, "pg_superuser_pw", "pg_replication_pw")


def test_each_secret_has_one_value_of_its_own(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        first = [await deployed.secrets.read(name) for name in SECRETS]
        again = [await deployed.secrets.read(name) for name in SECRETS]
        assert first == again
        assert len({password.value for password in first}) == len(SECRETS)
        assert all(p.value and p.value == p.value.strip() for p in first)

    stage(context)


def test_a_secret_that_is_not_there_is_rejected(stage: Stage) -> None:
    async def context(deployed: Deployed) -> None:
        with pytest.raises(RejectedError, match="pg_nothing_pw"):
            await deployed.secrets.read("pg_nothing_pw")

    stage(context)


@pytest.fixture
def client(deployed_lab: Lab) -> DockerClient:
    return DockerClient(deployed_lab.manager.client_environment(), 10)


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    return tmp_path


def readers(client: DockerClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call(lambda sdk: sdk.services(filters=FILTER))
    return found


@pytest.mark.lab
async def test_the_value_is_the_members_and_nothing_of_it_is_left(
    deployed_lab: Lab, client: DockerClient, nowhere: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = DockerSecrets(deployed_lab.manager.client_environment(), 10, nowhere)
    with capture_logs() as told:
        found = await secrets.read(SECRET)
    await secrets.aclose()
    assert found.value == read_secret(deployed_lab, SECRET).strip()
    assert readers(client) == []
    assert found.value not in caplog.text
    assert found.value not in repr(told)


@pytest.mark.lab
async def test_a_second_read_asks_the_swarm_for_no_service(
    deployed_lab: Lab, nowhere: Path
) -> None:
    secrets = DockerSecrets(deployed_lab.manager.client_environment(), 10, nowhere)
    first = await secrets.read(SECRET)
    began = anyio.current_time()
    assert await secrets.read(SECRET) == first
    assert anyio.current_time() - began < 0.5
    await secrets.aclose()


@pytest.mark.lab
async def test_while_it_runs_no_cluster_owns_the_reader(deployed_lab: Lab, nowhere: Path) -> None:
    """Given up in the middle, it is removed; and no rule ever sees it as a cluster's."""
    environment = deployed_lab.manager.client_environment()
    secrets, swarm = DockerSecrets(environment, 10, nowhere), DockerSwarm(environment, 10)
    reading = asyncio.create_task(secrets.read(SECRET))
    seen: set[str] = set()
    with anyio.fail_after(10):
        while not seen:
            state = await swarm.observe()
            seen = {s.value.name for s in state.services if "secret-reader" in s.value.name}
    assert owned_clusters(state) == {"main"}
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    state = await swarm.observe()
    assert not any("secret-reader" in live.value.name for live in state.services)
    await secrets.aclose()
    await swarm.aclose()


@pytest.mark.lab
async def test_on_a_drained_node_it_says_what_to_do(
    deployed_lab: Lab, client: DockerClient, nowhere: Path
) -> None:
    manager = deployed_lab.manager.name
    secrets = DockerSecrets(deployed_lab.manager.client_environment(), 10, nowhere, start_s=2)
    deployed_lab.manager.docker("node", "update", "--availability", "drain", manager)
    try:
        with pytest.raises(UnavailableError, match="mount the secret into") as refused:
            await secrets.read(SECRET)
    finally:
        deployed_lab.manager.docker("node", "update", "--availability", "active", manager)
        await secrets.aclose()
    assert "no suitable node" in str(refused.value)
    assert readers(client) == []
