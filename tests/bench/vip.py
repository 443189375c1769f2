"""Measure the time without the virtual address after each fault of the node that has it.

A client that is no node asks HAProxy at the address every 50 ms; the figure is the time between two
answered requests, with the load of the machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import spread
from tests.e2e.address_watch import AddressWatch
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import MEMBER_NODES, container_of, eventually, vip_address, vip_manifest
from tests.lab.lab import Lab
from tests.lab.product_images import publish

RUNS = int(os.environ.get("QUEENRIGHT_BENCH_RUNS", "10"))
WITHOUT_PASSWORD = "authentication: none"
SETTLED_S = 5.0
"""Wait after the restart of keepalived: it has passed its checks, and has seen the holder."""

Event = Callable[[Lab, str], Callable[[], None]]


def power_cut(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).power_cut()

    def start() -> None:
        lab.wait_for(**{holder: "down"}, timeout_s=60)
        lab.node(holder).start()

    return start


def partition(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).partition()
    return lambda: lab.node(holder).heal()


def proxy_stopped(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).docker("kill", container_of(lab.node(holder), "main_proxy"))
    return lambda: None


def proxy_frozen(lab: Lab, holder: str) -> Callable[[], None]:
    proxy = container_of(lab.node(holder), "main_proxy")
    lab.node(holder).docker("pause", proxy)
    return lambda: lab.node(holder).docker("unpause", proxy) and None


def keepalived_killed(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).docker("kill", container_of(lab.node(holder), "main_vip"))
    return lambda: None


def keepalived_stopped(lab: Lab, holder: str) -> Callable[[], None]:
    lab.node(holder).docker("stop", container_of(lab.node(holder), "main_vip"))
    return lambda: None


EVENTS: dict[str, Event] = {
    "node power cut": power_cut,
    "proxy stopped": proxy_stopped,
    "node partitioned": partition,
    "proxy frozen": proxy_frozen,
    "keepalived killed": keepalived_killed,
    "keepalived stopped": keepalived_stopped,
}


def bench_vip(lab: Lab, directory: Path) -> None:
    """Measure with the defaults: a password, so version 2 and an advert a second."""
    bench(lab, directory, "password, 1 s", "")


def bench_vip_fine(lab: Lab, directory: Path) -> None:
    """Measure without a password: version 3, an advert each 300 ms."""
    bench(lab, directory, "no password, 300 ms", WITHOUT_PASSWORD)


def bench(lab: Lab, directory: Path, which: str, further: str) -> None:
    publish(lab.registry, ["vip"], lab.settings)
    lab.reset()
    operator = RunningOperator(lab, directory)
    operator.write(vip_manifest(lab, further))
    operator.start()
    try:
        operator.wait_converged()
    finally:
        operator.stop()  # swarm and keepalived are alone from here on
    for name, event in EVENTS.items():
        gaps: list[float] = []
        together: list[float] = []
        loads: list[float] = []
        for _ in range(RUNS):
            gap_s, together_s = measure(lab, vip_address(lab), event)
            gaps.append(gap_s)
            together.append(together_s)
            loads.append(os.getloadavg()[0])
        print(
            f"{which}; {name}: away {spread(gaps, 's', 2)}; "
            f"two holders that could hear each other at most {max(together):.2f} s; "
            f"load {min(loads):.1f} to {max(loads):.1f}",
            flush=True,
        )


def measure(lab: Lab, address: str, event: Event) -> tuple[float, float]:
    """Seconds without an answer, and seconds with two holders that could hear each other."""
    with AddressWatch(lab, address, MEMBER_NODES) as watch:
        eventually(lambda: is_settled(lab, watch), "one holder, and a proxy on each node", 120)
        time.sleep(SETTLED_S)
        (holder,) = watch.holders
        began = time.monotonic()
        mend = event(lab, holder)
        spared = frozenset({holder} if event is partition else ())
        eventually(
            lambda: (
                watch.holders - spared - {holder}
                and watch.answers
                and watch.gap_s(began) > 0
                and watch.answers_since(time.monotonic() - 0.5) > 5
            ),
            "answers from another holder",
            60,
        )
        gap_s = watch.gap_s(began)
        together_s = watch.together_s(began, spared)
        mended = time.monotonic()
        mend()
        eventually(lambda: is_settled(lab, watch), "one holder again", 120)
        return gap_s, max(together_s, watch.together_s(mended))


def is_settled(lab: Lab, watch: AddressWatch) -> bool:
    services = ("main_proxy", "main_vip")
    runs = all(container_of(lab.node(n), name) for n in MEMBER_NODES for name in services)
    return runs and len(watch.holders) == 1 and watch.answers_since(time.monotonic() - 1) > 5
