"""Of several nodes of one hostname the ready one is meant, else the newest; none is lost."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from queenright.core.observed import Node
from queenright.core.observed.node_names import by_name


def node(node_id: str, state: Any = "ready", version: int = 1, name: str = "node4") -> Node:
    return Node(node_id, name, "10.77.0.14", state=state, version=version)


@pytest.mark.parametrize(
    ("nodes", "meant"),
    [
        ([node("a", "down", 9), node("b", "ready", 5)], "b"),
        ([node("a", "down", 4), node("b", "down", 9), node("c", "unknown", 5)], "b"),
        ([node("a", "ready", 4), node("b", "ready", 9), node("c", "down", 12)], "b"),
    ],
)
def test_the_ready_one_is_meant_or_else_the_newest(nodes: list[Node], meant: str) -> None:
    for order in permutations([*nodes, node("x", name="node5")]):
        present, former = by_name(order)
        assert [found.id for found in present] == [meant, "x"]
        assert {found.id for found in former} == {n.id for n in nodes} - {meant}
