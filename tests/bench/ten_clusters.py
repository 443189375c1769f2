"""Time until ten clusters beside each other are whole, by one operator and by ten stacks by hand.

Then a power cut of one of their nodes.

All have their members on the same three nodes, by ports of their own. The same check for both: one
leader and two streaming replicas with lag 0 in each cluster's own words, and a statement through a
proxy of each node.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.bench.figures import spread
from tests.bench.first_deployment import STACK, deploy_stack, lay_out, wait_for_port
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    cluster_table,
    eventually,
    is_whole,
    manifest,
    read_secret,
)
from tests.lab.lab import Lab

RUNS = int(os.environ.get("QUEENRIGHT_BENCH_RUNS", "1"))
TARGET = 1.5
LONGEST_S = 600.0
"""For all ten together."""
SECRETS = ("pg_replication_pw", "pg_superuser_pw", "pg_rest_pw")


@dataclass(frozen=True)
class Tenth:
    """One of the clusters, and what is its own on nodes that it shares."""

    number: int

    @property
    def name(self) -> str:
        return f"shop{self.number}"

    @property
    def ports(self) -> dict[int, int]:
        """The contract's ports, and this cluster's in their place."""
        further = 10 * self.number
        proxies = {5000: 6000 + further, 5001: 6001 + further, 7000: 7000 + further}
        return {5432: 5432 + further, 5010: 5010 + further, 8008: 8008 + further, **proxies}

    def document(self, lab: Lab) -> str:
        """The cluster's YAML."""
        ports = self.ports
        own = (
            f"  ports: {{postgresql: {ports[5432]}, raft: {ports[5010]}, restApi: {ports[8008]}}}\n"
            f"  secrets: {{replication: {self.name}_pg_replication_pw, "
            f"superuser: {self.name}_pg_superuser_pw, restApi: {self.name}_pg_rest_pw}}\n"
            f"  nodeLabels: {{member: pg-node-{self.name}, proxy: pg-ha-node-{self.name}}}\n"
        )
        proxies = (
            f"    ports: {{primary: {ports[5000]}, replicas: {ports[5001]}, "
            f"statistics: {ports[7000]}}}\n"
        )
        text = manifest(lab, proxies + own)
        return text.replace("name: main", f"name: {self.name}")

    def stack(self) -> str:
        """The reference stack with this cluster's ports, labels and secrets."""
        ports = self.ports
        told = "|".join(map(str, ports))
        text = re.sub(rf"\b({told})\b", lambda found: str(ports[int(found[1])]), STACK.read_text())
        text = text.replace('["CMD", "healthcheck"]', f'["CMD", "healthcheck", "{ports[8008]}"]')
        text = re.sub(r"labels\.(pg-(?:ha-)?node)", rf"labels.\1-{self.name}", text)
        text = re.sub(r"source: (pg_\w+_pw)", rf"source: {self.name}_\1", text)
        return re.sub(r"^  (pg_\w+_pw): \{", rf"  {self.name}_\1: {{", text, flags=re.MULTILINE)


TEN = [Tenth(number) for number in range(10)]


def bench_ten_clusters(lab: Lab, directory: Path) -> None:
    ours: list[float] = []
    by_hand: list[float] = []
    for run in range(RUNS):
        by_hand.append(deploy_by_hand(lab, directory / f"hand-{run}"))
        print(f"   run {run + 1}: ten stacks by hand {by_hand[-1]:.1f} s", flush=True)
        lab.reset()
        operator = RunningOperator(lab, directory / f"ours-{run}")
        for tenth in TEN:
            operator.write(tenth.document(lab), f"{tenth.name}.yaml")
        began = time.monotonic()
        with operator:
            ours.append(until_served(lab, began))
            print(f"   run {run + 1}: by one operator {ours[-1]:.1f} s", flush=True)
            if run == RUNS - 1:
                cut_power(lab)
        lab.reset()
    ratio = statistics.median(ours) / statistics.median(by_hand)
    print(f"ten docker stack deploy   {spread(by_hand, 's')}")
    print(f"one operator              {spread(ours, 's')}")
    print(f"ratio                     {ratio:.2f} (target: at most {TARGET})")


def deploy_by_hand(lab: Lab, directory: Path) -> float:
    """Seconds from the first command that a person types: labels, secrets, ten stacks."""
    lab.reset()
    addresses: list[str] = []
    for tenth in TEN:
        document = load({"cluster.yaml": tenth.document(lab)}).documents[0].resource
        assert isinstance(document, PostgresCluster)
        addresses = lay_out(lab, directory / tenth.name, document)
        (directory / tenth.name / "stack.yaml").write_text(tenth.stack())
    docker = lab.manager.docker
    began = time.monotonic()
    for number, node in enumerate(MEMBER_NODES, start=1):
        for tenth in TEN:
            labels = (f"pg-node-{tenth.name}={number}", f"pg-ha-node-{tenth.name}=true")
            docker("node", "update", "--label-add", labels[0], "--label-add", labels[1], node)
    for tenth in TEN:
        for name in SECRETS:
            text = b64encode(os.urandom(32)).decode()
            docker("secret", "create", f"{tenth.name}_{name}", "-", text=text)
        deploy_stack(lab, directory / tenth.name, tenth.name, addresses)
    return until_served(lab, began)


def until_served(lab: Lab, began: float) -> float:
    """Seconds until all ten are whole and serve through each proxy."""
    all_whole(lab, began)
    for tenth in TEN:
        password = read_secret(lab, "pg_superuser_pw", tenth.name)
        for node in MEMBER_NODES:
            wait_for_port(lab, node, tenth.ports[5000], password)
    return time.monotonic() - began


def all_whole(lab: Lab, began: float) -> None:
    """Wait for all ten together, and print when each is whole. After the limit, print the tasks of
    those that are not: Swarm starts a member that has failed five times in a minute no more."""
    waiting = [*TEN]

    def none_is_left() -> bool:
        for tenth in [tenth for tenth in waiting if is_whole(lab, tenth.ports[8008])]:
            waiting.remove(tenth)
            print(f"      {tenth.name} whole after {time.monotonic() - began:.1f} s", flush=True)
        return not waiting

    try:
        eventually(none_is_left, "ten whole clusters", LONGEST_S)
    except AssertionError:
        form = "{{.Name}} {{.Node}} {{.CurrentState}} {{.Error}}"
        for tenth in waiting:
            tasks = lab.manager.docker("stack", "ps", "--format", form, tenth.name, check=False)
            print(f"{tenth.name} is not whole:\n{tasks.stdout}", flush=True)
        raise


def cut_power(lab: Lab) -> None:
    """Cut the power of the node with the most leaders; print when each cluster has one again."""
    led = [leader_of(lab, tenth, MEMBER_NODES) for tenth in TEN]
    lost = max(MEMBER_NODES, key=led.count)
    left = [node for node in MEMBER_NODES if node != lost]
    hit = [tenth for tenth, node in zip(TEN, led, strict=True) if node == lost]
    assert hit, f"no cluster has a leader: {led}"
    lab.node(lost).power_cut()
    began = time.monotonic()
    with ThreadPoolExecutor(len(hit)) as pool:

        def led_again(tenth: Tenth) -> float:
            eventually(lambda: leader_of(lab, tenth, left), f"{tenth.name}: a leader", LONGEST_S)
            return time.monotonic() - began

        taken = [*pool.map(led_again, hit)]
    print(f"power cut of a node with {len(hit)} leaders: led again after {spread(taken, 's')}")
    lab.wait_for(**{lost: "down"}, timeout_s=120)
    lab.node(lost).start()
    back = time.monotonic()
    all_whole(lab, back)
    print(f"all ten whole {time.monotonic() - back:.1f} s after the node is back", flush=True)


def leader_of(lab: Lab, tenth: Tenth, nodes: list[str] | tuple[str, ...]) -> str:
    """Return the node among these of the cluster's leader; empty where there is none."""
    members = cluster_table(lab, nodes, tenth.ports[8008])
    by_address = {str(lab.node(node).address): node for node in nodes}
    found = [by_address.get(str(m.get("host")), "") for m in members if m["role"] == "leader"]
    return found[0] if found else ""
