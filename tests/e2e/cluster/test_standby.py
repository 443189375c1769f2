"""Two operators on three managers: the node of the acting one fails, and the other acts.

Judged from the audit trails of both. All nodes share this machine's clock, so that the records of
two trails can be put in one order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.swarm_facts import container_of, eventually
from tests.e2e.two_operators import (
    APART_FROM_NODE3,
    MANAGERS,
    OPERATOR,
    STACK,
    acting_apart_from_the_leader,
    are_warm,
    at_s,
    deploy,
    first_action,
    is_converged,
    lease,
    now_s,
    operators,
    raft_leader,
    records,
    takes,
)
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.quiet, pytest.mark.timeout(900)]

BOUND_S = 10.0
FROZEN_S = 20.0


@contextmanager
def three_managers(lab: Lab, directory: Path, stack: str) -> Iterator[list[Node]]:
    """The lab with three managers, the usual cluster, and the operator's service by this stack."""
    image = publish(lab.registry, ["operator"], lab.settings)["operator"]
    nodes = [lab.node(name) for name in MANAGERS]
    try:
        deploy(lab, directory, image, stack=stack)
        eventually(lambda: len(operators(nodes)) == 2, "two operators", 60)
        yield nodes
    finally:
        for node in nodes:
            if node.is_powered():
                node.mend()
        lab.reset()


@pytest.fixture
def managers(lab: Lab, images: dict[str, str], tmp_path: Path) -> Iterator[list[Node]]:
    """The operator's service has two tasks on any two of the managers."""
    with three_managers(lab, tmp_path, STACK) as nodes:
        yield nodes


@pytest.fixture
def by_the_leader(lab: Lab, images: dict[str, str], tmp_path: Path) -> Iterator[list[Node]]:
    """Its tasks are on node1, which leads Raft, and on node2."""
    with three_managers(lab, tmp_path, APART_FROM_NODE3) as nodes:
        eventually(lambda: are_warm(nodes), "two operators that know the lease", 120)
        yield nodes


def judge(nodes: list[Node]) -> None:
    """Every action lies in the time of its own operator's lease, and the chains name each other."""
    all_records = records(nodes)
    holder, last, term = "", "", 0
    hashes = {f"{one['chain']}/{one['seq']}/{one['hash']}" for one in all_records}
    for record in all_records:
        if record["phase"] == "lease" and record["acting"]:
            is_again = record["chain"] == last and int(record["term"]) == term
            assert is_again or int(record["term"]) == term + 1
            if term and not is_again:
                assert record["other"]["chain"] in hashes
            holder = last = record["chain"]
            term = int(record["term"])
        elif record["phase"] == "lease" and record["chain"] == holder:
            holder = "nobody"
        elif record["phase"] == "intent":
            assert record["chain"] == holder, record


def measured(others: list[Node], began_s: float, what: str) -> Node:
    """Remove the proxies, and return the node whose operator has made them again in time."""
    first = first_action(others[0], others, began_s, 30)
    taken_s, acted_s = at_s(takes(others)[-1]) - began_s, at_s(first) - began_s
    print(f"{what}: the lease after {taken_s:.1f} s, the first action after {acted_s:.1f} s")
    assert taken_s < BOUND_S
    assert acted_s < BOUND_S
    assert lease(others[0])["host"] == first["node"]
    return next(node for node in others if node.name == first["node"])


def given(node: Node, since_s: float = 0.0) -> list[dict[str, Any]]:
    """Return the records of this node's operator about leases that it handed over."""
    found = [one for one in records([node]) if one["phase"] == "lease" and not one["acting"]]
    return [
        one for one in found if "leads the managers' Raft" in one["why"] and at_s(one) > since_s
    ]


def stops_in_time(acting: Node, began_s: float, taken_s: float) -> None:
    """The one that can't reach the managers has ended its turn before the other began."""
    ended = [
        at_s(one)
        for one in records([acting])
        if one["phase"] == "lease" and not one["acting"] and at_s(one) > began_s
    ]
    assert ended
    assert ended[0] < taken_s


def test_the_other_acts_when_the_node_of_the_acting_one_fails(managers: list[Node]) -> None:
    nodes = managers
    acting, others = acting_apart_from_the_leader(nodes)
    began_s = now_s()
    acting.power_cut()
    measured(others, began_s, "power cut")
    acting.start()
    eventually(lambda: is_converged(nodes), "a converged cluster", 120, every_s=1.0)

    acting, others = acting_apart_from_the_leader(nodes)
    began_s = now_s()
    acting.freeze()
    successor = measured(others, began_s, "freeze")
    time.sleep(max(0.0, began_s + FROZEN_S - now_s()))
    acting.thaw()
    time.sleep(5)
    assert lease(successor)["host"] == successor.name or given(successor, began_s)
    eventually(lambda: is_converged(nodes), "a converged cluster", 120, every_s=1.0)

    acting, others = acting_apart_from_the_leader(nodes)
    began_s = now_s()
    acting.partition()
    measured(others, began_s, "partition")
    stops_in_time(acting, began_s, at_s(takes(others)[-1]))
    acting.heal()
    eventually(lambda: is_converged(nodes), "a converged cluster", 120, every_s=1.0)
    judge(nodes)


def test_the_lease_leaves_the_node_that_leads_raft(by_the_leader: list[Node]) -> None:
    """So the power cut of the acting operator's node never takes the managers' leader along."""
    nodes = by_the_leader
    leader = next(node for node in nodes if node.name == raft_leader(nodes[0]))
    if lease(nodes[0])["host"] != leader.name:
        other = next(node for node in operators(nodes) if node is not leader)
        other.docker("kill", "--signal", "TERM", container_of(other, OPERATOR))
        eventually(lambda: lease(nodes[0])["host"] == leader.name, "the leader's to act", 30)
        eventually(lambda: are_warm(nodes), "two operators that know the lease", 120)
    eventually(lambda: lease(nodes[0])["host"] not in ("", leader.name), "the other to act", 90)
    print(f"handed over by {leader.name}")
    assert given(leader)
    acting = next(node for node in nodes if node.name == lease(nodes[0])["host"])
    eventually(lambda: is_converged(nodes), "a converged cluster", 120, every_s=1.0)
    began_s = now_s()
    acting.power_cut()
    measured([node for node in nodes if node is not acting], began_s, "power cut")
    judge(nodes)


def test_without_a_majority_of_managers_nobody_acts(managers: list[Node]) -> None:
    nodes = managers
    acting, others = acting_apart_from_the_leader(nodes)
    for node in others:
        node.freeze()
    began_s = now_s()
    container = container_of(acting, OPERATOR)

    def said() -> str:
        return acting.docker("logs", container, check=False).stdout

    eventually(
        lambda: "without a renewal in time it executes nothing" in said(), "the operator's word", 30
    )
    time.sleep(15)
    for node in others:
        node.thaw()
    late = [one for one in records(nodes) if one["phase"] == "intent" and at_s(one) > began_s + 6]
    assert late == []
    eventually(lambda: is_converged(nodes), "a converged cluster", 120, every_s=1.0)
    judge(nodes)
