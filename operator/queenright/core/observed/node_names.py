"""Nodes of one hostname: swarm lists a node that left and joined again twice, under two ids.

Invariant: every node of the list is in one of the two results, so that a task's node is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from queenright.core.observed.swarm_objects import Node


def by_name(nodes: Iterable[Node]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the node that each name means (the ready one, or else the newest), and the others."""
    chosen: dict[str, Node] = {}
    former: list[Node] = []
    for node in nodes:
        present = chosen.setdefault(node.name, node)
        if present is not node:
            chosen[node.name] = max(present, node, key=rank)
            former.append(min(node, present, key=rank))
    in_order = attrgetter("name", "id")
    return tuple(sorted(chosen.values(), key=in_order)), tuple(sorted(former, key=in_order))


def rank(node: Node) -> tuple[bool, int]:
    return node.state == "ready", node.version
