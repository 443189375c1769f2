"""One member becomes three, and three become one, on real Patroni and Raft, under writes.

With fewer than three members nothing fails over, so that the file has to say that it is meant. The
member that is left starts again alone after a power cut, and after one that took its Raft files.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import psycopg
import pytest
import yaml

from queenright.core.swarm.objects import PARTNERS_VARIABLE
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.membership import RAFT_PORT, is_whole, leading, voters, with_members
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import (
    connect,
    container_of,
    eventually,
    patroni,
    quick_manifest,
    service,
    service_names,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(900)]

FIRST = {"member-1": "node2"}
THREE = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}
CHANGES_S = 420
WORD = "  acknowledge: [noFailover]\n"


@pytest.fixture(scope="module")
def operator_command() -> list[str]:
    """Wait less than the minute between two changes: no power is cut meanwhile."""
    return [sys.executable, str(Path(__file__).with_name("hurried_operator.py"))]


@pytest.fixture(scope="module")
def deployment(
    lab: Lab, images: dict[str, str], module_operator: RunningOperator
) -> Iterator[Deployment]:
    """Deploy a cluster of one member from a bare swarm."""
    lab.reset()
    module_operator.write(written(lab, FIRST, WORD))
    with module_operator as operator:
        took = operator.wait_converged()
        yield Deployment(lab, operator, took)


def written(lab: Lab, members: Mapping[str, str], more: str = "") -> str:
    lines = (f"name: {name}, node: {node}" for name, node in members.items())
    return with_members(quick_manifest(lab), lines, more)


def reach(deployment: Deployment, members: Mapping[str, str], entry: str, more: str = "") -> None:
    """Write these members, and wait until exactly they are there. No row that was acknowledged
    through the proxy on the node ``entry`` meanwhile is lost, and one member leads."""
    lab, operator = deployment.lab, deployment.operator
    with Writer(lab, entry, f"to {len(members)}", 0.05) as writer:
        began = time.monotonic()
        operator.carry_out(written(lab, members, more), CHANGES_S)
        eventually(partial(is_whole, lab, members), "exactly these members", 60)
        writer.wait_for_a_write()
    gaps = [round(gap, 2) for gap in writer.gaps_s(began, 0.3)]
    print(f"{len(members)} members after {time.monotonic() - began:.0f} s, pauses of {gaps} s")
    assert len(writer.rows) > 100
    assert writer.lost(lab, entry) == []
    assert leaders(lab) == [members[leading(lab, members)]]


def leaders(lab: Lab) -> list[str]:
    """Return every node of the lab whose PostgreSQL is a primary, a removed member's included."""
    roles = ("primary", "master")
    return [node.name for node in lab.nodes if patroni(lab, node.name).get("role") in roles]


def partners_of(lab: Lab, member: str) -> set[str]:
    """Return the partners with which a member's service was deployed."""
    spec = service(lab, f"main_{member}")["Spec"]["TaskTemplate"]["ContainerSpec"]
    listed = next(e for e in spec["Env"] if e.startswith(f"{PARTNERS_VARIABLE}="))
    return {*json.loads(listed.partition("=")[2])}


def raft_in(lab: Lab, member: str, node: str) -> dict[str, object]:
    """Return the part ``raft`` of the configuration with which a member's Patroni runs."""
    found = container_of(lab.node(node), f"main_{member}")
    read = lab.node(node).docker("exec", found, "cat", "/tmp/patroni.yml")
    return dict(yaml.safe_load(read.stdout)["raft"])


def raft_address(lab: Lab, node: str) -> str:
    return f"{lab.node(node).address}:{RAFT_PORT}"


def lists(lab: Lab, node: str, members: Mapping[str, str]) -> bool:
    wanted = {lab.node(name).address for name in members.values()}
    return voters(lab.node(node).address) == wanted


def test_one_member_becomes_three_without_a_lost_row(deployment: Deployment) -> None:
    """Each member votes beside the two others, and would ask them at its next start."""
    lab = deployment.lab
    assert partners_of(lab, "member-1") == set()
    reach(deployment, THREE, "node2")
    for name, node in THREE.items():
        eventually(partial(lists, lab, node, THREE), f"the voters that {node} lists")
        others = {raft_address(lab, place) for place in THREE.values() if place != node}
        assert partners_of(lab, name) == others
        raft = raft_in(lab, name, node)
        assert raft["self_addr"] == raft_address(lab, node)
        assert {*raft["partner_addrs"]} == others  # type: ignore[misc]


def test_three_become_one_only_where_the_file_says_that_it_is_meant(deployment: Deployment) -> None:
    """A replica stays, and the leader leaves."""
    lab, operator = deployment.lab, deployment.operator
    stays = next(name for name in THREE if name != leading(lab, THREE))
    alone, node = {stays: THREE[stays]}, THREE[stays]
    since = len(operator.audit("intent"))
    operator.edit(written(lab, alone))
    leaves = next(name for name in THREE if name != stays)
    operator.wait_for(lambda: f"membership/main_{leaves}" in operator.holds(), "the hold")
    assert "acknowledge: [noFailover]" in operator.holds()[f"membership/main_{leaves}"]
    time.sleep(10)
    assert operator.audit("intent")[since:] == []
    assert is_whole(lab, THREE)
    reach(deployment, alone, node, WORD)
    eventually(partial(lists, lab, node, alone), "the voters that the last member lists")
    assert [name for name in service_names(lab) if "member" in name] == [f"main_{stays}"]


def deployed_alone(lab: Lab) -> tuple[str, str]:
    """Return the only member that is left, and its node."""
    (name,) = (name for name in THREE if f"main_{name}" in service_names(lab))
    return name, THREE[name]


def test_the_last_member_leads_again_after_a_power_cut(deployment: Deployment) -> None:
    """It was deployed with partners that are no more."""
    lab = deployment.lab
    name, node = deployed_alone(lab)
    note(lab, node, "before the power cut")
    assert partners_of(lab, name), "its list is that of its last start"
    lab.node(node).power_cut()
    lab.wait_for(**{node: "down"}, timeout_s=60)
    lab.node(node).start()
    eventually(lambda: leaders(lab) == [node], "the leader to be back", 180)
    eventually(partial(has, lab, node, "before the power cut"), "the row", 60)


def test_the_last_member_leads_again_after_its_raft_files_are_lost(deployment: Deployment) -> None:
    """Nobody can have its log, since nobody else votes; no former partner is waited for."""
    lab, operator = deployment.lab, deployment.operator
    name, node = deployed_alone(lab)
    note(lab, node, "before Raft's files were lost")
    lab.node(node).power_cut()
    lab.wait_for(**{node: "down"}, timeout_s=60)
    empty(lab.node(node).directory / f"data/volumes/main_{name}-raft/_data")
    lab.node(node).start()
    eventually(lambda: leaders(lab) == [node], "the leader to be back", 240)
    eventually(partial(has, lab, node, "before Raft's files were lost"), "the row", 60)
    assert voters(lab.node(node).address) == {lab.node(node).address}
    since = len(list(operator.passes())) + 1
    operator.wait_converged(120, since=since)


def empty(directory: Path) -> None:
    """Remove every file of a directory on the disk of a node that is off."""
    assert directory.is_dir()
    found = [path for path in directory.rglob("*") if path.is_file()]
    assert any(path.suffix == ".journal" for path in found)
    for path in found:
        path.unlink()


def note(lab: Lab, node: str, text: str) -> None:
    with connect(lab, node, timeout_s=30) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS noted (words text)")
        connection.execute("INSERT INTO noted VALUES (%s)", [text])


def has(lab: Lab, node: str, text: str) -> bool:
    """Return True if the row is there; False while the node's proxy has not found the leader."""
    try:
        with connect(lab, node) as connection:
            found = connection.execute("SELECT count(*) FROM noted WHERE words = %s", [text])
            return found.fetchone() == (1,)
    except psycopg.OperationalError:
        return False
