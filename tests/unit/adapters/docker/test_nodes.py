"""A node's labels are written on what the node is then, as often as another writer comes first."""

from __future__ import annotations

from typing import Any

import pytest

from queenright.adapters.docker.swarm import LABEL_TRIES, DockerSwarm
from queenright.core.actions import LabelNode
from queenright.ports.swarm import ConflictError
from tests.support.http_server import Answer, answering

Json = dict[str, Any]
LABEL = LabelNode("node2", "n2", {"shop-node": None}, {"shop-node": "1"}, reason="a test")
LATE: Answer = (500, {"message": "rpc error: code = Unknown desc = update out of sequence"})


class BusyNode:
    """A node on which somebody else writes before each of the first ``times`` updates."""

    def __init__(self, times: int = 0, labels: Json | None = None) -> None:
        self.times, self.version = times, 7
        self.labels: Json = {"rack": "a", **(labels or {})}
        self.updates: list[str] = []

    def answer(self, method: str, path: str) -> Answer:
        if method == "GET":
            spec = {"Labels": self.labels, "Availability": "active", "Role": "worker"}
            return 200, {"ID": "n2", "Version": {"Index": self.version}, "Spec": spec}
        self.updates.append(path)
        if len(self.updates) <= self.times:
            self.version += 1
            return LATE
        return 200, {}


async def label(node: BusyNode) -> list[str]:
    """Set the label; return the queries of all requests."""
    with answering(node.answer) as there:
        swarm = DockerSwarm(there.environment, 5)
        try:
            await swarm.label_node(LABEL)
        finally:
            await swarm.aclose()
    return there.queries


async def test_a_write_that_comes_second_is_made_again_on_the_new_version() -> None:
    node = BusyNode(times=2)
    queries = await label(node)
    versions = [query for query in queries if query]
    assert versions == ["version=7", "version=8", "version=9"]


async def test_the_tries_have_an_end() -> None:
    node = BusyNode(times=100)
    with pytest.raises(ConflictError):
        await label(node)
    assert len(node.updates) == LABEL_TRIES


async def test_a_label_that_another_has_changed_is_left() -> None:
    node = BusyNode(labels={"shop-node": "2"})
    with pytest.raises(ConflictError, match="shop-node"):
        await label(node)
    assert not node.updates
