"""Rule for node labels: they place the tasks, so moving a label moves a database.

Invariant: a label is removed from a node only when no leader, and no member that does not answer,
runs there by it (removing a label stops the task that it placed), and a proxy's only when every
proxy node of the file is in the swarm: a name that is not may be this node's, misspelt. A member's
stays while the node is not in the swarm that is noted for the member: it may be this one, renamed.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Node
from queenright.core.planning.former_nodes import former_node_holds
from queenright.core.planning.node_labels import names_without_node, relabelled_node
from queenright.core.planning.plan import Hold


def plan_nodes(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired = state.desired
    owned = (desired.member_label, desired.proxy_label)
    wanted = {item.node: item.labels for item in desired.node_labels}
    unsure = any(state.swarm.node(name) is None for name in desired.proxy_nodes)
    yield from former_node_holds(state.swarm, wanted)
    for node in state.swarm.index.nodes_about(wanted, owned):
        labels = wanted.get(node.name, {})
        lost = member_without_node(state, node)
        different = {
            key: labels.get(key)
            for key in owned
            if node.labels.get(key) != labels.get(key)
            and not (unsure and key == desired.proxy_label and key not in labels)
            and not (lost is not None and key == desired.member_label)
        }
        if lost is not None and lost.name not in desired.topology.leaving:
            yield renamed_node_hold(state, node, lost)
        if not different:
            continue
        placed = member_placed_by(state, node) if desired.member_label in different else None
        if placed and (obstacle := state.why_not_disrupt(placed)):
            yield Hold(
                f"label-node/{node.name}",
                f"node {node.name}: label {desired.member_label}="
                f"{node.labels[desired.member_label]} stays for now (it places {placed.name}, and "
                f"{obstacle}); to change it anyway: "
                f"{by_hand(node.name, desired.member_label, different[desired.member_label])}",
                wants_attention=True,
            )
            continue
        loses_proxy = desired.proxy_label in different and different[desired.proxy_label] is None
        yield relabelled_node(
            node,
            different,
            f"the file places tasks on {node.name} by these labels"
            if labels
            else f"the file does not name {node.name}",
            disrupts=placed.service.name
            if placed
            else desired.proxy.name
            if loses_proxy and state.swarm.service(desired.proxy.name)
            else "",
        )


def by_hand(node: str, key: str, value: str | None) -> str:
    change = f"--label-rm {key}" if value is None else f"--label-add {key}={value}"
    return f"docker node update {change} {node}"


def member_placed_by(state: ClusterState, node: Node) -> DesiredMember | None:
    """The member whose running task the node's present label holds there."""
    label = state.desired.member_label
    constraint = f"node.labels.{label}=={node.labels.get(label)}"
    for member in state.desired.members:
        live = state.swarm.service(member.service.name)
        if live is None or constraint not in live.value.constraints:
            continue
        if any(task.node_id == node.id for task in state.swarm.possible_tasks(live.id)):
            return member
    return None


def member_without_node(state: ClusterState, node: Node) -> DesiredMember | None:
    """Return the member that a node's label places, if no node has the name that is noted for it:
    this may be its node, under another name."""
    desired = state.desired
    names = [*names_without_node(desired.node_labels, state.swarm, node, desired.member_label)]
    return next((member for member in desired.members if member.node in names), None)


def renamed_node_hold(state: ClusterState, node: Node, member: DesiredMember) -> Hold:
    """Return the hold for a member's label that stays on a node which the file does not name."""
    label = f"{state.desired.member_label}={node.labels[state.desired.member_label]}"
    if node.address == member.address:
        reason = (
            f"node {node.name}: {member.node} is called {node.name} now (no node has the former "
            f"name, and this one has the label {label} and the address {node.address} of "
            f"{member.name}); write node: {node.name} in its line, and wherever else the file says "
            f"{member.node}"
        )
    else:
        reason = (
            f"node {node.name}: label {label} stays (it places {member.name}, and the swarm has no "
            f"node {member.node}); if {node.name} is that node, write node: {node.name} and "
            f"address: {member.address} in the line of {member.name}"
        )
    return Hold(f"label-node/{node.name}", reason, wants_attention=True)
