"""Day two by editing the file: the lead moves, updates roll, settings change; a writer watches.

One cluster and one operator for all; each test leaves a whole cluster behind.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    eventually,
    is_whole,
    leader_node,
    patroni,
    quick_manifest,
    read_secret,
    service,
)
from tests.e2e.writer import STALL_S, writing
from tests.lab.settings import LabError
from tests.support import web

pytestmark = [pytest.mark.lab, pytest.mark.images]

MEMBER_OF = {"node2": "member-1", "node3": "member-2", "node4": "member-3"}
NODE_OF = {member: node for node, member in MEMBER_OF.items()}


BUSY_S = 1.0
"""A pause up to this long may be a machine on which other labs work; a leader that PostgreSQL
restarts in place is away for longer."""

AWAY_S = 28.0
"""Longer than the life of the leader lock (20 s) and a round of Patroni's loop."""

KEPT: dict[str, str] = {}
"""Fields that stay in the file once a test has set them: taking them out would roll it all back,
and lowering max_connections needs a restart of the primary in place."""


def edit(deployment: Deployment, **fields: str) -> int:
    """Write the usual manifest with further fields of spec, each a YAML flow value; gives the
    number of audited outcomes before it."""
    operator = deployment.operator
    lines = [f"  {name}: {value}\n" for name, value in {**KEPT, **fields}.items()]
    text = quick_manifest(deployment.lab, "".join(lines))
    known, passes = len(operator.audit("outcome")), len(list(operator.passes()))
    if text != (operator.manifests / "cluster.yaml").read_text():
        operator.write(text)
        operator.wait_for(
            lambda: any(p["trigger"] == "file" for p in list(operator.passes())[passes:]),
            "the edit to be read",
        )
    return known


def done(deployment: Deployment, since: int) -> list[str]:
    return deployment.operator.done(since)


def moves(deployment: Deployment, since: int) -> int:
    return done(deployment, since).count("switchover/main")


def leads(deployment: Deployment, member: str) -> None:
    eventually(lambda: leader_node(deployment.lab) == NODE_OF[member], f"{member} to lead", 90)


def whole_again(deployment: Deployment, timeout_s: float = 180) -> None:
    """Whole, and nothing left to do in the operator's last pass."""
    eventually(lambda: is_whole(deployment.lab), "a whole cluster", timeout_s)
    last = len(list(deployment.operator.passes()))
    deployment.operator.wait_converged(since=last - 1, timeout_s=timeout_s)


@pytest.fixture(autouse=True)
def plain_at_the_end(deployment: Deployment) -> Iterator[None]:
    yield
    deployment.lab.mend()  # Nodes that a failed test left off.
    edit(deployment)
    whole_again(deployment)


def looks_again(deployment: Deployment, times: int) -> None:
    """Wait for so many further passes that find all as desired or hold something."""
    seen = len(list(deployment.operator.passes()))
    deployment.operator.wait_for(
        lambda: len(list(deployment.operator.passes())) > seen + times, f"{times} passes", 90
    )


def other_than_the_leader(deployment: Deployment) -> str:
    leading = leader_node(deployment.lab)
    return next(MEMBER_OF[node] for node in MEMBER_NODES if node != leading)


@pytest.mark.quiet
def test_the_lead_moves_to_the_desired_primary(settled: Deployment) -> None:
    wanted = other_than_the_leader(settled)
    with writing(settled.lab, "node2", "wish") as writer:
        began = time.monotonic()
        since = edit(settled, primary=wanted)
        leads(settled, wanted)
        whole_again(settled)
        gaps = writer.gaps_s(began)
    assert moves(settled, since) == 1
    assert len(long(gaps)) <= 1, gaps
    assert sum(gaps) < 3, gaps
    # The last one: at a first deployment the operator may have moved the leader by itself.
    *_, record = (r for r in settled.operator.audit("intent") if "switchover" in r["action"]["key"])
    assert record["trigger"]["file"].endswith("cluster.yaml")


def test_a_failover_is_not_fought(settled: Deployment) -> None:
    lab, wanted = settled.lab, MEMBER_OF[leader_node(settled.lab)]
    edit(settled, primary=wanted)
    whole_again(settled)
    other = other_than_the_leader(settled)
    since = len(settled.operator.audit("outcome"))
    password = read_secret(lab, "pg_rest_pw")
    web.post(
        f"http://{lab.node(NODE_OF[wanted]).address}:8008/switchover",
        json={"leader": wanted, "candidate": other},
        auth=("queenright", password),
        timeout=30,
    ).raise_for_status()
    leads(settled, other)
    text = f"leader is {other}; spec.primary is {wanted}; no switchover because "
    text += "failback.mode is manual"
    eventually(lambda: settled.operator.holds().get("primary/main") == text, "the hold", 60)
    looks_again(settled, 3)
    assert moves(settled, since) == 0


@pytest.mark.quiet
def test_an_image_change_rolls_with_one_move_of_the_lead(settled: Deployment) -> None:
    lab = settled.lab
    with writing(lab, "node3", "rollout") as writer:
        began = time.monotonic()
        since = edit(settled, stopGracePeriod="90s")
        eventually(
            lambda: all(grace_s(settled, f"main_{member}") == 90 for member in NODE_OF),
            "every member's service to be updated",
            240,
        )
        whole_again(settled)
        gaps = writer.gaps_s(began)
    print(told_of(gaps, "an image"))
    steps = [key for key in done(settled, since) if key.startswith(("update-", "switchover"))]
    assert len(steps) == 4
    assert steps.index("switchover/main") == 2
    assert len(long(gaps)) <= 1, gaps
    KEPT["stopGracePeriod"] = "90s"


def long(gaps: list[float]) -> list[float]:
    """The pauses that a busy machine alone does not explain."""
    return [gap for gap in gaps if gap > BUSY_S]


def told_of(gaps: list[float], what: str) -> str:
    """Return the cost of a rolling update of three members, in one line."""
    each = ", ".join(f"{gap:.2f}" for gap in gaps)
    return f"{what} rolled: {sum(gaps):.2f} s without a write in all ({each or 'no gap'})"


def grace_s(deployment: Deployment, name: str) -> int:
    spec = service(deployment.lab, name)["Spec"]["TaskTemplate"]["ContainerSpec"]
    return int(spec["StopGracePeriod"]) // 1_000_000_000


@pytest.mark.quiet
def test_a_parameter_that_needs_a_restart_is_rolled(settled: Deployment) -> None:
    lab = settled.lab
    KEPT["postgresql"] = "{parameters: {max_connections: 210, work_mem: 5MB}}"
    with writing(lab, "node4", "restart") as writer:
        began = time.monotonic()
        since = edit(settled)
        eventually(lambda: parameter(settled, "max_connections") == ["210"] * 3, "210", 240)
        whole_again(settled)
        gaps = writer.gaps_s(began)
    print(told_of(gaps, "a parameter that needs a restart"))
    assert parameter(settled, "work_mem") == ["5MB"] * 3
    assert done(settled, since).count("settings/main") == 1
    assert moves(settled, since) == 1
    assert len(long(gaps)) <= 1, gaps
    assert not [key for key in done(settled, since) if key.startswith("update-service/main_member")]


def parameter(deployment: Deployment, name: str) -> list[str]:
    """A parameter as every member's server has it."""
    found = []
    for node in MEMBER_NODES:
        try:
            with connect(deployment.lab, node, 5432) as connection:
                row = connection.execute(f"SHOW {name}").fetchone()
        except (psycopg.Error, AssertionError, LabError):
            return []
        found.append(str(row[0]) if row else "")
    return found


def test_settings_of_the_running_cluster_follow_the_file(settled: Deployment) -> None:
    since = edit(
        settled,
        patroni="{ttl: 24s, loopWait: 6s, retryTimeout: 6s}",
        postgresql="{parameters: {max_connections: 210, work_mem: 5MB}, accessRules: "
        "['host reporting report 192.168.20.0/24 scram-sha-256']}",
    )
    address = settled.lab.node("node2").address

    def config() -> dict[str, object]:
        found: dict[str, object] = web.get(f"http://{address}:8008/config", timeout=3).json()
        return found

    eventually(lambda: config()["ttl"] == 24, "ttl 24", 60)
    rules = config()["postgresql"]["pg_hba"]  # type: ignore[index]
    assert rules[7] == "host reporting report 192.168.20.0/24 scram-sha-256"
    assert rules[8].split()[-1] == "reject"
    whole_again(settled)
    assert not [key for key in done(settled, since) if key.startswith(("update-", "switchover"))]


@pytest.mark.quiet
def test_two_nodes_are_powered_off_and_writes_go_on(settled: Deployment) -> None:
    lab = settled.lab
    staying = leader_node(lab)
    away = [node for node in MEMBER_NODES if node != staying]
    with writing(lab, staying, "maintenance") as writer:
        began = time.monotonic()
        edit(settled, maintenance=f"{{nodes: [{', '.join(away)}]}}")
        safe = f"safe to power off: {', '.join(away)}"
        eventually(lambda: safe in settled.operator.holds().get("maintenance/main", ""), safe, 90)
        for node in away:
            lab.node(node).power_cut()
        time.sleep(AWAY_S)
        assert not writer.gaps_s(began, STALL_S)
        for node in away:
            lab.node(node).start()
        eventually(lambda: {*away} <= {*paused_nodes(settled)}, "members back", 120)
        edit(settled)
        eventually(
            lambda: not any(patroni(lab, n).get("pause") for n in MEMBER_NODES), "resume", 120
        )
        whole_again(settled)
        assert not writer.gaps_s(began, STALL_S)
    assert leader_node(lab) == staying


def paused_nodes(deployment: Deployment) -> list[str]:
    return [node for node in MEMBER_NODES if patroni(deployment.lab, node).get("pause")]


@pytest.mark.quiet
def test_the_canary_tells_the_gap_of_a_move(settled: Deployment) -> None:
    wanted = other_than_the_leader(settled)
    edit(settled, canary="{enabled: true}")
    eventually(lambda: canary_writes(settled), "the canary's rows", 60)
    edit(settled, canary="{enabled: true}", primary=wanted)
    leads(settled, wanted)
    eventually(lambda: settled.operator.audit("measured"), "the measurement", 60)
    found = settled.operator.audit("measured")[-1]
    assert found["leader"] == wanted
    assert found["cause"] == "planned: primary"
    assert 200 <= found["write_gap_ms"] < 5000
    assert found["lost_rows"] == 0


def canary_writes(deployment: Deployment) -> bool:
    try:
        with connect(deployment.lab, "node3") as connection:
            found = connection.execute(
                "SELECT 1 FROM pg_stat_activity WHERE usename = 'queenright_canary'"
            ).fetchone()
    except (psycopg.Error, AssertionError, LabError):
        return False
    return found is not None
