"""Contract of ``LeaseStore``: the fake and the real one."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from operator import methodcaller

import pytest

from queenright.adapters.docker.client import DockerClient
from queenright.adapters.docker.lease import DockerLease
from queenright.core.planning.lease import Lease
from queenright.ports.errors import ConflictError, UnavailableError
from queenright.ports.lease import LeaseStore
from tests.fakes.fake_lease import FakeLease
from tests.fakes.files import FakeClock
from tests.fakes.swarm_store import SwarmStore

MINE = Lease("p1", "node1", "k", "1.2:3:4", "8:1", "chain/7/hash", "3")
OTHER = Lease("p2", "node2")


@dataclass
class Managers:
    """Two operators' ways to one swarm, and one that leads nowhere."""

    first: LeaseStore
    second: LeaseStore
    cut_off: LeaseStore


@pytest.fixture(params=["fake", pytest.param("docker", marks=pytest.mark.lab)])
async def managers(request: pytest.FixtureRequest, name: str) -> AsyncIterator[Managers]:
    if request.param == "fake":
        store, rng = SwarmStore(now=FakeClock().now), random.Random(0)
        ways = [FakeLease(store, rng, name) for _ in range(3)]
        ways[2].is_cut_off = True
        yield Managers(*ways)
        return
    environment = request.getfixturevalue("lab").manager.client_environment()
    nowhere = {"DOCKER_HOST": "tcp://127.0.0.1:9"}
    real = [DockerLease(way, 10, name) for way in (environment, environment, nowhere)]
    try:
        yield Managers(*real)
    finally:
        client = DockerClient(environment, 10)
        if (left := await real[0].read()) is not None:
            client.call(methodcaller("remove_config", left.config_id))
        client.close()
        for store_ in real:
            await store_.aclose()


async def test_no_lease_then_the_one_that_was_made(managers: Managers) -> None:
    assert await managers.first.read() is None
    await managers.first.create(MINE)
    seen = await managers.second.read()
    assert seen is not None
    assert seen.lease == MINE


async def test_only_one_creates_it(managers: Managers) -> None:
    await managers.first.create(MINE)
    with pytest.raises(ConflictError):
        await managers.second.create(OTHER)


async def test_of_two_writers_one_is_refused(managers: Managers) -> None:
    await managers.first.create(MINE)
    seen = await managers.second.read()
    assert seen is not None
    await managers.first.replace(seen, MINE)
    with pytest.raises(ConflictError):
        await managers.second.replace(seen, OTHER)
    now = await managers.second.read()
    assert now is not None
    assert now.lease == MINE
    assert now.write != seen.write  # a renewal with the same content is a new version


async def test_an_empty_lease_is_read_back(managers: Managers) -> None:
    await managers.first.create(MINE)
    seen = await managers.first.read()
    assert seen is not None
    await managers.first.replace(seen, Lease(host="node1", term="3"))
    now = await managers.second.read()
    assert now is not None
    assert now.lease == Lease(host="node1", term="3")


async def test_a_silent_manager_is_no_absent_lease(managers: Managers) -> None:
    with pytest.raises(UnavailableError):
        await managers.cut_off.read()


async def test_the_lab_s_only_manager_leads_raft(managers: Managers) -> None:
    if isinstance(managers.first, FakeLease):
        managers.first.leads = True
    assert await managers.first.leads_raft()
    with pytest.raises(UnavailableError):
        await managers.cut_off.leads_raft()
