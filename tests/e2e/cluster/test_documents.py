"""Editing the file is the interface: good edits, bad edits, and documents that are removed."""

from __future__ import annotations

import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.swarm_facts import (
    QUICK_PROXIES,
    cluster_labels,
    container_of,
    eventually,
    quick_manifest,
    service,
    versions,
)
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]


def objects(lab: Lab) -> dict[str, int]:
    return {key: at for key, at in versions(lab).items() if not key.startswith("node/")}


@pytest.fixture(scope="module")
def resync_s() -> None:
    """Its own interval: these tests are about what the operator does at an event."""


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    return quick_manifest(lab, QUICK_PROXIES)


def test_an_edit_is_told_with_its_file_and_line(settled: Deployment) -> None:
    operator, since = settled.operator, len(settled.operator.audit("intent"))
    text = quick_manifest(settled.lab, QUICK_PROXIES + "    maxConnections: 400\n")
    before = len(list(operator.passes()))
    operator.write(text)
    operator.wait_for(lambda: len(operator.audit("intent")) > since, "the edit's first action", 10)
    trigger = operator.audit("intent")[since]["trigger"]
    assert trigger["kind"] == "file"
    assert trigger["file"].endswith("cluster.yaml")
    line = text.splitlines().index("    maxConnections: 400") + 1
    assert trigger["line"] == line
    assert "spec.proxies.maxConnections: 500 -> 400" in trigger["detail"]
    operator.wait_converged(since=before + 1)
    node = settled.lab.node("node3")
    eventually(lambda: container_of(node, "main_proxy"), "the proxy")
    cfg = "/usr/local/etc/haproxy/haproxy.cfg"
    found = node.docker("exec", container_of(node, "main_proxy"), "cat", cfg).stdout
    assert "maxconn 400" in found


BAD_EDITS = {
    "half-written": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "not YAML": lambda text: text + "\n  : :\n- [",
    "unknown field": lambda text: text.replace("lanSubnet", "lanSubnett"),
    "even members": lambda text: "\n".join(x for x in text.splitlines() if "member-3" not in x),
}


@pytest.mark.parametrize("case", BAD_EDITS)
def test_an_invalid_edit_changes_nothing_that_runs(settled: Deployment, case: str) -> None:
    operator, good = settled.operator, (settled.operator.manifests / "cluster.yaml").read_text()
    before, audited = objects(settled.lab), len(operator.actions())
    passes = len(list(operator.passes()))
    operator.write(BAD_EDITS[case](good))
    try:
        operator.wait_for(
            lambda: any(p["problems"] for p in list(operator.passes())[passes:]), "the problem", 10
        )
        problem = list(operator.passes())[-1]["problems"][0]
        assert "cluster.yaml:" in problem
        assert objects(settled.lab) == before
        assert len(operator.actions()) == audited
    finally:
        operator.write(good)
    operator.wait_for(lambda: not list(operator.passes())[-1]["problems"], "the file mended", 10)
    assert objects(settled.lab) == before


def test_a_vanished_file_changes_nothing(settled: Deployment) -> None:
    operator, before = settled.operator, objects(settled.lab)
    path = operator.manifests / "cluster.yaml"
    good = path.read_text()
    path.unlink()
    try:
        operator.wait_for(lambda: list(operator.passes())[-1]["problems"], "the problem", 10)
        assert objects(settled.lab) == before
    finally:
        operator.write(good)
    operator.wait_for(lambda: not list(operator.passes())[-1]["problems"], "the file mended", 10)


def test_a_lost_service_is_repaired_while_the_file_is_invalid(settled: Deployment) -> None:
    operator, good = settled.operator, (settled.operator.manifests / "cluster.yaml").read_text()
    operator.write("kind: [")
    operator.wait_for(lambda: list(operator.passes())[-1]["problems"], "the problem", 10)
    settled.lab.manager.docker("service", "rm", "main_proxy")
    eventually(
        lambda: service(settled.lab, "main_proxy"), "the proxies, by the last good state", 10
    )
    operator.write(good)


def test_a_removed_document_is_held_until_its_policy_says_remove(settled: Deployment) -> None:
    """Last of this module: it ends with a bare swarm, but for volumes and secrets."""
    operator, lab = settled.operator, settled.lab
    before, text = objects(lab), (operator.manifests / "cluster.yaml").read_text()
    passes = len(list(operator.passes()))
    operator.write(unrelated(lab))
    operator.wait_for(
        lambda: "retire/main" in operator.holds() and len(list(operator.passes())) > passes,
        "the hold",
        10,
    )
    assert "deletionPolicy: remove" in operator.holds()["retire/main"]
    assert objects(lab) == before
    operator.write(text)

    policy = text + "  deletionPolicy: remove\n"
    operator.write(policy)
    eventually(lambda: anchor_policy(lab) == "remove", "the policy, noted in the swarm", 20)
    operator.write(unrelated(lab))
    eventually(lambda: not service(lab, "main_member-1"), "the services to go", 120)
    eventually(lambda: "main_" not in configs(lab), "the configs to go", 60)
    kept = lab.manager.docker("secret", "ls", "--format", "{{.Name}}").stdout.split()
    assert {"pg_replication_pw", "pg_superuser_pw", "pg_rest_pw"} <= set(kept)
    volumes = lab.node("node2").docker("volume", "ls", "-q").stdout.split()
    assert {"main_member-1-data", "main_member-1-raft"} <= set(volumes)
    reasons = " ".join(r["reason"] for r in operator.audit("intent"))
    assert "volume main_member-1-data" in reasons
    assert "secret pg_superuser_pw" in reasons


def configs(lab: Lab) -> str:
    return lab.manager.docker("config", "ls", "--format", "{{.Name}}").stdout


def anchor_policy(lab: Lab) -> str:
    return cluster_labels(lab).get("queenright.deletion-policy", "")


def unrelated(lab: Lab) -> str:
    """Another cluster's document, on a node that is not there: valid, and never deployed."""
    text = (
        quick_manifest(lab)
        .replace("name: main", "name: other")
        .replace("node: node", "node: absent")
    )
    secrets = "  secrets: {replication: other_a, superuser: other_b, restApi: other_c}\n"
    labels = "  nodeLabels: {member: other-node, proxy: other-proxy}\n"
    return text.replace("  proxies:\n", secrets + labels + "  proxies:\n")
