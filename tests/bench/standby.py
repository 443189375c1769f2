"""Measure the time until an operator acts again after its node failed: beside another one, and with
Swarm alone.

The proxies' service is removed as soon as the fault has come; the figure is the time from the fault
to the record of the first action. The operator's node is not the one that leads the managers' Raft,
but in the last line. Swarm alone is the same service with one task.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import spread
from tests.e2e.swarm_facts import container_of, eventually
from tests.e2e.two_operators import (
    OPERATOR,
    STACK,
    acting_apart_from_the_leader,
    are_managers,
    are_warm,
    at_s,
    deploy,
    first_action,
    is_converged,
    lease,
    now_s,
    raft_leader,
)
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.product_images import publish

RUNS = int(os.environ.get("QUEENRIGHT_BENCH_RUNS", "3"))
LONGEST_S = 180.0
TRIES = 12
"""Of three managers the one that leads Raft may be that without an operator, several times."""
OUTAGE_S = 25.0
"""Time for which a node stays frozen or cut off."""
ALONE = STACK.replace("replicas: 2", "replicas: 1").replace(
    "- node.role == manager", "- node.role == manager\n          - node.hostname != node1"
)
"""One task, not on the node that leads Raft since the swarm began."""

Fault = tuple[Callable[[Node], None], Callable[[Node], None]]
FAULTS: dict[str, Fault] = {
    "power cut": (Node.power_cut, Node.start),
    "freeze": (Node.freeze, Node.thaw),
    "partition": (Node.partition, Node.heal),
    "dockerd crashes": (lambda node: node.crash_dockerd(wait=False), Node.wait_until_up),
}


def bench_standby(lab: Lab, directory: Path) -> None:
    image = publish(lab.registry, ["operator"], lab.settings)["operator"]
    try:
        beside = beside_another(deploy(lab, directory, image))
        alone = by_swarm_alone(deploy(lab, directory, image, stack=ALONE))
    finally:
        lab.mend()
        lab.reset()
    for fault, taken in beside.items():
        print(f"{fault:22} an operator stands by: {spread(taken, 's')}")
        if fault in alone:
            print(f"{'':22} Swarm alone:           {spread(alone[fault], 's')}")


def beside_another(nodes: list[Node]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for _ in range(RUNS):
        for name, fault in FAULTS.items():
            acting, others = acting_apart_from_the_leader(nodes)
            found.setdefault(name, []).append(measured(nodes, acting, others, fault, name))
        acting, others = acting_on_the_leader(nodes)
        took = measured(nodes, acting, others, FAULTS["power cut"], "Raft's leader")
        found.setdefault("power cut of a leader", []).append(took)
    return found


def by_swarm_alone(nodes: list[Node]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for _ in range(RUNS):
        for name, fault in FAULTS.items():
            eventually(lambda: are_managers(nodes), "managers that reach each other", 120)
            acting = next(node for node in nodes if node.name == lease(nodes[0])["host"])
            others = [node for node in nodes if node is not acting]
            took = measured(nodes, acting, others, fault, f"{name}, Swarm alone")
            found.setdefault(name, []).append(took)
    return found


def acting_on_the_leader(nodes: list[Node]) -> tuple[Node, list[Node]]:
    """Return the node that leads Raft, on which the acting operator is, and the others."""
    for _ in range(TRIES):
        eventually(lambda: are_managers(nodes), "managers that reach each other", 120)
        eventually(lambda: are_warm(nodes), "two operators that know the lease", 120)
        leader, holder = raft_leader(nodes[0]), lease(nodes[0])["host"]
        acting = next(node for node in nodes if node.name == holder)
        if holder == leader:
            return acting, [node for node in nodes if node is not acting]
        # Swarm starts its task again somewhere; the other operator acts meanwhile.
        acting.docker("kill", "--signal", "TERM", container_of(acting, OPERATOR))
        eventually(lambda: lease(nodes[0])["host"] not in ("", holder), "the other to act", 30)  # noqa: B023  # it is called at once
    raise AssertionError("no operator acts on the node that leads Raft")


def measured(nodes: list[Node], acting: Node, others: list[Node], fault: Fault, name: str) -> float:
    """Seconds from the fault to the first action, on whichever node."""
    begin, end = fault
    began_s = now_s()
    begin(acting)
    # A dockerd that has crashed starts again by itself, and its operator may be the first one.
    judged = nodes if name.startswith("dockerd") else others
    first = first_action(others[0], judged, began_s, LONGEST_S)
    took = at_s(first) - began_s
    print(f"   {name}: {took:.1f} s, on {first['node']}", flush=True)
    time.sleep(max(0.0, began_s + OUTAGE_S - now_s()))
    end(acting)
    eventually(lambda: is_converged(nodes), "a converged cluster", 180)
    return took
