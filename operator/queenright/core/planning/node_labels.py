"""Change a node's labels. Shared by the kinds; the callers decide which, and when it is safe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from queenright.core.actions import FieldChange, LabelNode
from queenright.core.observed import Node, SwarmState
from queenright.core.swarm.diff import ABSENT
from queenright.core.swarm.objects import NodeLabels


def names_without_node(
    wanted: Iterable[NodeLabels], swarm: SwarmState, node: Node, key: str
) -> Iterator[str]:
    """Yield the names that are to have the value which the node has of a label, and that no node
    has: this one may be one of these, under another name."""
    present = node.labels.get(key)
    for item in wanted:
        is_alike = present is not None and item.labels.get(key) == present
        if is_alike and swarm.node(item.node) is None:
            yield item.node


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
