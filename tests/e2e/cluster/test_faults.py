"""Unplanned faults of a cluster: the operator does no harm, and the cluster recovers.

A writer on a node that stays writes throughout. Every acknowledged row exists at the end, except
those that asynchronous replication may lose: acknowledged after every replica last had everything
and before the outage in which another member became the leader. Those are counted and printed.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.losses import Watch, timeline
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    cluster_table,
    container_of,
    eventually,
    is_whole,
    leader_node,
    manifest,
    patroni,
)
from tests.e2e.writer import STALL_S, Writer
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]

MEMBER_OF = {"node2": "member-1", "node3": "member-2", "node4": "member-3"}
FAILOVER_S = 60
"""ttl 30 s, and what the proxies need (spec: database-cluster §3, §8)."""


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    """The contract's timings are what these tests are about."""
    return manifest(lab)


@pytest.fixture(scope="module")
def resync_s() -> None:
    """Its own interval: these tests are about what the operator does at an event."""


@pytest.fixture
def away(settled: Deployment) -> str:
    """The leader's node."""
    return leader_node(settled.lab)


@contextmanager
def watched(deployment: Deployment, node: str, name: str) -> Iterator[Watch]:
    """A writer through a node that stays, and what it lost; then a whole cluster again."""
    known = len(deployment.operator.audit("outcome"))
    with Writer(deployment.lab, node, name, period_s=0.05) as writer:
        watch = Watch(deployment.lab, node, writer)
        yield watch
        writer.wait_for_a_write(90)
    eventually(lambda: is_whole(deployment.lab), "a whole cluster", 240)
    lost = watch.lost()
    print(f"{name}: longest gap {writer.longest_gap_s():.1f} s, {len(lost)} acknowledged rows lost")
    done = [r["action"]["key"] for r in deployment.operator.audit("outcome")[known:]]
    assert "switchover/main" not in done, "a failover was fought"
    # A config of an earlier test's edit may go now: it waits until the cluster is well.
    harm = [key for key in done if key.startswith(("remove-", "create-secret"))]
    assert not [key for key in harm if not key.startswith("remove-config/")]


def other_node(*nodes: str) -> str:
    return next(node for node in MEMBER_NODES if node not in nodes)


def looks(deployment: Deployment, hold: str) -> None:
    """Wait for a new pass with such a hold, and for some time in which it could be acted on."""
    operator = deployment.operator
    before = len(list(operator.passes()))

    def has_held() -> bool:
        passes = list(operator.passes())[before:]
        return any(key.startswith(hold) for found in passes for key in found.get("holds", {}))

    operator.wait_for(has_held, hold)
    time.sleep(8)


def kill_operator_and_start_again(deployment: Deployment) -> None:
    deployment.operator.stop(signal.SIGKILL)
    deployment.operator.start()


def test_the_leaders_container_is_killed(settled: Deployment, away: str) -> None:
    lab = settled.lab
    with watched(settled, other_node(away), "container killed") as watch:
        container = container_of(lab.node(away), f"main_{MEMBER_OF[away]}")
        began = watch.brace()
        lab.node(away).docker("kill", container)
        kill_operator_and_start_again(settled)
        eventually(lambda: watch.writer.gaps_s(began), "a gap that is over", FAILOVER_S)


def test_the_leaders_node_is_powered_off_and_comes_back(settled: Deployment, away: str) -> None:
    lab, before = settled.lab, timeline(settled.lab)
    with watched(settled, other_node(away), "power cut") as watch:
        began = watch.brace()
        lab.node(away).power_cut()
        kill_operator_and_start_again(settled)
        eventually(lambda: watch.writer.gaps_s(began, 5), "a failover", FAILOVER_S)
        lab.node(away).start()
        eventually(lambda: patroni(lab, away).get("role") == "replica", "it to rejoin", 120)
    assert timeline(settled.lab) > before


def test_the_leaders_node_is_cut_off_and_rejoins_by_rewind(settled: Deployment, away: str) -> None:
    lab = settled.lab
    with watched(settled, other_node(away), "partition") as watch:
        began = watch.brace()
        lab.node(away).partition()
        eventually(lambda: watch.writer.gaps_s(began, 5), "a failover", FAILOVER_S)
        kill_operator_and_start_again(settled)
        lab.node(away).heal()
    assert leader_node(lab) != away


@pytest.mark.quiet
def test_a_replica_whose_data_is_broken(settled: Deployment, away: str) -> None:
    lab, broken = settled.lab, other_node(away)
    name = f"main_{MEMBER_OF[broken]}"
    with watched(settled, other_node(away, broken), "broken replica") as watch:
        began = time.monotonic()
        container = container_of(lab.node(broken), name)
        data = "/home/postgres/pgdata"
        lab.node(broken).docker(
            "exec", container, "sh", "-c", f"rm -rf {data}/base/* {data}/global/*"
        )
        lab.node(broken).docker("kill", container)
        text = manifest(lab, "  stopGracePeriod: 100s\n")
        settled.operator.write(text)
        looks(settled, "update-service/main_member")
        assert leader_node(lab) == away, "the leader stays while a replica is broken"
        settled.operator.write(manifest(lab))
        time.sleep(2)
        reinitialize(settled, broken)
        assert not watch.writer.gaps_s(began, STALL_S)


def reinitialize(deployment: Deployment, node: str) -> None:
    """Remove the broken copy, as a person would, so that it is copied again from the leader."""
    lab, name = deployment.lab, f"main_{MEMBER_OF[node]}"
    found = eventually(lambda: container_of(lab.node(node), name), "its container", 60)
    command = "rm -rf /home/postgres/pgdata/* && kill -TERM 1"
    lab.node(node).docker("exec", found, "sh", "-c", command, check=False)


def test_quorum_is_lost_and_regained(settled: Deployment, away: str) -> None:
    lab = settled.lab
    replicas = [node for node in MEMBER_NODES if node != away]
    known = len(settled.operator.audit("intent"))
    with watched(settled, away, "quorum lost") as watch:
        watch.brace()
        for node in replicas:
            lab.node(node).power_cut()
        eventually(lambda: not leader_node(lab), "the leader to be demoted", 90)
        kill_operator_and_start_again(settled)
        looks(settled, "cluster/main")
        touched = [r["action"]["key"] for r in settled.operator.audit("intent")[known:]]
        assert not [key for key in touched if "member" in key], touched
        for node in replicas:
            lab.node(node).start()
        eventually(lambda: leader_node(lab), "a leader", 120)


def test_dockerd_restarts_under_the_leader(settled: Deployment, away: str) -> None:
    with watched(settled, other_node(away), "dockerd restarted") as watch:
        began = watch.brace()
        settled.lab.node(away).crash_dockerd()
        eventually(lambda: watch.writer.gaps_s(began), "a gap that is over", FAILOVER_S + 30)


@pytest.mark.quiet
def test_the_managers_dockerd_restarts_under_the_operator(settled: Deployment, away: str) -> None:
    with watched(settled, other_node(away), "manager's dockerd restarted") as watch:
        began, passes = time.monotonic(), len(list(settled.operator.passes()))
        settled.lab.manager.crash_dockerd()
        settled.operator.wait_converged(since=passes, timeout_s=120)
        assert not watch.writer.gaps_s(began, STALL_S)
    assert cluster_table(settled.lab)


@pytest.mark.parametrize("moment_s", [0.5, 2.2])
def test_the_operator_is_killed_in_the_middle_of_a_move(
    settled: Deployment, away: str, moment_s: float
) -> None:
    """Whenever it dies: the move happens once or not at all, and the next one ends it."""
    lab = settled.lab
    wanted = MEMBER_OF[other_node(away)]
    before = timeline(settled.lab)
    settled.operator.write(manifest(lab, f"  primary: {wanted}\n"))
    time.sleep(moment_s)
    kill_operator_and_start_again(settled)
    eventually(lambda: MEMBER_OF.get(leader_node(lab)) == wanted, f"{wanted} to lead", 180)
    eventually(lambda: is_whole(lab), "a whole cluster", 120)
    assert timeline(settled.lab) == before + 1
    settled.operator.write(manifest(lab))


@pytest.mark.quiet
def test_the_operator_is_killed_in_the_middle_of_a_rollout(settled: Deployment, away: str) -> None:
    lab, before = settled.lab, timeline(settled.lab)
    with Writer(lab, other_node(away), "killed in a rollout") as writer:
        began = time.monotonic()
        settled.operator.write(manifest(lab, "  stopGracePeriod: 95s\n"))
        for _ in range(6):
            time.sleep(8)
            kill_operator_and_start_again(settled)
        converge(settled, lambda: is_whole(lab))
        writer.wait_for_a_write()
        print(f"killed in a rollout: gaps of {writer.gaps_s(began)} s")
        assert timeline(lab) <= before + 1, "the lead moves once"
        assert len(writer.gaps_s(began, 2.0)) <= 1
        assert not writer.lost(lab, other_node(away))


def converge(deployment: Deployment, condition: Callable[[], object]) -> None:
    last = len(list(deployment.operator.passes()))
    deployment.operator.wait_converged(since=last, timeout_s=240)
    eventually(condition, "a whole cluster", 120)
