"""The write gap of a planned move: ours, `patronictl switchover`, and the floor at the members.

Ours is the whole way: the owner names another `primary` in the file, the operator does the rest.

Clients write each 20 ms through port 5000 of a node whose member does not move, and at the same
time directly at the members, which is the floor. Moves take turns on one cluster, whose proxies
have the contract's checks; before each, all is whole and every proxy's checks are settled.
"""

from __future__ import annotations

import csv
import io
import random
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.bench.figures import spread
from tests.bench.running import converged
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    container_of,
    eventually,
    is_whole,
    leader_node,
    manifest,
    read_secret,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab
from tests.support import web

RUNS = 20
CLIENT_NODE = MEMBER_NODES[2]
MOVING = dict(zip(MEMBER_NODES[:2], ("member-1", "member-2"), strict=True))
CHECKS_S = 10.0
"""Three failed checks, three seconds apart: then HAProxy has the new roles everywhere."""

WITHDRAWN_S = 2.0

SwitchoverRequest = Callable[[Lab, str, str], None]


def bench_switchover(lab: Lab, directory: Path) -> None:
    lab.reset()
    operator = converged(lab, directory)
    random_delay = random.Random(0)  # moves fall anywhere between two checks
    gaps: dict[str, list[float]] = {"patronictl": [], "ours": []}
    floors: dict[str, list[float]] = {"patronictl": [], "ours": []}

    def by_edit(lab: Lab, source: str, target: str) -> None:
        """Name another primary in the file. An earlier `primary` is removed first, because the
        operator does not move the leader again for a value that it has fulfilled."""
        operator.write(manifest(lab))
        time.sleep(WITHDRAWN_S)
        operator.write(manifest(lab, f"  primary: {MOVING[target]}\n"))

    try:
        for run in range(RUNS):
            for name, move in (("patronictl", by_patronictl), ("ours", by_edit)):
                time.sleep(random_delay.uniform(0, 3))
                gap, floor = measure(lab, move)
                gaps[name].append(gap)
                floors[name].append(floor)
                print(f"   run {run + 1}: {name} {gap:.2f} s (members {floor:.2f} s)", flush=True)
    finally:
        operator.stop()
    print(f"patronictl switchover {spread(gaps['patronictl'], 's', 2)}")
    print(f"ours, by an edit      {spread(gaps['ours'], 's', 2)}")
    print(f"floor, at the members {spread(floors['ours'], 's', 2)} (ours)")
    print(f"                      {spread(floors['patronictl'], 's', 2)} (patronictl)")


def measure(lab: Lab, move: SwitchoverRequest) -> tuple[float, float]:
    """Seconds without a write through the proxy, and at the members, in one move."""
    settle(lab)
    source = leader_node(lab)
    target = next(node for node in MOVING if node != source)
    now = time.time_ns()
    with (
        Writer(lab, CLIENT_NODE, f"proxy {now}") as through_proxy,
        Writer(lab, CLIENT_NODE, f"members {now}", members=MEMBER_NODES) as at_members,
    ):
        time.sleep(0.5)
        began = time.monotonic()
        move(lab, source, target)
        eventually(lambda: leader_node(lab) == target, f"{MOVING[target]} to lead", 60)
        moved = time.monotonic()
        eventually(lambda: through_proxy.rows[-1][1] > moved, "a write after the move", 60)
        time.sleep(1)
    return through_proxy.longest_gap_s(began), at_members.longest_gap_s(began)


def by_patronictl(lab: Lab, source: str, target: str) -> None:
    node, service = lab.node(source), f"main_{MOVING[source]}"
    command = ("patronictl", "-c", "/tmp/patroni.yml", "switchover", "--force")
    node.docker("exec", container_of(node, service), *command, "--candidate", MOVING[target])


def rest(lab: Lab, node: str) -> httpx.Client:
    """A member's REST API, with its credentials."""
    credentials = ("queenright", read_secret(lab, "pg_rest_pw"))
    url = f"http://{lab.node(node).address}:8008"
    return httpx.Client(base_url=url, auth=credentials, timeout=10)


def settle(lab: Lab) -> None:
    """Wait until all is whole, and the proxies' checks have found the roles by themselves."""
    eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0", 120)
    if leader_node(lab) == CLIENT_NODE:
        body = {"leader": "member-3", "candidate": "member-1"}
        rest(lab, CLIENT_NODE).post("/switchover", json=body, timeout=60).raise_for_status()
        eventually(lambda: is_whole(lab), "the cluster whole again", 120)
    leader = MOVING[leader_node(lab)]
    eventually(
        lambda: all(servers_up(lab, node) == [leader] for node in MEMBER_NODES),
        f"every proxy to route to {leader} alone",
        60,
    )
    time.sleep(CHECKS_S)


def servers_up(lab: Lab, node: str) -> list[str]:
    """The servers that a node's proxy uses for port 5000."""
    try:
        page = web.get(f"http://{lab.node(node).address}:7000/;csv", timeout=2).text
    except httpx.HTTPError:
        return []
    rows = csv.DictReader(io.StringIO(page.removeprefix("# ")))
    return [
        row["svname"]
        for row in rows
        if row["pxname"] == "primary"
        and row["svname"] not in ("FRONTEND", "BACKEND")
        and row["status"].startswith("UP")
    ]
