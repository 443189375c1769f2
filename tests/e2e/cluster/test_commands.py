"""The control tool's verbs as commands, on the lab, beside a running operator: a writer watches."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping

import pytest

from queenright.core.kinds.postgres_cluster.status.rows import MEMBER_COLUMNS
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.cluster.test_day_two import MEMBER_OF, NODE_OF, other_than_the_leader, whole_again
from tests.e2e.swarm_facts import MEMBER_NODES, eventually, leader_node, patroni
from tests.e2e.writer import writing
from tests.support import web

pytestmark = [pytest.mark.lab, pytest.mark.images]


def command(deployment: Deployment, *words: str) -> subprocess.CompletedProcess[str]:
    """The command as a person starts it on this machine, without a terminal."""
    found = deployment.operator.command(*words)
    assert "Traceback" not in found.stderr, found.stderr
    return found


def settings(deployment: Deployment) -> Mapping[str, object]:
    address = deployment.lab.node(leader_node(deployment.lab) or "node2").address
    found: dict[str, object] = web.get(f"http://{address}:8008/config", timeout=5).json()
    return found


def test_list_is_the_contracts_table(settled: Deployment) -> None:
    found = command(settled, "list")
    assert found.returncode == 0, found.stderr
    head, *rows = found.stdout.splitlines()
    assert head.split("  ")[0] == MEMBER_COLUMNS[0]
    assert head.replace(" ", "") == "".join(MEMBER_COLUMNS).replace(" ", "")
    assert [row.split()[0] for row in rows] == ["member-1", "member-2", "member-3"]
    assert sorted(row.split()[2] for row in rows) == ["Leader", "Replica", "Replica"]


def test_a_switchover_moves_the_lead_once_and_stays(settled: Deployment) -> None:
    to = other_than_the_leader(settled)
    refused = command(settled, "switchover", "--candidate", to)
    assert refused.returncode == 64
    with writing(settled.lab, "node2", "command") as writer:
        began = time.monotonic()
        found = command(settled, "switchover", "--candidate", to, "--force")
        assert found.returncode == 0, found.stderr
        assert f"{to} is the leader on timeline" in found.stdout
        whole_again(settled)
        gap_s = writer.longest_gap_s(began)
    assert leader_node(settled.lab) == NODE_OF[to]
    print(f"{found.stdout.splitlines()[-1]} write gap {gap_s:.2f} s")
    assert "queenright_route" not in settings(settled)
    told = json.loads(command(settled, "history", "--json").stdout)["changes"][-1]
    assert told["new_leader"] == to
    assert f"switchover --candidate {to}, by " in told["cause"]
    assert command(settled, "audit", "verify").returncode == 0


def test_a_failover_asks_for_the_candidate(settled: Deployment) -> None:
    to = other_than_the_leader(settled)
    found = command(settled, "failover", "--candidate", to, "--force")
    assert found.returncode == 0, found.stderr
    assert "may lose data: at most " in found.stderr
    assert leader_node(settled.lab) == NODE_OF[to]
    whole_again(settled)


def test_a_pause_by_hand_reaches_every_member_and_is_left_alone(settled: Deployment) -> None:
    assert command(settled, "pause").returncode == 0
    assert all(patroni(settled.lab, node).get("pause") for node in MEMBER_NODES)
    told = command(settled, "status").stdout
    assert "not by the operator, which does not resume it" in told
    refused = command(settled, "switchover", "--candidate", other_than_the_leader(settled))
    assert refused.returncode == 1
    assert "`queenright resume` lifts that" in refused.stderr
    assert command(settled, "resume").returncode == 0
    assert not any(patroni(settled.lab, node).get("pause") for node in MEMBER_NODES)


def test_an_edit_of_what_the_file_does_not_own_and_its_restart(settled: Deployment) -> None:
    name = "postgresql.parameters.max_prepared_transactions"
    assert command(settled, "edit-config", "--set", f"{name}=7", "--force").returncode == 0
    replica = other_than_the_leader(settled)
    node = NODE_OF[replica]
    eventually(lambda: patroni(settled.lab, node).get("pending_restart"), "a pending restart", 60)
    found = command(settled, "restart", replica, "--force")
    assert found.returncode == 0, found.stderr
    assert f"{replica} runs again" in found.stdout
    assert not patroni(settled.lab, node).get("pending_restart")
    assert command(settled, "edit-config", "--set", f"{name}=null", "--force").returncode == 0
    for restarting in MEMBER_OF.values():
        command(settled, "restart", restarting, "--force")
    whole_again(settled)
