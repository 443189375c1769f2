"""Change a node's labels. Shared by the kinds; the callers decide which, and when it is safe."""

from __future__ import annotations

from collections.abc import Mapping

from queenright.core.actions import FieldChange, LabelNode
from queenright.core.observed import Node
from queenright.core.swarm.diff import ABSENT


def relabelled_node(
    node: Node, labels: Mapping[str, str | None], reason: str, disrupts: str = ""
) -> LabelNode:
    """Return the action that gives a node these labels beside its others; None removes one."""
    before = {key: node.labels.get(key) for key in labels}
    changes = tuple(
        FieldChange(f"labels[{key}]", before[key] or ABSENT, value or ABSENT)
        for key, value in sorted(labels.items())
    )
    return LabelNode(
        node.name, node.id, before, labels, reason=reason, changes=changes, disrupts=disrupts
    )
