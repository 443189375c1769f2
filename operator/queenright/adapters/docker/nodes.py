"""The engine that is asked, and the swarm's nodes by name."""

from __future__ import annotations

from typing import Any

from queenright.core.actions import LabelNode
from queenright.core.observed import Engine, Node
from queenright.ports.swarm import ConflictError

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


def relabelled_spec(raw: Json, action: LabelNode) -> Json:
    """Return the node's present spec with the action's labels. ConflictError: one of these has
    another value than the one that was observed."""
    spec = dict(raw.get("Spec") or {})
    present: dict[str, str | None] = {**(spec.get("Labels") or {})}
    for key, value in action.before.items():
        if present.get(key) != value:
            raise ConflictError(f"{action.node}: label {key} has changed since it was observed")
    merged = {**present, **action.labels}
    spec["Labels"] = {key: value for key, value in merged.items() if value is not None}
    return spec
