"""Node labels that place the replicas and the edge.

Invariant: a label is taken from a node only when no service of ours asks for it any more, or while
every replica serves: taking it stops the task that it placed. One that another document places by
by now is that document's.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, FieldChange, LabelNode
from queenright.core.app.situation import AppSituation
from queenright.core.diff import ABSENT
from queenright.core.observed import LiveService, Node
from queenright.core.plan import Hold


def plan_nodes(situation: AppSituation) -> Iterator[Action | Hold]:
    wanted = {item.node: item.labels for item in situation.desired.node_labels}
    for node in situation.swarm.nodes:
        labels = wanted.get(node.name, {})
        missing = {key: value for key, value in labels.items() if node.labels.get(key) != value}
        if missing:
            yield label(node, missing, f"the file places tasks on {node.name} by these labels")
        for key in sorted(situation.label_keys & node.labels.keys() - labels.keys()):
            if (node.name, key) not in situation.claimed:
                yield from take_away(situation, node, key)


def take_away(situation: AppSituation, node: Node, key: str) -> Iterator[Action | Hold]:
    name = f"label-node/{node.name}"
    if key not in situation.noted_label_keys:
        yield Hold(
            name,
            f"node {node.name} already has the label {key}={node.labels[key]}: remove it (docker "
            f"node update --label-rm {key} {node.name}), or write another key",
            wants_attention=True,
        )
        return
    placed = placed_by(situation, node, key)
    why = f"the file does not name {node.name}"
    if placed is None:
        yield label(node, {key: None}, why)
    elif key not in situation.desired_label_keys:
        yield Hold(name, f"{placed.value.name} is still placed by the label {key}")
    elif obstacle := situation.why_not_whole():
        yield Hold(name, f"{placed.value.name} runs on {node.name} by the label {key}: {obstacle}")
    else:
        yield label(node, {key: None}, why, placed.value.name)


def placed_by(situation: AppSituation, node: Node, key: str) -> LiveService | None:
    """The service whose task the node's label holds there."""
    constraint = f"node.labels.{key}=={node.labels[key]}"
    for live in situation.services:
        tasks = situation.swarm.possible_tasks(live.id)
        if constraint in live.value.constraints and any(t.node_id == node.id for t in tasks):
            return live
    return None


def label(node: Node, labels: dict[str, str | None], why: str, disturbs: str = "") -> LabelNode:
    return LabelNode(
        node.name,
        node.id,
        node.version,
        labels,
        reason=why,
        changes=tuple(
            FieldChange(f"labels[{key}]", node.labels.get(key, ABSENT), value or ABSENT)
            for key, value in sorted(labels.items())
        ),
        disturbs=disturbs,
    )
