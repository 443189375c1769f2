"""The engine that is asked, and the swarm's nodes by name."""

from __future__ import annotations

from typing import Any

from queenright.core.observed import Engine, Node

Json = dict[str, Any]


def decode_engine(info: Json) -> Engine:
    swarm = info.get("Swarm") or {}
    return Engine(
        node_id=swarm.get("NodeID", ""),
        swarm_state=swarm.get("LocalNodeState", "inactive"),
        is_manager=bool(swarm.get("ControlAvailable")),
        error=swarm.get("Error", ""),
    )


def one_node_a_name(nodes: Any) -> tuple[Node, ...]:
    """Return one node per name: swarm keeps a node that left and came back twice under one
    hostname; the ready one, or else the newest, counts."""
    chosen: dict[str, Node] = {}
    for node in nodes:
        present = chosen.get(node.name)
        if present is None or (node.state == "ready", node.version) > (
            present.state == "ready",
            present.version,
        ):
            chosen[node.name] = node
    return tuple(sorted(chosen.values(), key=lambda node: node.name))
