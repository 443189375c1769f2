"""Replication by quorum on real members: its modes, a rolling change, and a leader that is lost.

Every row that was acknowledged is there afterwards. One cluster for all tests; the last one leaves
the former leader's node off.
"""

from __future__ import annotations

import time
from functools import partial

import pytest

from tests.e2e.cluster.deployment import Deployment
from tests.e2e.forecast_facts import differences, done, forecast
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    eventually,
    has_mode,
    is_whole,
    leader_node,
    patroni,
    quick_manifest,
    service,
)
from tests.e2e.writer import Writer, writing
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]

QUORUM = "  replication: {mode: quorum}\n"
ALONE_S = 3.0
"""Shorter than a leader keeps its lock without the others."""
MEMBERS = ("main_member-1", "main_member-2", "main_member-3")
FAILOVER_S = 90
"""A dead leader's lock lives for 20 s; a busy machine takes longer to elect and to find out."""
PARTS = {"asynchronous": set(), "synchronous": {"sync_standby"}, "quorum": {"quorum_standby"}}
"""The part in a commit, as Patroni's ``/patroni`` names it."""


@pytest.fixture(scope="module")
def first_manifest(lab: Lab) -> str:
    return quick_manifest(lab, QUORUM)


def edit(deployment: Deployment, extra: str) -> None:
    """Carry the edit out; what was forecast is done, and nothing else."""
    operator, text = deployment.operator, quick_manifest(deployment.lab, extra)
    expected, before = forecast(deployment, text), len(operator.audit("outcome"))
    operator.carry_out(text)
    assert not list(differences(expected, done(deployment, before)))


def told_parts(lab: Lab) -> set[str]:
    """The parts that members say of themselves."""
    known = ("sync_standby", "quorum_standby")
    return {key for node in MEMBER_NODES for key in known if patroni(lab, node).get(key)}


def shows(lab: Lab, mode: str) -> bool:
    """The replicas' roles and parts are those of the mode."""
    return has_mode(lab, mode) and told_parts(lab) == PARTS[mode]


def test_the_modes_are_changed_while_clients_write(settled: Deployment) -> None:
    lab, leader = settled.lab, leader_node(settled.lab)
    eventually(partial(shows, lab, "quorum"), "quorum from the first start on", 60)
    with writing(lab, leader, "modes"):
        for mode in ("synchronous", "asynchronous", "quorum"):
            edit(settled, f"  replication: {{mode: {mode}}}\n")
            eventually(partial(shows, lab, mode), f"{mode} replication", 60)
    assert leader_node(lab) == leader


def test_a_rolling_change_loses_nothing(settled: Deployment) -> None:
    lab, away = settled.lab, leader_node(settled.lab)
    with writing(lab, away, "rolling", entries=MEMBER_NODES):
        edit(settled, f"{QUORUM}  stopGracePeriod: 90s\n")
        specs = [service(lab, name)["Spec"]["TaskTemplate"]["ContainerSpec"] for name in MEMBERS]
        assert [spec["StopGracePeriod"] for spec in specs] == [90 * 10**9] * 3
        eventually(lambda: is_whole(lab) and has_mode(lab, "quorum"), "a whole quorum", 120)
    assert leader_node(lab) != away, "the former leader was restarted as a replica"


def test_a_lost_leader_has_acknowledged_nothing_that_only_it_had(settled: Deployment) -> None:
    """Its replicas are cut off for a while before: without the quorum it goes on to acknowledge
    rows, and all of those are lost with it."""
    lab, away = settled.lab, leader_node(settled.lab)
    replicas = [node for node in MEMBER_NODES if node != away]
    with Writer(lab, away, "power cut", entries=[away, *replicas]) as writer:
        eventually(lambda: len(writer.rows) > 50, "rows", 60)
        for node in replicas:
            lab.node(node).partition()
        time.sleep(ALONE_S)
        lab.node(away).power_cut()
        began = time.monotonic()
        for node in replicas:
            lab.node(node).heal()
        eventually(lambda: writer.gaps_s(began, 5), "a failover", FAILOVER_S)
        writer.wait_for_a_write()
        print(f"replication: {len(writer.rows)} rows, a gap of {writer.longest_gap_s(began):.1f} s")
        assert not writer.lost(lab, replicas[0])
