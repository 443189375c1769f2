"""Two of three nodes are gone for ever: the guide's steps make the third member the cluster again.

By hand, as the guide says it; what the third member had is there, and members are added afterwards.
"""

from __future__ import annotations

import time
from functools import partial

import psycopg
import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.membership import is_whole, leading, voters, with_members
from tests.e2e.swarm_facts import connect, eventually, leader_node, quick_manifest
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]

NODES = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}
SPARE = "node1"
LASTS_S = 420
TOGETHER = "  acknowledge: [noFailover, evenMembers]\n"


def rows(lab: Lab, node: str) -> set[int]:
    """The rows, as soon as the proxy there serves."""

    def read() -> set[int]:
        try:
            with connect(lab, node) as connection:
                return {int(number) for (number,) in connection.execute("SELECT number FROM kept")}
        except psycopg.OperationalError:
            return set()

    found: set[int] = eventually(read, f"an answer through the proxy on {node}", LASTS_S, 2)
    return found


def tasks_of(lab: Lab, node: str) -> str:
    asked = ("ps", "--quiet", "--filter", "name=main_member")
    return lab.node(node).docker(*asked).stdout.strip()


def test_the_member_that_is_left_is_the_cluster_again(deployment: Deployment) -> None:
    lab, operator = deployment.lab, deployment.operator
    with connect(lab, leader_node(lab)) as connection:
        connection.execute("CREATE TABLE kept (number integer)")
        connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        connection.execute("CHECKPOINT")
    time.sleep(3)
    leader = leading(lab, NODES)
    left = next(name for name in NODES if name != leader)
    node = NODES[left]
    for name, place in NODES.items():
        if name != left:
            lab.node(place).power_cut()
    # 1. the operator changes nothing
    paused = (
        with_members(quick_manifest(lab), [f"name: {n}, node: {p}" for n, p in NODES.items()])
        + "  reconcile: paused\n"
    )
    operator.write(paused)
    time.sleep(15)
    # 2. the services, the state config, and the Raft log of the one that is left
    lab.manager.docker("service", "rm", *(f"main_{name}" for name in NODES))
    eventually(lambda: not tasks_of(lab, node), "the end of the containers", 60)
    lab.manager.docker("config", "rm", "main_cluster")
    ended = lab.node(node).docker("ps", "--all", "--quiet", "--filter", "name=main_member").stdout
    lab.node(node).docker(
        "rm", *ended.split(), check=False
    )  # Swarm removes them, too, a little later
    lab.node(node).docker("volume", "rm", f"main_{left}-raft")
    # 3. the file has that member alone
    alone = with_members(quick_manifest(lab), [f"name: {left}, node: {node}"], TOGETHER)
    operator.edit(alone, LASTS_S)
    eventually(lambda: leading(lab, {left: node}) == left, "the member that leads", LASTS_S)
    assert rows(lab, node) == set(range(1, 1001))
    # 4. members are added again
    both = {left: node, "member-4": SPARE}
    lines = [f"name: {name}, node: {place}" for name, place in both.items()]
    operator.edit(with_members(quick_manifest(lab), lines, TOGETHER), LASTS_S)
    eventually(partial(is_whole, lab, both), "two members", LASTS_S)
    addresses = frozenset(lab.node(place).address for place in both.values())
    eventually(lambda: voters(lab.node(node).address) == addresses, "both vote")
    # a node that comes back has no service, and takes no part
    lab.node(NODES[leader]).start()
    time.sleep(20)
    assert not tasks_of(lab, NODES[leader])
    assert rows(lab, node) == set(range(1, 1001))
