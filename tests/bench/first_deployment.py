"""Time from a bare swarm with images in the registry to the running cluster: ours, and by hand.

The same check for both: one leader and two streaming replicas with lag 0 in Patroni's own list, a
write through port 5000 of every proxy node, and a read through port 5001 of each. Runs take turns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import render_haproxy_cfg
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import render_patroni_template
from queenright.core.kinds.postgres_cluster.desired.route_lua import render_route_lua
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.bench.figures import spread
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import MEMBER_NODES, eventually, is_whole, manifest, read_secret
from tests.lab.docker_client import docker_command
from tests.lab.lab import Lab

RUNS = 3
TARGET = 1.15
STACK = Path(__file__).with_name("reference-stack.yaml")


def bench_first_deployment(lab: Lab, directory: Path) -> None:
    ours: list[float] = []
    by_hand: list[float] = []
    for run in range(RUNS):
        by_hand.append(deploy_by_hand(lab, directory / f"hand-{run}"))
        ours.append(deploy_with_operator(lab, directory / f"ours-{run}"))
        print(f"   run {run + 1}: by hand {by_hand[-1]:.1f} s, ours {ours[-1]:.1f} s", flush=True)
    ratio = statistics.median(ours) / statistics.median(by_hand)
    print(f"docker stack deploy   {spread(by_hand, 's')}")
    print(f"operator              {spread(ours, 's')}")
    print(f"ratio                 {ratio:.2f} (target: at most {TARGET})")


def deploy_with_operator(lab: Lab, directory: Path) -> float:
    """Seconds from the start of the operator's process."""
    lab.reset()
    operator = RunningOperator(lab, directory)
    operator.write(manifest(lab))
    began = time.monotonic()
    with operator:
        return wait_until_served(lab, "main", began)


def deploy_by_hand(lab: Lab, directory: Path) -> float:
    """Seconds from the first command that a person types: labels, secrets, stack."""
    lab.reset()
    document = load({"cluster.yaml": manifest(lab)}).documents[0].resource
    addresses = lay_out(lab, directory, document)
    (directory / "stack.yaml").write_text(STACK.read_text())
    docker = lab.manager.docker
    began = time.monotonic()
    for number, node in enumerate(MEMBER_NODES, start=1):
        labels = ("--label-add", f"pg-node={number}", "--label-add", "pg-ha-node=true")
        docker("node", "update", *labels, node)
    for name in ("pg_replication_pw", "pg_superuser_pw", "pg_rest_pw"):
        docker("secret", "create", name, "-", text=b64encode(os.urandom(32)).decode())
    deploy_stack(lab, directory, "main", addresses)
    return wait_until_served(lab, "main", began)


def lay_out(lab: Lab, directory: Path, document: PostgresCluster) -> list[str]:
    """Write the files that the stack takes as configs; returns the members' addresses."""
    directory.mkdir(parents=True)
    addresses = {m.name: lab.node(m.node).address for m in document.spec.members}
    (directory / "patroni.yml.tpl").write_text(render_patroni_template(document))
    (directory / "haproxy.cfg").write_text(render_haproxy_cfg(document, addresses))
    (directory / "queenright.lua").write_text(render_route_lua(document))
    return [*addresses.values()]


def deploy_stack(lab: Lab, directory: Path, name: str, addresses: list[str]) -> None:
    """Run `docker stack deploy` on the directory's stack.yaml."""
    environment = {**os.environ, **lab.manager.client_environment(), "REGISTRY": lab.registry}
    for number, address in enumerate(addresses, start=1):
        environment[f"ADDRESS_{number}"] = address
    subprocess.run(
        [docker_command(), "stack", "deploy", "-c", "stack.yaml", name],
        cwd=directory,
        env=environment,
        check=True,
        capture_output=True,
    )


def wait_until_served(lab: Lab, scope: str, began: float) -> float:
    eventually(lambda: is_whole(lab), f"{scope}: one leader, two replicas with lag 0", 120)
    password = read_secret(lab, "pg_superuser_pw")
    with ThreadPoolExecutor() as pool:
        places = [(node, port) for node in MEMBER_NODES for port in (5000, 5001)]
        list(pool.map(lambda place: wait_for_port(lab, *place, password), places))
    return time.monotonic() - began


def wait_for_port(lab: Lab, node: str, port: int, password: str) -> None:
    address = lab.node(node).address

    def serves() -> bool:
        try:
            with psycopg.connect(
                host=address,
                port=port,
                user="postgres",
                password=password,
                dbname="postgres",
                connect_timeout=2,
                autocommit=True,
            ) as connection:
                if port == 5000:
                    connection.execute("select pg_logical_emit_message(true, 'bench', 'written')")
                else:
                    connection.execute("select 1")
        except psycopg.Error:
            return False
        return True

    eventually(serves, f"{node}:{port}", 120)
