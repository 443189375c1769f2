"""Two operators on three managers: the node of the acting one fails, and the other acts.

Judged from the audit trails of both. All nodes share this machine's clock, so that the records of
two trails can be put in one order.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from queenright.adapters.system_clock import SystemClock
from queenright.core.audit.chain import chain_name, decode, verify
from queenright.core.planning.lease import LABEL, LEASE_CONFIG
from tests.e2e.running_operator import ROOT
from tests.e2e.swarm_facts import container_of, eventually, quick_manifest
from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab
from tests.lab.node import Node
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.quiet, pytest.mark.timeout(900)]

OPERATOR = "queenright_operator"
MANAGERS = ("node1", "node2", "node3")
BOUND_S = 10.0
FROZEN_S = 20.0
TRAIL = "data/volumes/queenright_state/_data/audit.jsonl"


@pytest.fixture
def managers(lab: Lab, images: dict[str, str], tmp_path: Path) -> Iterator[list[Node]]:
    """The lab with three managers, the usual cluster, and the operator's service with two tasks."""
    lab.reset()
    image = publish(lab.registry, ["operator"], lab.settings)["operator"]
    lab.manager.docker("node", "promote", *MANAGERS[1:])
    desired = tmp_path / "cluster.yaml"
    desired.write_text(quick_manifest(lab))
    environment = {
        **os.environ,
        **lab.manager.client_environment(),
        "QUEENRIGHT_IMAGE": image,
        "DESIRED_STATE": str(desired),
        "DESIRED_STATE_NAME": "desired-1",
    }
    stack = ["stack", "deploy", "-c", "manifests/operator-stack-standby.yaml", "queenright"]
    subprocess.run(
        [docker_command(), *stack], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    nodes = [lab.node(name) for name in MANAGERS]
    try:
        eventually(lambda: is_converged(nodes), "a converged cluster", 240)
        eventually(lambda: len(operators(nodes)) == 2, "two operators", 60)
        yield nodes
    finally:
        for node in nodes:
            if node.is_powered():
                node.mend()
        lab.reset()


def now_s() -> float:
    return SystemClock().now().timestamp()


def operators(nodes: list[Node]) -> list[Node]:
    """Return the nodes on which an operator runs."""
    running = [node for node in nodes if node.is_powered() and not node.is_frozen()]
    return [node for node in running if container_of(node, OPERATOR)]


def are_warm(nodes: list[Node]) -> bool:
    """Return True if two operators run, and each has said whether it acts."""
    running = operators(nodes)
    told = [node.docker("logs", container_of(node, OPERATOR), check=False) for node in running]
    return len(told) == 2 and all('"acting"' in one.stdout for one in told)


def is_converged(nodes: list[Node]) -> bool:
    for node in operators(nodes):
        container = container_of(node, OPERATOR)
        told = node.docker(
            "exec", container, "operator-entrypoint", "status", "--json", check=False
        )
        try:
            clusters = json.loads(told.stdout)["clusters"]
        except (ValueError, KeyError):
            continue
        if clusters and all(cluster["converged"] for cluster in clusters):
            return True
    return False


def lease(node: Node) -> dict[str, str]:
    """Return the lease's labels, as this manager gives them; {} if it gives none."""
    told = node.docker("config", "inspect", LEASE_CONFIG, check=False)
    if told.returncode != 0:
        return {}
    labels = json.loads(told.stdout)[0]["Spec"]["Labels"]
    return {key.removeprefix(LABEL): value for key, value in labels.items()}


def raft_leader(node: Node) -> str:
    listed = node.docker("node", "ls", "--format", "{{.Hostname}} {{.ManagerStatus}}").stdout
    return next(line.split()[0] for line in listed.splitlines() if line.endswith("Leader"))


def are_managers(nodes: list[Node]) -> bool:
    """Return True if each of the nodes is a manager that reaches all others: without one of them
    there is a majority still."""
    for node in nodes:
        told = node.docker("node", "ls", "--format", "{{.ManagerStatus}}", check=False)
        found = told.stdout.split()
        if told.returncode != 0 or found.count("Leader") != 1:
            return False
        if found.count("Reachable") != len(nodes) - 1:
            return False
    return True


def acting_apart_from_the_leader(nodes: list[Node]) -> tuple[Node, list[Node]]:
    """Return the node of the acting operator, and the others. It is not Raft's leader: without one
    the managers themselves write nothing for 10 s and more, whoever has the lease."""
    eventually(lambda: are_managers(nodes), "managers that reach each other", 120)
    eventually(lambda: are_warm(nodes), "two operators that know the lease", 120)
    by_name = {node.name: node for node in nodes}
    holder = lease(nodes[0])["host"]
    if holder == raft_leader(nodes[0]):
        container = container_of(by_name[holder], OPERATOR)
        by_name[holder].docker("kill", "--signal", "TERM", container)
        eventually(lambda: lease(nodes[0])["host"] not in ("", holder), "the other to act", 5)
        former = by_name[holder]
        eventually(lambda: container_of(former, OPERATOR) != container, "its end", 60)
        eventually(lambda: are_warm(nodes), "two operators that know the lease", 120)
        holder = lease(nodes[0])["host"]
    assert holder != raft_leader(nodes[0])
    return by_name[holder], [node for node in nodes if node.name != holder]


def records(nodes: list[Node]) -> list[dict[str, Any]]:
    """Return the records of all trails in the order of their times; each trail is sound."""
    found: list[dict[str, Any]] = []
    for node in nodes:
        path = node.directory / TRAIL
        if path.exists():
            lines = path.read_bytes().splitlines(keepends=True)
            assert verify(lines).is_sound
            read = [record for line in lines if (record := decode(line))]
            found += [{**one, "chain": chain_name(one), "node": node.name} for one in read]
    return sorted(found, key=lambda record: (str(record["at"]), record["seq"]))


def at_s(record: dict[str, Any]) -> float:
    return datetime.fromisoformat(str(record["at"])).timestamp()


def takes(nodes: list[Node]) -> list[dict[str, Any]]:
    return [one for one in records(nodes) if one["phase"] == "lease" and one["acting"]]


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


def measured(nodes: list[Node], others: list[Node], began_s: float, what: str) -> Node:
    """Remove the proxies, and return the node whose operator has made them again in time."""
    alive = others[0]
    alive.docker("service", "rm", "main_proxy")

    def acted() -> list[dict[str, Any]]:
        names = [node.name for node in others]
        return [
            one
            for one in records(others)
            if one["phase"] == "intent" and one["node"] in names and at_s(one) > began_s
        ]

    eventually(acted, "an action of the other operator", 30)
    first = acted()[0]
    taken_s, acted_s = at_s(takes(others)[-1]) - began_s, at_s(first) - began_s
    print(f"{what}: the lease after {taken_s:.1f} s, the first action after {acted_s:.1f} s")
    assert taken_s < BOUND_S
    assert acted_s < BOUND_S
    assert lease(alive)["host"] == first["node"]
    return next(node for node in others if node.name == first["node"])


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
    measured(nodes, others, began_s, "power cut")
    acting.start()
    eventually(lambda: is_converged(nodes), "a converged cluster", 120)

    acting, others = acting_apart_from_the_leader(nodes)
    began_s = now_s()
    acting.freeze()
    successor = measured(nodes, others, began_s, "freeze")
    time.sleep(max(0.0, began_s + FROZEN_S - now_s()))
    acting.thaw()
    time.sleep(5)
    assert lease(successor)["host"] == successor.name
    eventually(lambda: is_converged(nodes), "a converged cluster", 120)

    acting, others = acting_apart_from_the_leader(nodes)
    began_s = now_s()
    acting.partition()
    measured(nodes, others, began_s, "partition")
    stops_in_time(acting, began_s, at_s(takes(others)[-1]))
    acting.heal()
    eventually(lambda: is_converged(nodes), "a converged cluster", 120)
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
    eventually(lambda: is_converged(nodes), "a converged cluster", 120)
    judge(nodes)
