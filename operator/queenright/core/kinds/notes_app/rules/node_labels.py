"""Rule for the node labels that place the replicas and the edge.

Invariant: a label is removed from a node only when no service of ours is placed by it any more, or
while every replica serves: removing it stops the task that it placed. It stays while the swarm has
no node of a name for which the file wants that label: it may be this one, renamed. One that another
document uses by now is that document's.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.observed import LiveService, Node
from queenright.core.planning.node_labels import names_without_node, relabelled_node
from queenright.core.planning.plan import Hold


def plan_nodes(state: AppState) -> Iterator[AnyAction | Hold]:
    wanted = {item.node: item.labels for item in state.desired.node_labels}
    for node in state.swarm.index.nodes_about(wanted, state.label_keys):
        labels = wanted.get(node.name, {})
        missing = {key: value for key, value in labels.items() if node.labels.get(key) != value}
        if missing:
            why = f"the file places tasks on {node.name} by these labels"
            yield relabelled_node(node, missing, why)
        for key in sorted(state.label_keys & node.labels.keys() - labels.keys()):
            if (node.name, key) in state.claimed:
                continue
            names = names_without_node(state.desired.node_labels, state.swarm, node, key)
            if lost := next(names, None):
                yield renamed_node_hold(node, key, lost)
            else:
                yield from take_away(state, node, key)


def renamed_node_hold(node: Node, key: str, lost: str) -> Hold:
    return Hold(
        f"label-node/{node.name}",
        f"node {node.name}: label {key} stays (the file places tasks by it on {lost}, and no node "
        f"has that name); if {lost} is called {node.name} now, write {node.name} where the file "
        f"says {lost}",
        wants_attention=True,
    )


def take_away(state: AppState, node: Node, key: str) -> Iterator[AnyAction | Hold]:
    name = f"label-node/{node.name}"
    if key not in state.noted_label_keys:
        yield Hold(
            name,
            f"node {node.name}: already has the label {key}={node.labels[key]}, which the operator "
            f"did not set; remove it (docker node update --label-rm {key} {node.name}), or write "
            "another key",
            wants_attention=True,
        )
        return
    placed = placed_by(state, node, key)
    why = f"the file does not name {node.name}"
    if placed is None:
        yield relabelled_node(node, {key: None}, why)
    elif key not in state.desired_label_keys:
        yield Hold(
            name, f"node {node.name}: label {key} stays (it still places {placed.value.name})"
        )
    elif obstacle := state.why_not_whole():
        yield Hold(
            name,
            f"node {node.name}: label {key} stays (it places {placed.value.name}, and {obstacle})",
        )
    else:
        yield relabelled_node(node, {key: None}, why, placed.value.name)


def placed_by(state: AppState, node: Node, key: str) -> LiveService | None:
    """The service whose task the node's label holds there."""
    constraint = f"node.labels.{key}=={node.labels[key]}"
    for live in state.services:
        tasks = state.swarm.possible_tasks(live.id)
        if constraint in live.value.constraints and any(t.node_id == node.id for t in tasks):
            return live
    return None
