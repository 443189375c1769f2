"""The write gap of what nobody planned, with the operator and without it, in turn on one cluster.

A client writes each 50 ms through port 5000 of a node that stays. Without the operator means that
its process is stopped: swarm and Patroni are alone, as they are with a stack file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import spread
from tests.bench.running import converged
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import MEMBER_NODES, container_of, eventually, is_whole, leader_node
from tests.e2e.writer import Writer
from tests.lab.lab import Lab

RUNS = 5
MEMBER_OF = {"node2": "member-1", "node3": "member-2", "node4": "member-3"}
SETTLED_S = 7.0
"""Two good checks of each proxy, three seconds apart."""

Fault = Callable[[Lab, str], Callable[[], None]]


def container_kill(lab: Lab, node: str) -> Callable[[], None]:
    container = container_of(lab.node(node), f"main_{MEMBER_OF[node]}")
    lab.node(node).docker("kill", container)
    return lambda: None


def power_cut(lab: Lab, node: str) -> Callable[[], None]:
    lab.node(node).power_cut()
    return lambda: lab.node(node).start()


def partition(lab: Lab, node: str) -> Callable[[], None]:
    lab.node(node).partition()
    return lambda: lab.node(node).heal()


FAULTS: dict[str, Fault] = {
    "container killed": container_kill,
    "node power cut": power_cut,
    "node partitioned": partition,
}


def bench_failover(lab: Lab, directory: Path) -> None:
    lab.reset()
    operator = converged(lab, directory)
    try:
        for name, fault in FAULTS.items():
            gaps: dict[str, list[float]] = {"with": [], "without": []}
            for _ in range(RUNS):
                gaps["with"].append(measure(lab, fault, "with"))
                operator.stop()
                gaps["without"].append(measure(lab, fault, "without"))
                operator.start()
                wait_until_converged(operator)
            print(f"{name}:")
            print(f"  with the operator     {spread(gaps['with'], 's')}")
            print(f"  without the operator  {spread(gaps['without'], 's')}", flush=True)
    finally:
        operator.stop()


def wait_until_converged(operator: RunningOperator) -> None:
    operator.wait_converged(since=len(list(operator.passes())), timeout_s=180)


def measure(lab: Lab, fault: Fault, which: str) -> float:
    """Seconds without an acknowledged write around one fault; then all is whole again."""
    eventually(lambda: is_whole(lab), "a whole cluster", 240)
    time.sleep(SETTLED_S)
    away = leader_node(lab)
    stays = next(node for node in MEMBER_NODES if node != away)
    with Writer(lab, stays, f"{which} {time.time_ns()}", period_s=0.05) as writer:
        began = time.monotonic()
        mend = fault(lab, away)
        eventually(lambda: writer.gaps_s(began, 1.0), "writes again", 120)
        mend()
        eventually(lambda: is_whole(lab), "a whole cluster", 240)
        gap_s = writer.longest_gap_s(began)
    print(f"   {fault.__name__}, {which} the operator: {gap_s:.1f} s", flush=True)
    return gap_s
