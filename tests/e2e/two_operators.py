"""The operator's service on three managers: deployed, and read by its lease and its trails.

All nodes share this machine's clock, so that the records of two trails can be put in one order.
"""

from __future__ import annotations

import json
import os
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from queenright.adapters.system_clock import SystemClock
from queenright.core.audit.chain import chain_name, decode, verify
from queenright.core.planning.lease import LABEL, LEASE_CONFIG
from tests.e2e.running_operator import ROOT
from tests.e2e.swarm_facts import container_of, eventually, quick_manifest
from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab
from tests.lab.node import Node

OPERATOR = "queenright_operator"
MANAGERS = ("node1", "node2", "node3")
STACK = (ROOT / "manifests/operator-stack-standby.yaml").read_text()
APART_FROM_NODE3 = STACK.replace(
    "- node.role == manager", "- node.role == manager\n          - node.hostname != node3"
)
TRAIL = "data/volumes/queenright_state/_data/audit.jsonl"


def deploy(lab: Lab, directory: Path, image: str, *, stack: str = STACK) -> list[Node]:
    """Deploy the usual cluster by the operator's service on three managers, from a bare swarm, and
    wait until it is converged; returns the managers' nodes."""
    lab.reset()
    lab.manager.docker("node", "promote", *MANAGERS[1:])
    desired = directory / "cluster.yaml"
    desired.write_text(quick_manifest(lab))
    file = directory / "operator-stack.yaml"
    file.write_text(stack)
    environment = {
        **os.environ,
        **lab.manager.client_environment(),
        "QUEENRIGHT_IMAGE": image,
        "DESIRED_STATE": str(desired),
        "DESIRED_STATE_NAME": "desired-1",
    }
    subprocess.run(
        [docker_command(), "stack", "deploy", "-c", str(file), "queenright"],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
    nodes = [lab.node(name) for name in MANAGERS]
    eventually(lambda: is_converged(nodes), "a converged cluster", 240, every_s=1.0)
    return nodes


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


def first_action(
    alive: Node, judged: list[Node], began_s: float, within_s: float
) -> dict[str, Any]:
    """Remove the proxies, as soon as the managers take it, and return the first intent since a
    moment in these nodes' trails."""

    def removed() -> bool:
        return alive.docker("service", "rm", "main_proxy", check=False).returncode == 0

    eventually(removed, "the managers to remove a service", within_s)

    def intents() -> list[dict[str, Any]]:
        return [one for one in records(judged) if one["phase"] == "intent" and at_s(one) > began_s]

    eventually(intents, "an action of an operator", within_s)
    return intents()[0]
