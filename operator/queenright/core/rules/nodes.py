"""Node labels: they place the tasks, so moving a label is moving a database.

Invariant: a label is taken from a node only when no leader, and no member that does not answer,
runs there by it (removing a label kills the task that it placed), and a proxy's only when every
proxy node of the file is in the swarm: a name that is not may be this node's, misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, FieldChange, LabelNode
from queenright.core.desired import DesiredMember
from queenright.core.diff import ABSENT
from queenright.core.observed import Node
from queenright.core.plan import Hold
from queenright.core.situation import Situation


def plan_nodes(situation: Situation) -> Iterator[Action | Hold]:
    desired = situation.desired
    owned = (desired.member_label, desired.proxy_label)
    wanted = {item.node: item.labels for item in desired.node_labels}
    unsure = any(situation.swarm.node(name) is None for name in desired.proxy_nodes)
    for node in situation.swarm.nodes:
        labels = wanted.get(node.name, {})
        different = {
            key: labels.get(key)
            for key in owned
            if node.labels.get(key) != labels.get(key)
            and not (unsure and key == desired.proxy_label and key not in labels)
        }
        if not different:
            continue
        placed = member_placed_by(situation, node) if desired.member_label in different else None
        if placed and (obstacle := situation.why_not_disturb(placed)):
            yield Hold(
                f"label-node/{node.name}",
                f"{node.name} should not have {desired.member_label}="
                f"{node.labels[desired.member_label]}, but {placed.name} runs there by it: "
                f"{obstacle}. To have it all the same: "
                f"{by_hand(node.name, desired.member_label, different[desired.member_label])}",
                wants_attention=True,
            )
            continue
        loses_proxy = desired.proxy_label in different and different[desired.proxy_label] is None
        yield LabelNode(
            node.name,
            node.id,
            node.version,
            different,
            reason=f"the file places tasks on {node.name} by these labels"
            if labels
            else f"the file does not name {node.name}",
            changes=tuple(
                FieldChange(f"labels[{key}]", node.labels.get(key, ABSENT), value or ABSENT)
                for key, value in sorted(different.items())
            ),
            disturbs=placed.service.name
            if placed
            else desired.proxy.name
            if loses_proxy and situation.swarm.service(desired.proxy.name)
            else "",
        )


def by_hand(node: str, key: str, value: str | None) -> str:
    change = f"--label-rm {key}" if value is None else f"--label-add {key}={value}"
    return f"docker node update {change} {node}"


def member_placed_by(situation: Situation, node: Node) -> DesiredMember | None:
    """The member whose running task the node's present label holds there."""
    label = situation.desired.member_label
    constraint = f"node.labels.{label}=={node.labels.get(label)}"
    for member in situation.desired.members:
        live = situation.swarm.service(member.service.name)
        if live is None or constraint not in live.value.constraints:
            continue
        if any(task.node_id == node.id for task in situation.swarm.possible_tasks(live.id)):
            return member
    return None
