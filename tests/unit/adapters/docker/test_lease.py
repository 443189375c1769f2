"""The lease among the swarm's other objects: read, left out of looks, and asked before a write."""

from __future__ import annotations

from typing import Any

import pytest

from queenright.adapters.docker.events import FILTERS, docker_events
from queenright.adapters.docker.lease import DockerLease
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.planning.lease import LEASE_CONFIG, Lease, labels_of
from queenright.core.swarm.objects import Config
from queenright.ports.errors import UnavailableError
from tests.support.http_server import Answer, answering

Json = dict[str, Any]
HELD = Lease("p", "node2", term="4")
OBJECT: Json = {
    "ID": "id",
    "Version": {"Index": 9},
    "UpdatedAt": "2026-01-31T12:00:05.123456789Z",
    "Spec": {"Name": LEASE_CONFIG, "Labels": labels_of(HELD)},
}
OTHER: Json = {"ID": "x", "Version": {"Index": 2}, "Spec": {"Name": f"{LEASE_CONFIG}_2"}}


class Engine:
    """An engine with some configs, and its requests but for those of reading."""

    def __init__(self, *configs: Json) -> None:
        self.configs = list(configs)
        self.written: list[str] = []

    def answer(self, method: str, path: str) -> Answer:
        kind = path.partition("?")[0].rpartition("/")[2]
        if method != "GET":
            self.written.append(f"{method} {kind}")
            return 201, {"ID": "made"}
        info = {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}}
        return 200, {"configs": self.configs, "info": info, "version": {}}.get(kind, [])


async def test_the_lease_is_read_by_its_whole_name() -> None:
    with answering(Engine(OTHER, OBJECT).answer) as there:
        store = DockerLease(there.environment, 5)
        seen = await store.read()
        await store.aclose()
    assert seen is not None
    assert (seen.lease, seen.write) == (HELD, ("id", 9))
    assert seen.written_at.startswith("2026-01-31T12:00:05")


async def test_another_config_with_a_longer_name_is_no_lease() -> None:
    with answering(Engine(OTHER).answer) as there:
        store = DockerLease(there.environment, 5)
        assert await store.read() is None
        await store.aclose()


@pytest.mark.parametrize("odd", [{}, {"Spec": {}}, {"Spec": {"Name": LEASE_CONFIG}}])
async def test_what_cannot_be_read_is_no_absent_lease(odd: Json) -> None:
    with answering(Engine(odd).answer) as there:
        store = DockerLease(there.environment, 5)
        with pytest.raises(UnavailableError):
            await store.read()
        await store.aclose()


async def test_a_look_at_the_swarm_leaves_the_lease_out() -> None:
    with answering(Engine(OTHER, OBJECT).answer) as there:
        swarm = DockerSwarm(there.environment, 5)
        state = await swarm.observe()
        await swarm.aclose()
    assert [live.value.name for live in state.configs] == [f"{LEASE_CONFIG}_2"]


@pytest.mark.parametrize("may_write", [True, False])
async def test_a_write_without_the_lease_is_not_sent(*, may_write: bool) -> None:
    engine = Engine()
    with answering(engine.answer) as there:
        swarm = DockerSwarm(there.environment, 5, lambda: may_write)
        await swarm.observe()
        if may_write:
            await swarm.create_config(Config("one", b"text"))
            await swarm.label_config("id", 1, Config("one", b"text"))
        else:
            with pytest.raises(UnavailableError, match="not sent"):
                await swarm.create_config(Config("one", b"text"))
            with pytest.raises(UnavailableError, match="not sent"):
                await swarm.label_config("id", 1, Config("one", b"text"))
            with pytest.raises(UnavailableError, match="not sent"):
                await swarm.remove_service("id")
        await swarm.aclose()
    assert bool(engine.written) is may_write


class Events:
    """The SDK's client, as far as events need it."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def events(self, *, decode: bool, filters: Json) -> list[Json]:
        assert decode
        assert filters == FILTERS
        return [{"Type": "config", "Actor": {"Attributes": {"name": n}}} for n in self.names]

    def close(self) -> None:
        pass


async def test_its_renewals_wake_nobody() -> None:
    client = Events("one", LEASE_CONFIG, "two")
    texts = [text async for text in docker_events(client)]
    assert [text.split()[1] for text in texts] == ["one", "two"]


@pytest.mark.parametrize(
    ("status", "leads"),
    [
        ({"Leader": True, "Reachability": "reachable"}, True),
        ({"Reachability": "x"}, False),
        (None, False),
    ],
)
async def test_the_node_s_own_entry_says_if_it_leads_raft(
    status: Json | None, *, leads: bool
) -> None:
    def answer(_: str, path: str) -> Answer:
        if path.endswith("/info"):
            return 200, {"Swarm": {"NodeID": "own"}}
        assert path.endswith(("/nodes/own", "/version"))
        return 200, {"ID": "own", "ManagerStatus": status}

    with answering(answer) as there:
        store = DockerLease(there.environment, 5)
        assert await store.leads_raft() is leads
        await store.aclose()
