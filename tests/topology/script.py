"""The edits of a run, each derived from the members as they are before it.

Pure. A seed decides which replica or node each edit takes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

PLANNED_MOVE_S = 1.2
"""The longest write gap of an edit that moves the leader: that of one planned switchover."""
LEADER_STAYS_S = 0.3
"""The longest write gap of an edit in which the leader stays."""
PREFERRED = 3
OTHERS = 1
"""The failover priorities of the preferred member and of the others. Without one in any line the
first member is preferred."""


@dataclass(frozen=True, slots=True)
class Place:
    """A member's line: its node, its address (empty: the node's), and its priority (0: none)."""

    node: str
    address: str = ""
    priority: int = 0


MANAGER = "node1"
Members = Mapping[str, Place]
FIRST: Members = {
    "member-1": Place("node2", priority=PREFERRED),
    "member-2": Place("node3"),
    "member-3": Place("node4"),
    "member-4": Place("node5"),
    "member-5": Place("node6"),
}
"""The members of a run's beginning: the first three, or all."""


@dataclass(frozen=True, slots=True)
class Step:
    """A kind of edit. ``members`` is how many there are before it, ``spares`` how many further
    nodes it takes, ``changes`` how often Raft's voters change, and ``gap_bound_s`` the longest
    write gap that it may have."""

    name: str
    title: str
    changes: int
    members: int = 3
    spares: int = 0
    gap_bound_s: float = LEADER_STAYS_S


STEPS = (
    Step("grow", "3 to 5 members", 2, spares=2),
    Step("two-dead", "two dead nodes of five, replaced by one edit", 4, members=5, spares=2),
    Step("shrink", "5 to 3 members", 2, members=5),
    Step("move-replica", "a replica moves", 4, spares=1),
    Step("move-leader", "the leader moves", 4, spares=1, gap_bound_s=PLANNED_MOVE_S),
    Step("dead-by-edit", "a dead node, replaced by an edit", 2, spares=1),
    Step("dead-by-itself", "a dead node, replaced by `replaceAfter: 60s`", 2, spares=1),
    Step("address", "another address of a node", 2),
    Step("rename", "a member renamed", 2),
    Step("priority", "another `failoverPriority`", 0),
)
"""In an order in which each finds as many members as it needs."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Effect of a step: the members after it, the nodes that lose power before it, the node that
    gets another address, and the spare nodes that the file names."""

    after: Members
    dead: tuple[str, ...] = ()
    readdressed: str = ""
    spares: tuple[str, ...] = ()


def chosen_steps(names: Sequence[str]) -> list[Step]:
    """Return these steps in the script's order, all for no names; ValueError where one is unknown,
    or finds another number of members than it needs."""
    if unknown := {*names} - {step.name for step in STEPS}:
        raise ValueError(f"no such step: {', '.join(sorted(unknown))}")
    steps = [step for step in STEPS if not names or step.name in names]
    members = steps[0].members
    for step in steps:
        if step.members != members:
            raise ValueError(f"{step.name}: needs {step.members} members, and finds {members}")
        members = {"grow": 5, "shrink": 3}.get(step.name, members)
    return steps


def most_nodes(steps: Sequence[Step]) -> int:
    """Return how many nodes the steps need, with the manager."""
    return max(step.members + step.spares for step in steps)


def edit_of(
    step: Step, members: Members, leader: str, free: Sequence[str], rng: random.Random
) -> Edit:
    """Return a step's edit of these members; ``free`` are the nodes without one. The manager gets a
    member where no other node is left, and loses it first; it never fails."""
    replicas = rng.sample(sorted(members.keys() - {leader}), len(members) - 1)
    replicas.sort(key=lambda name: (members[name].node == MANAGER) != (step.name == "shrink"))
    one, nodes = replicas[0], rng.sample(sorted(free), len(free))
    nodes.sort(key=lambda node: node == MANAGER)
    match step.name:
        case "grow":
            first, second = nodes[:2]
            new = {unused(members, 1): Place(first), unused(members, 2): Place(second)}
            return Edit({**members, **new})
        case "shrink":
            return Edit({n: place for n, place in members.items() if n not in replicas[:2]})
        case "two-dead":
            dead = tuple(members[name].node for name in replicas[:2])
            return Edit(moved(moved(members, one, nodes[0]), replicas[1], nodes[1]), dead)
        case "move-replica":
            return Edit(moved(members, one, nodes[0]))
        case "move-leader":
            return Edit(moved(members, leader, nodes[0]))
        case "dead-by-edit":
            return Edit(moved(members, one, nodes[0]), (members[one].node,))
        case "dead-by-itself":
            return Edit(moved(members, one, nodes[0]), (members[one].node,), spares=(nodes[0],))
        case "address":
            return Edit(members, readdressed=members[one].node)
        case "rename":
            new_name = unused(members, 1)
            renamed = {new_name if name == one else name: p for name, p in members.items()}
            return Edit(renamed)
        case _:
            there = {n: replace(place, priority=OTHERS) for n, place in members.items()}
            unpreferred = next(n for n in replicas if members[n].priority != PREFERRED)
            return Edit({**there, unpreferred: replace(there[unpreferred], priority=PREFERRED)})


def unused(members: Members, number: int) -> str:
    """Return the ``number``-th name after the highest one."""
    return f"member-{max(int(name.rpartition('-')[2]) for name in members) + number}"


def moved(members: Members, name: str, node: str) -> Members:
    """Return the members with one on another node, at that node's own address."""
    return {**members, name: Place(node, priority=members[name].priority)}


def line_of(name: str, place: Place) -> str:
    """Return the fields of a member in the file."""
    fields = {"name": name, "node": place.node, "address": place.address}
    fields["failoverPriority"] = str(place.priority or "")
    return ", ".join(f"{field}: {value}" for field, value in fields.items() if value)
