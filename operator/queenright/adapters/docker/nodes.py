"""The engine that is asked, and changes of a node's labels."""

from __future__ import annotations

from typing import Any

from queenright.core.actions import LabelNode
from queenright.core.observed import Engine
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
