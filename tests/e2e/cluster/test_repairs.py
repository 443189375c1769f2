"""The operator restores what a person changes or removes by hand, field by field, and safely."""

from __future__ import annotations

import json
import time

import psycopg
import pytest

from tests.e2e.cluster.conftest import well_again
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import (
    connect,
    container_of,
    eventually,
    is_whole,
    leader_node,
    service,
)

pytestmark = [pytest.mark.lab, pytest.mark.images]

MEMBERS = {"node2": "main_member-1", "node3": "main_member-2", "node4": "main_member-3"}


def environment_of(deployment: Deployment, name: str) -> list[str]:
    found = service(deployment.lab, name)
    return list(found["Spec"]["TaskTemplate"]["ContainerSpec"].get("Env") or []) if found else []


def outcomes(deployment: Deployment, key: str, since: int) -> list[dict[str, object]]:
    found = deployment.operator.audit("outcome")[since:]
    return [record for record in found if record["action"]["key"] == key]


def replica_node(deployment: Deployment) -> str:
    leader = leader_node(deployment.lab)
    assert leader
    return next(node for node in MEMBERS if node != leader)


@pytest.fixture(scope="module")
def resync_s() -> None:
    """Its own interval: these tests are about what the operator does at an event."""


@pytest.mark.quiet
def test_a_removed_service_is_created_again_within_two_seconds(settled: Deployment) -> None:
    operator, since = settled.operator, len(settled.operator.audit("outcome"))
    removed_at = time.monotonic()
    settled.lab.manager.docker("service", "rm", "main_proxy")
    operator.wait_for(lambda: outcomes(settled, "create-service/main_proxy", since), "the proxy")
    took_s = operator.audit("outcome")[-1]["seen_at"] - removed_at
    assert took_s < 2
    eventually(lambda: container_of(settled.lab.node("node3"), "main_proxy"), "a proxy on node3")
    record = operator.audit("intent")[-1]
    assert record["trigger"]["kind"] == "docker"
    assert record["reason"]


def test_a_replicas_environment_is_put_back(settled: Deployment) -> None:
    node = replica_node(settled)
    name, since = MEMBERS[node], len(settled.operator.audit("outcome"))
    settled.lab.manager.docker(
        "service", "update", "-d", "--env-add", "FAILOVER_PRIORITY=7", "--env-add", "ODD=1", name
    )
    settled.operator.wait_for(
        lambda: outcomes(settled, f"update-service/{name}", since), "the repair", 180
    )
    eventually(lambda: "ODD=1" not in environment_of(settled, name), "the environment")
    record = outcomes(settled, f"update-service/{name}", since)[0]
    # No task is disrupted if the change by hand has stopped it already.
    assert record["disturbs"] in {name, ""}
    changes = {change["path"]: (change["old"], change["new"]) for change in record["changes"]}  # type: ignore[attr-defined]
    assert changes["environment[FAILOVER_PRIORITY]"][0] == "7"
    assert changes["environment[ODD]"] == ("(set)", "(absent)")
    eventually(lambda: is_whole(settled.lab), "a whole cluster", 90)


def test_a_node_label_taken_away_is_given_back(settled: Deployment) -> None:
    node = replica_node(settled)
    settled.lab.manager.docker("node", "update", "--label-rm", "pg-node", node)
    since = len(settled.operator.audit("outcome"))
    settled.operator.wait_for(
        lambda: outcomes(settled, f"label-node/{node}", since), "the label", 10
    )
    well_again(settled)


def test_a_member_scaled_to_nothing_comes_back(settled: Deployment) -> None:
    name = MEMBERS[replica_node(settled)]
    since = len(settled.operator.audit("outcome"))
    settled.lab.manager.docker("service", "scale", "-d", f"{name}=0")
    settled.operator.wait_for(
        lambda: outcomes(settled, f"adjust-service/{name}", since), "the repair", 10
    )
    assert service(settled.lab, name)["Spec"]["Mode"]["Replicated"]["Replicas"] == 1
    well_again(settled)


def test_the_data_of_a_member_scaled_to_nothing_are_read_on_its_node(settled: Deployment) -> None:
    """The command needs no operator, which would bring the member back."""
    lab, operator, node = settled.lab, settled.operator, replica_node(settled)
    name = MEMBERS[node]
    since = len(operator.audit("outcome"))
    operator.stop()
    try:
        lab.manager.docker("service", "scale", "-d", f"{name}=0")
        eventually(lambda: container_of(lab.node(node), name) == "", "the member to stop", 60)
        found = operator.command("data-end", "--json")
    finally:
        operator.start()
    print(found.stdout, found.stderr)
    assert found.returncode == 0
    told = json.loads(found.stdout)
    ends = {f"main_{row['member']}": row for row in told["members"]}
    assert ends[name]["source"] == "volume"
    assert {row["timeline"] for row in ends.values()} == {ends[name]["timeline"]}
    assert ends[name]["behind_bytes"] is not None
    assert MEMBERS[leader_node(lab)].removeprefix("main_") in told["furthest"]
    assert not service(lab, f"main_data-end_{name.removeprefix('main_')}")
    operator.wait_for(lambda: outcomes(settled, f"adjust-service/{name}", since), "the repair", 30)
    well_again(settled)


def test_a_hand_stopped_proxy_comes_back_in_seconds(settled: Deployment) -> None:
    node = settled.lab.node("node3")
    container = container_of(node, "main_proxy")
    node.docker("stop", container)
    began = time.monotonic()
    eventually(lambda: container_of(node, "main_proxy") not in ("", container), "a new proxy", 30)
    assert time.monotonic() - began < 15


def test_a_hand_stopped_member_is_started_again(settled: Deployment) -> None:
    node = replica_node(settled)
    name = MEMBERS[node]
    container = container_of(settled.lab.node(node), name)
    settled.lab.node(node).docker("stop", container)
    eventually(lambda: container_of(settled.lab.node(node), name) not in ("", container), name, 60)
    well_again(settled)


def test_a_removed_leader_service_comes_back_with_its_data(settled: Deployment) -> None:
    lab = settled.lab
    leader = leader_node(lab)
    with connect(lab, "node3") as connection:
        connection.execute("create table kept as select 1 as one")
    lab.manager.docker("service", "rm", MEMBERS[leader])
    eventually(lambda: service(lab, MEMBERS[leader]), "the service", 10)
    well_again(settled)

    def read() -> object:
        """Nothing while the proxy leads to nobody."""
        try:
            with connect(lab, "node3") as connection:
                return connection.execute("select one from kept").fetchone()
        except psycopg.OperationalError:
            return None

    assert eventually(read, "the row", 60) == (1,)
