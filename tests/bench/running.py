"""A converged operator at work: its passes, its memory, and how soon it reacts."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from tests.bench.figures import spread
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import manifest, versions
from tests.lab.lab import Lab

HOUR_OF_PASSES = 240
"""One pass each 15 s, the default interval of the timer."""
MORE_SERVICES = 30
EDITS = 10
REMOVALS = 5
PAGE_KIB = 4


def converged(lab: Lab, directory: Path, **environment: str) -> RunningOperator:
    operator = RunningOperator(lab, directory)
    operator.environment |= environment
    operator.write(manifest(lab))
    operator.start()
    operator.wait_converged()
    return operator


def bench_pass(lab: Lab, directory: Path) -> None:
    """Duration, Docker API calls and writes of converged passes, also among many services."""
    lab.reset()
    operator = converged(lab, directory, QUEENRIGHT_RESYNC_INTERVAL="1s")
    try:
        time.sleep(30)  # the containers' own start is over
        measure_passes(lab, operator, "a swarm of 4 services")
        for number in range(MORE_SERVICES):
            lab.manager.docker(
                "service", "create", "-d", "--name", f"more-{number}", "--replicas", "0",
                f"{lab.registry}/queenright-proxy:3.0-alpine",
            )  # fmt: skip
        measure_passes(lab, operator, f"a swarm of {4 + MORE_SERVICES} services")
    finally:
        operator.stop()


def measure_passes(lab: Lab, operator: RunningOperator, where: str) -> None:
    time.sleep(3)
    since, before = len(list(operator.passes())), versions(lab)
    time.sleep(25)
    found = [
        p for p in list(operator.passes())[since:] if p["converged"] and p["trigger"] == "timer"
    ]
    after = versions(lab)
    written = [
        key for key in before if not key.startswith("node/") and before[key] != after.get(key)
    ]
    print(f"{where}:")
    print(
        f"  converged pass   {spread([p['duration_ms'] for p in found], 'ms', 0)} (target p50: 100)"
    )
    print(f"  Docker API calls {max(p['api_calls'] for p in found)} at most (target: 8)")
    print(f"  objects written  {len(written)} (target: 0)")


def bench_memory(lab: Lab, directory: Path) -> None:
    """Resident memory after an hour's worth of passes, and its growth in the second half."""
    operator = converged(
        lab, directory, QUEENRIGHT_RESYNC_INTERVAL="1s", QUEENRIGHT_MEMBER_POLL_INTERVAL="100ms"
    )
    try:
        readings: list[float] = []
        while len(list(operator.passes())) < HOUR_OF_PASSES:
            time.sleep(5)
            readings.append(resident_mib(operator.pid))
        half = len(readings) // 2
        early, late = statistics.median(readings[half : half + 5]), statistics.median(readings[-5:])
        print(f"passes               {len(list(operator.passes()))}")
        print(f"resident             {readings[-1]:.1f} MB (target: under 90)")
        print(f"growth, second half  {late - early:+.1f} MB (target: none)")
    finally:
        operator.stop()


def resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * PAGE_KIB / 1024


def bench_reaction(lab: Lab, directory: Path) -> None:
    """Measure from an edit to its first audit line, and from a removed service to its creation."""
    operator = converged(lab, directory)
    try:
        edits = [edit_ms(lab, operator, number) for number in range(EDITS)]
        print(f"edit to first audit line    {spread(edits, 'ms', 0)} (target: under 500)")
        removals = []
        for _ in range(REMOVALS):
            removals.append(removal_s(lab, operator))
            time.sleep(5)
        print(f"removed service is created  {spread(removals, 's', 2)} (target: within 2)")
    finally:
        operator.stop()


def edit_ms(lab: Lab, operator: RunningOperator, number: int) -> float:
    """An edit that touches no task: the deletion policy, there and back."""
    policy = ("remove", "retain")[number % 2]
    since = len(operator.audit("intent"))
    edited = time.monotonic()
    operator.write(manifest(lab, f"  deletionPolicy: {policy}\n"))
    operator.wait_for(lambda: len(operator.audit("intent")) > since, "the edit's audit line")
    took_ms = (operator.audit("intent")[since]["seen_at"] - edited) * 1000
    time.sleep(1)
    return took_ms


def removal_s(lab: Lab, operator: RunningOperator) -> float:
    since = len(operator.audit("outcome"))
    lab.manager.docker("service", "rm", "main_proxy")
    removed = time.monotonic()
    operator.wait_for(lambda: len(operator.audit("outcome")) > since, "the service")
    return float(operator.audit("outcome")[since]["seen_at"]) - removed
