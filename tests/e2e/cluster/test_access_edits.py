"""The members' ports and the REST API's password are edited on a running cluster; a writer watches.

Its client knows the proxies of all nodes, as the guide asks of one. Each edit rolls every member,
with one move of the lead, which the operator asks of a leader that still has its former port and
password.
"""

from __future__ import annotations

import socket
import time
from functools import partial

import httpx
import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    QUICK_PROXIES,
    connect,
    eventually,
    quick_manifest,
    service,
)
from tests.e2e.writer import Writer, writing
from tests.lab.lab import Lab
from tests.support import web

pytestmark = [pytest.mark.lab, pytest.mark.images]

MEMBERS = ("main_member-1", "main_member-2", "main_member-3")
GAP_S = 5.0
"""One move of the lead, while another lab may be deployed beside this one. These rollouts are
long: the other lab does not wait for them."""
ROLLED_S = 300.0
RAFT_HOLD = "write raft: 5010 again"


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    return quick_manifest(lab, QUICK_PROXIES)


def write(deployment: Deployment, fields: str) -> int:
    """Write the usual manifest with these lines of spec; gives the number of outcomes before."""
    operator = deployment.operator
    known, passes = len(operator.audit("outcome")), len(list(operator.passes()))
    operator.write(quick_manifest(deployment.lab, QUICK_PROXIES + fields))
    operator.wait_for(
        lambda: any(p["trigger"] == "file" for p in list(operator.passes())[passes:]),
        "the edit to be read",
    )
    return known


def done(deployment: Deployment, since: int) -> list[str]:
    return deployment.operator.done(since)


def is_whole_on(lab: Lab, port: int) -> bool:
    """One leader and two streaming replicas, by what the members say on this port."""
    try:
        found = [
            web.get(f"http://{lab.node(node).address}:{port}/patroni", timeout=2).json()
            for node in MEMBER_NODES
        ]
    except (httpx.HTTPError, ValueError):
        return False
    streaming = [m for m in found if m.get("replication_state") == "streaming"]
    return len(streaming) == 2 and sum(m.get("role") == "primary" for m in found) == 1


def rolled(deployment: Deployment, since: int, port: int, *, settled: bool = True) -> list[str]:
    """The steps of the rollout, once every member has been updated and all is well again; with
    ``settled`` also nothing is left to do or held."""

    def is_over() -> bool:
        steps = done(deployment, since)
        return all(f"update-service/{name}" in steps for name in MEMBERS) and is_whole_on(
            deployment.lab, port
        )

    eventually(is_over, "every member to be updated", ROLLED_S)
    if settled:
        last = len(list(deployment.operator.passes()))
        deployment.operator.wait_converged(since=last - 1, timeout_s=ROLLED_S)
    steps = done(deployment, since)
    return [step for step in steps if step.startswith(("update-service/", "switchover/"))]


def listens(lab: Lab, port: int) -> bool:
    try:
        socket.create_connection((lab.node("node2").address, port), timeout=2).close()
    except OSError:
        return False
    return True


def asks_for_password(url: str, expected: bool) -> bool:
    """True if a write without a password is refused or taken as expected."""
    try:
        answer = web.patch(url, json={"note": None}, timeout=5)
    except httpx.HTTPError:
        return False
    return (answer.status_code == httpx.codes.UNAUTHORIZED) == expected


def gaps_told(writer: Writer, began: float, what: str) -> list[float]:
    gaps = writer.gaps_s(began)
    each = ", ".join(f"{gap:.2f}" for gap in gaps) or "no gap"
    print(f"{what}: {sum(gaps):.2f} s without a write in all ({each})")
    return gaps


def one_move(steps: list[str]) -> bool:
    """Replicas first, then the lead moves once, then the former leader."""
    members = [step for step in steps if step != "update-service/main_proxy"]
    return len(members) == 4 and members[2] == "switchover/main"


@pytest.fixture
def ready(deployment: Deployment) -> Deployment:
    """The deployment, converged again; each test says on which port its members answer."""
    last = len(list(deployment.operator.passes()))
    deployment.operator.wait_converged(since=max(0, last - 1), timeout_s=180)
    return deployment


@pytest.mark.timeout(600)
def test_other_ports_and_another_password_cost_one_move_of_the_lead(ready: Deployment) -> None:
    """In one edit: the leader is asked on its former port, with its former password."""
    lab = ready.lab
    with writing(lab, "node2", "ports", MEMBER_NODES) as writer:
        began = time.monotonic()
        ports = "  ports: {postgresql: 15432, restApi: 18008}\n"
        since = write(ready, f"{ports}  secrets: {{restApi: other_rest_pw}}\n")
        steps = rolled(ready, since, 18008)
        gaps = gaps_told(writer, began, "both ports and the secret changed")
    assert one_move(steps), steps
    assert steps.count("update-service/main_proxy") == 2
    assert steps[0] == steps[-1] == "update-service/main_proxy"
    assert max(gaps, default=0.0) < GAP_S
    assert not listens(lab, 5432)
    assert not listens(lab, 8008)
    mounted = service(lab, "main_member-1")["Spec"]["TaskTemplate"]["ContainerSpec"]["Secrets"]
    assert "other_rest_pw" in [item["SecretName"] for item in mounted]


@pytest.mark.timeout(900)
def test_the_rest_api_loses_its_password_and_gets_another_one(ready: Deployment) -> None:
    """The first edit has one port back, and another raft port, which is held and holds up nothing
    else; the second changes only the password."""
    lab, operator = ready.lab, ready.operator
    url = f"http://{lab.node('node2').address}:8008/config"
    for authentication, raft, refused in (("none", ", raft: 15010", False), ("basic", "", True)):
        fields = f"  restApi: {{authentication: {authentication}}}\n"
        with writing(lab, "node4", authentication, MEMBER_NODES) as writer:
            began = time.monotonic()
            since = write(ready, f"  ports: {{postgresql: 15432{raft}}}\n{fields}")
            if raft:
                eventually(lambda: RAFT_HOLD in operator.holds().get("ports/main", ""), "a hold")
            steps = rolled(ready, since, 8008, settled=not raft)
            gaps = gaps_told(writer, began, f"authentication {authentication}")
        assert one_move(steps), steps
        assert max(gaps, default=0.0) < GAP_S
        in_force = partial(asks_for_password, url, refused)
        eventually(in_force, f"authentication {authentication}", 60)
        assert listens(lab, 5010)
        assert not listens(lab, 15010)
    eventually(lambda: "ports/main" not in operator.holds(), "the hold to go")
    with connect(lab, "node2") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
