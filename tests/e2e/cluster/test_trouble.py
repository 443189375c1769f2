"""Trouble that is not drift: a preflight that fails, restarts that are used up, lost quorum."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import container_of, eventually, is_whole, leader_node, quick_manifest
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

MEMBERS = {"node2": "main_member-1", "node3": "main_member-2", "node4": "main_member-3"}
ATTEMPTS = 5


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    """A killed member is started again after 3 s: its five attempts are used up sooner."""
    return quick_manifest(lab, "  restartPolicy: {delay: 3s}\n")


@pytest.fixture(scope="module")
def before(
    lab: Lab, images: dict[str, str], first_manifest: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningOperator]:
    """An operator on a bare swarm that its first manifest does not fit."""
    lab.reset()
    lab.manager.docker("node", "update", "--availability", "drain", "node4")
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"), resync_s=QUICK_RESYNC_S)
    operator.write(first_manifest.replace("queenright-member:16", "queenright-member:missing"))
    with operator:
        yield operator


@pytest.fixture(scope="module")
def deployment(lab: Lab, before: RunningOperator, first_manifest: str) -> Deployment:
    """The cluster, once image and node are as the manifest needs them."""
    before.write(first_manifest)
    lab.manager.docker("node", "update", "--availability", "active", "node4")
    took = before.wait_converged()
    eventually(lambda: is_whole(lab), "one leader and two streaming replicas")
    return Deployment(lab, before, took)


def services_of(lab: Lab) -> str:
    return lab.manager.docker("service", "ls", "--format", "{{.Name}}").stdout


def test_nothing_is_touched_while_preflight_fails(lab: Lab, before: RunningOperator) -> None:
    """First of this module; the others need the cluster, which is deployed once both are mended."""
    before.wait_for(before.holds, "the holds")
    said = " ".join(before.holds().values())
    assert "queenright-member:missing: is not in its registry" in said
    assert "node node4 is set to drain" in said
    assert not before.audit("intent")
    assert services_of(lab) == ""


@pytest.mark.quiet
def test_used_up_restarts_are_started_again_with_the_reason(settled: Deployment) -> None:
    """Five attempts within 60 s, all killed by hand; then swarm gives up.

    On a slow machine five restarts may take longer than that, and swarm counts the later ones.
    """
    lab = settled.lab
    node = next(node for node in MEMBERS if node != leader_node(lab))
    name = MEMBERS[node]
    since = len(settled.operator.audit("intent"))

    def restarts() -> list[dict[str, object]]:
        found = settled.operator.audit("intent")[since:]
        return [r for r in found if r["action"]["key"] == f"restart-service/{name}"]

    killed, last = 0, ""
    deadline = time.monotonic() + 240
    while not restarts() and time.monotonic() < deadline:
        container = container_of(lab.node(node), name)
        if container and container != last:
            lab.node(node).docker("kill", container, check=False)
            killed, last = killed + 1, container
        time.sleep(0.2)
    assert restarts(), "the operator did not start it again"
    assert killed > ATTEMPTS
    assert "exit status 137" in str(restarts()[0]["reason"])
    eventually(lambda: is_whole(lab), "a whole cluster", 120)


def test_a_power_cut_node_is_waited_for_and_nothing_is_disrupted(settled: Deployment) -> None:
    lab, since = settled.lab, len(settled.operator.audit("intent"))
    node = next(node for node in MEMBERS if node != leader_node(lab))
    lab.node(node).power_cut()
    lab.wait_for(**{node: "down"}, timeout_s=60)
    passes = len(list(settled.operator.passes()))
    settled.operator.wait_for(
        lambda: any(not p["converged"] for p in list(settled.operator.passes())[passes:]),
        "a pass that sees it",
        30,
    )
    time.sleep(5)
    disrupted = [r for r in settled.operator.audit("intent")[since:] if r["disturbs"]]
    assert not disrupted
    said = " ".join(settled.operator.holds().values())
    assert node in said
    lab.node(node).start()
    eventually(lambda: is_whole(lab), "the member to come back", 180)


def test_a_lost_quorum_is_told_and_left_to_patroni(settled: Deployment) -> None:
    lab, since = settled.lab, len(settled.operator.audit("intent"))
    cut = [node for node in MEMBERS if node != leader_node(lab)]
    for node in cut:
        lab.node(node).partition()
    settled.operator.wait_for(
        lambda: "there is no leader" in settled.operator.holds().get("cluster/main", ""),
        "the hold",
        120,
    )
    for node in cut:
        lab.node(node).heal()
    eventually(lambda: is_whole(lab), "a whole cluster", 180)
    assert not [r for r in settled.operator.audit("intent")[since:] if r["disturbs"]]
