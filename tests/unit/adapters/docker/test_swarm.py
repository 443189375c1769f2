"""Lists with odd objects in them, and networks that are only an engine's own."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.observed import SwarmState
from queenright.core.swarm.objects import CLUSTER_LABEL, Attachment
from queenright.ports.swarm import UnavailableError
from tests.support.http_server import Answer, answering

Json = dict[str, Any]
OURS = {CLUSTER_LABEL: "main"}


def named(name: str, labels: Json | None = None, **more: Any) -> Json:
    spec = {"Name": name, "Labels": labels or {}, **more}
    return {"ID": f"id-{name}", "Version": {"Index": 7}, "Spec": spec}


def network(name: str, number: str, **more: Any) -> Json:
    return {"Name": name, "Id": number, "Driver": "overlay", "Scope": "swarm", **more}


def service(name: str, labels: Json | None = None) -> Json:
    template = {"ContainerSpec": {"Image": "x"}, "Networks": [{"Target": "overlay-1"}]}
    return named(name, labels, TaskTemplate=template, Mode={"Replicated": {"Replicas": 1}})


WELL: dict[str, list[Any]] = {
    "nodes": [{"ID": "n1", "Version": {"Index": 1}, "Description": {"Hostname": "node1"}}],
    "services": [service("ours", OURS), service("theirs")],
    "tasks": [
        {"ID": "t1", "ServiceID": "id-ours", "Status": {"Timestamp": "2026-01-02T03:04:05Z"}},
        {"ID": "t2", "ServiceID": "id-theirs"},
    ],
    "networks": [network("net", "overlay-1", Labels=OURS)],
    "secrets": [named("secret", OURS)],
    "configs": [named("config", OURS), named("their-config")],
}


class Looks:
    """An engine with the lists of ``WELL``, to be spoilt."""

    def __init__(self) -> None:
        self.lists = copy.deepcopy(WELL)

    def answer(self, method: str, path: str) -> Answer:
        kind = path.rpartition("/")[2]
        info = {"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}}
        return 200, self.lists.get(kind, info if kind == "info" else {})

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[DockerSwarm]:
        with answering(self.answer) as there:
            swarm = DockerSwarm(there.environment, 5)
            try:
                yield swarm
            finally:
                await swarm.aclose()

    async def look(self) -> SwarmState:
        async with self.reader() as swarm:
            return await swarm.observe()


ODD: list[tuple[str, object]] = [
    ("services", "x"),
    ("services", {"ID": "odd"}),
    ("services", named("odd", TaskTemplate="x")),
    ("services", named("odd", TaskTemplate={"ContainerSpec": {"Env": 5}})),
    ("services", named("odd", TaskTemplate={"ContainerSpec": {"Mounts": [{}]}})),
    ("tasks", {"ServiceID": "id-theirs"}),
    ("tasks", {"ID": "odd", "ServiceID": "id-theirs", "Status": {"Timestamp": "yesterday"}}),
    ("tasks", {"ID": "odd", "Status": "x"}),
    ("configs", named("odd", Data="ä")),
    ("configs", None),
    ("secrets", {"ID": "odd", "Spec": {}}),
    ("networks", {"Id": "odd", "Driver": "overlay", "Scope": "swarm"}),
]


@pytest.mark.parametrize(("kind", "odd"), ODD)
async def test_what_others_own_is_passed_over_and_told_once(kind: str, odd: object) -> None:
    looks = Looks()
    async with looks.reader() as swarm:
        well = await swarm.observe()
        looks.lists[kind].insert(0, odd)
        with capture_logs() as told:
            assert [await swarm.observe() for _ in range(2)] == [well, well]
    assert [line["log_level"] for line in told] == ["warning"]
    assert kind.rstrip("s") in told[0]["object"]


@pytest.mark.parametrize(
    ("kind", "odd"),
    [
        ("services", named("odd", OURS, TaskTemplate="x")),
        ("configs", named("odd", OURS, Data="ä")),
        ("secrets", {"ID": "odd", "Spec": {"Labels": OURS}}),
        ("networks", network("odd", "odd", Labels=OURS, IPAM="x")),
    ],
)
async def test_what_is_ours_and_can_not_be_read_is_told_with_its_owner(
    kind: str, odd: object
) -> None:
    """Nothing is planned for its owner, and every other document goes on."""
    looks = Looks()
    looks.lists[kind].append(odd)
    state = await looks.look()
    (found,) = state.unreadable
    assert {found.label: found.owner} == OURS
    assert "odd can't be read" in found.why


@pytest.mark.parametrize(
    ("kind", "odd"),
    [
        ("tasks", {"ID": "odd", "ServiceID": "id-ours", "Status": "x"}),
        ("nodes", {"ID": "odd"}),
    ],
)
async def test_what_is_ours_is_never_passed_over(kind: str, odd: object) -> None:
    looks = Looks()
    looks.lists[kind].append(odd)
    with pytest.raises(UnavailableError, match="odd can't be read"):
        await looks.look()


@pytest.mark.parametrize(
    "other",
    [
        network("net", "bridge-1", Driver="bridge", Scope="local"),
        network("net", "local-1", Scope="local"),
        network("net", "macvlan-1", Driver="macvlan"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
async def test_an_engines_own_network_does_not_stand_for_the_swarms(
    other: Json, place: int
) -> None:
    looks = Looks()
    looks.lists["networks"].insert(place, other)
    with answering(looks.answer) as there:
        swarm = DockerSwarm(there.environment, 5)
        state = await swarm.observe()
        assert [live.id for live in state.networks] == ["overlay-1"]
        ours = state.service("ours")
        assert ours is not None
        assert ours.value.networks == (Attachment("net"),)
        written = swarm._encode(ours.value, 0)["TaskTemplate"]["Networks"]
        assert [item["Target"] for item in written] == ["overlay-1"]
        await swarm.aclose()
