"""Commit latency and throughput of the three modes of replication, in turn on one cluster.

``pgbench`` writes through port 5000, from a member's container. Between two runs only the file
changes; a run begins when Patroni lists the replicas that the mode needs.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from tests.bench.figures import spread
from tests.bench.running import converged
from tests.e2e.swarm_facts import eventually, has_mode, is_whole, manifest
from tests.lab.lab import Lab
from tests.lab.psql import member_container
from tests.lab.settings import LabError

RUNS = 5
SECONDS = 20
CLIENTS = (1, 16)
SCALE = 10
PORT = 5000
MODES = ("asynchronous", "synchronous", "quorum")
_SCRIPT = 'export PGPASSWORD=$(cat /run/secrets/pg_superuser_pw); exec pgbench "$@"'
_LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
_RATE = re.compile(r"^tps = ([0-9.]+) ", re.MULTILINE)


def bench_replication(lab: Lab, directory: Path) -> None:
    lab.reset()
    operator = converged(lab, directory)
    found: dict[tuple[str, int], list[tuple[float, float]]] = {
        (mode, clients): [] for mode in MODES for clients in CLIENTS
    }
    try:
        pgbench(lab, "-i", "-q", "-s", str(SCALE))
        for run in range(RUNS):
            for mode in MODES:
                operator.write(manifest(lab, f"  replication: {{mode: {mode}}}\n"))
                eventually(partial(is_in_force, lab, mode), f"{mode} replication", 60)
                for clients in CLIENTS:
                    figures = measure(lab, clients)
                    found[mode, clients].append(figures)
                    told = f"{figures[0]:.2f} ms, {figures[1]:.0f} a second"
                    print(f"   run {run + 1}: {mode}, {clients} clients: {told}", flush=True)
    finally:
        operator.stop()
    for clients in CLIENTS:
        for mode in MODES:
            latencies, rates = zip(*found[mode, clients], strict=True)
            print(
                f"{clients:>2} clients, {mode:12}  {spread(latencies, 'ms', 2)}; "
                f"{spread(rates, 'transactions/s', 0)}"
            )


def is_in_force(lab: Lab, mode: str) -> bool:
    """Return True if all is whole, and the replicas have the roles of this mode."""
    return is_whole(lab) and has_mode(lab, mode)


def measure(lab: Lab, clients: int) -> tuple[float, float]:
    """Return the mean latency of a transaction in milliseconds, and the transactions a second."""
    text = pgbench(lab, "-n", "-c", str(clients), "-j", "2", "-T", str(SECONDS))
    latency, rate = _LATENCY.search(text), _RATE.search(text)
    if latency is None or rate is None:
        raise LabError(f"pgbench: no figures in its answer ({text.strip()[-200:]})")
    return float(latency[1]), float(rate[1])


def pgbench(lab: Lab, *arguments: str) -> str:
    node, container = member_container(lab)
    target = ("-h", node.address, "-p", str(PORT), "-U", "postgres", "postgres")
    inside = ("sh", "-c", _SCRIPT, "pgbench", *arguments, *target)
    return node.docker("exec", container, *inside).stdout
