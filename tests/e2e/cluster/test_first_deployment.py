"""A first deployment on a bare swarm, and its service to clients (spec: §2.7, §4.2, §8)."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass

import psycopg
import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    cluster_table,
    connect,
    container_of,
    eventually,
    fetch,
    manifest,
    read_secret,
    service,
    versions,
)
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]

MIB = 1 << 20
GIB = 1 << 30
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    """The contract's timings are among what these tests are about."""
    return manifest(lab)


@pytest.fixture(scope="module")
def resync_s() -> None:
    """Its own interval: these tests are about what the operator does when nothing happens."""


@dataclass(frozen=True)
class Idle:
    """The swarm's versions and the number of audit records, and since when (monotonic)."""

    versions: dict[str, int]
    audited: int
    since: float


@pytest.fixture(scope="module", autouse=True)
def idle(deployment: Deployment) -> Idle:
    """The beginning of the idle minute: these tests change nothing in the swarm."""
    last = len(list(deployment.operator.passes()))
    deployment.operator.wait_converged(since=last - 1)
    audited = len(deployment.operator.actions())
    return Idle(versions(deployment.lab), audited, time.monotonic())


def test_one_leader_on_timeline_1_and_two_replicas_with_lag_0(deployment: Deployment) -> None:
    members = {member["name"]: member for member in cluster_table(deployment.lab)}
    assert set(members) == {"member-1", "member-2", "member-3"}
    assert {member["timeline"] for member in members.values()} == {1}
    roles = {name: member["role"] for name, member in members.items()}
    # The preferred member leads first (spec: §1.7).
    assert roles == {"member-1": "leader", "member-2": "replica", "member-3": "replica"}
    assert [m["lag"] for m in members.values() if m["role"] == "replica"] == [0, 0]


@pytest.mark.parametrize("node", MEMBER_NODES)
def test_port_5000_of_every_proxy_node_writes(deployment: Deployment, node: str) -> None:
    def write() -> bool:
        try:
            with connect(deployment.lab, node) as connection:
                connection.execute("create table if not exists seen (node text)")
                connection.execute("insert into seen values (%s)", [node])
        except psycopg.OperationalError:
            return False
        return True

    eventually(write, f"a write through {node}:5000")


@pytest.mark.parametrize("node", MEMBER_NODES)
def test_port_5001_is_read_only_and_reaches_both_replicas_in_turn(
    deployment: Deployment, node: str
) -> None:
    def member_and_recovery() -> tuple[str, bool] | None:
        try:
            with connect(deployment.lab, node, 5001) as connection:
                row = connection.execute(
                    "select trim(pg_read_file('/etc/hostname'), E'\\n'), pg_is_in_recovery()"
                ).fetchone()
                assert row
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    connection.execute("create table never (i int)")
                return str(row[0]), bool(row[1])
        except psycopg.OperationalError:
            return None

    def reached() -> set[tuple[str, bool]]:
        found = {member_and_recovery() for _ in range(4)}
        return {item for item in found if item}

    found = eventually(lambda: r if len(r := reached()) == 2 else None, "both replicas in turn")
    assert {recovery for _, recovery in found} == {True}


def test_the_statistics_page_denies_an_outside_source(deployment: Deployment) -> None:
    url = f"http://{deployment.lab.node('node3').address}:7000/"
    inside = fetch(deployment.lab.client("host"), url)
    outside = fetch(deployment.lab.client("outside"), url)
    assert (inside["status"], outside["status"]) == (200, 403)
    assert inside["headers"]["refresh"] == "5"
    assert "Statistics Report" in inside["text"]


def test_a_member_service_has_every_property_of_the_contract(deployment: Deployment) -> None:
    spec = service(deployment.lab, "main_member-2")["Spec"]
    task = spec["TaskTemplate"]
    container = task["ContainerSpec"]
    assert container["Hostname"] == "member-2"
    assert task["Networks"][0]["Aliases"] == ["member-2"]
    assert spec["EndpointSpec"]["Mode"] == "dnsrr"
    ports = {
        (p["PublishedPort"], p["TargetPort"], p["PublishMode"])
        for p in spec["EndpointSpec"]["Ports"]
    }
    assert ports == {(5432, 5432, "host"), (8008, 8008, "host"), (5010, 5010, "host")}
    assert task["Placement"]["Constraints"] == ["node.labels.pg-node==2"]
    mounts = {m["Target"]: m for m in container["Mounts"]}
    assert mounts["/home/postgres/pgdata"]["Source"] == "main_member-2-data"
    assert mounts["/home/postgres/raft"]["Source"] == "main_member-2-raft"
    tmpfs = {t: m["TmpfsOptions"]["SizeBytes"] for t, m in mounts.items() if m["Type"] == "tmpfs"}
    assert tmpfs == {"/tmp": 64 * MIB, "/run": 16 * MIB, "/var/run/postgresql": 8 * MIB}
    template = container["Configs"][0]["File"]
    assert template == {
        "Name": "/etc/patroni/patroni.yml.tpl",
        "UID": "999",
        "GID": "999",
        "Mode": 0o400,
    }
    assert {(s["File"]["UID"], s["File"]["Mode"]) for s in container["Secrets"]} == {("999", 0o400)}
    check = container["Healthcheck"]
    assert (check["Interval"], check["Timeout"]) == (10 * SECOND, 5 * SECOND)
    assert (check["StartPeriod"], check["Retries"]) == (30 * SECOND, 3)
    assert task["Resources"]["Limits"]["MemoryBytes"] == 2 * GIB
    assert task["Resources"]["Reservations"]["MemoryBytes"] == 512 * MIB
    restart = task["RestartPolicy"]
    assert (restart["Condition"], restart["MaxAttempts"]) == ("on-failure", 5)
    assert (restart["Delay"], restart["Window"]) == (10 * SECOND, 60 * SECOND)
    assert spec["UpdateConfig"]["Order"] == "stop-first"
    assert container["StopGracePeriod"] > 10 * SECOND


def test_the_proxy_service_has_every_property_of_the_contract(deployment: Deployment) -> None:
    spec = service(deployment.lab, "main_proxy")["Spec"]
    container = spec["TaskTemplate"]["ContainerSpec"]
    assert "Global" in spec["Mode"]
    assert container["ReadOnly"] is True
    assert spec["TaskTemplate"]["Placement"]["Constraints"] == ["node.labels.pg-ha-node==true"]
    config = container["Configs"][0]["File"]
    assert (config["Name"], config["Mode"]) == ("/usr/local/etc/haproxy/haproxy.cfg", 0o444)
    tmpfs = {m["Target"]: m["TmpfsOptions"]["SizeBytes"] for m in container["Mounts"]}
    assert tmpfs == {"/tmp": 16 * MIB, "/run": 8 * MIB}
    resources = spec["TaskTemplate"]["Resources"]
    assert resources["Limits"]["MemoryBytes"] == 64 * MIB
    assert resources["Reservations"]["MemoryBytes"] == 16 * MIB
    restart = spec["TaskTemplate"]["RestartPolicy"]
    assert (restart["Condition"], restart["Delay"]) == ("on-failure", 5 * SECOND)
    ports = {(p["PublishedPort"], p["PublishMode"]) for p in spec["EndpointSpec"]["Ports"]}
    assert ports == {(5000, "host"), (5001, "host"), (7000, "host")}


def test_secrets_are_32_random_bytes_in_base64_and_appear_nowhere_else(
    deployment: Deployment,
) -> None:
    names = ("pg_replication_pw", "pg_superuser_pw", "pg_rest_pw")
    values = [read_secret(deployment.lab, name) for name in names]
    assert len(set(values)) == len(names)
    said = "".join(deployment.operator.lines)
    swarm = deployment.lab.manager.docker(
        "service", "inspect", "main_member-1", "main_proxy"
    ).stdout
    swarm += deployment.lab.manager.docker(
        "config", "inspect", *deployment.lab.manager.docker("config", "ls", "-q").stdout.split()
    ).stdout
    logs = ""
    for number, node in enumerate(MEMBER_NODES, start=1):
        container = container_of(deployment.lab.node(node), f"main_member-{number}")
        result = deployment.lab.node(node).docker("logs", container)
        logs += result.stdout + result.stderr
        logs += deployment.lab.node(node).exec("ps", "axww", "-o", "args").stdout
    for value in values:
        assert value == value.strip()
        assert len(base64.b64decode(value, validate=True)) == 32
        for place in (said, swarm, logs):
            assert value not in place


def test_an_idle_minute_sees_no_write_at_all(idle: Idle, deployment: Deployment) -> None:
    time.sleep(max(0.0, idle.since + 60 - time.monotonic()))
    after = versions(deployment.lab)
    # A node's own status moves its index; the operator's writes would move its labels.
    assert {k: v for k, v in after.items() if not k.startswith("node/")} == {
        k: v for k, v in idle.versions.items() if not k.startswith("node/")
    }
    assert len(deployment.operator.actions()) == idle.audited
    passes = list(deployment.operator.passes())[-3:]
    assert all(found["converged"] for found in passes)
    assert max(found["api_calls"] for found in passes) <= 8
