"""Real members whose files are damaged while they are stopped: the operator names what is damaged.

Data that were in use stay as they are until a person has them copied anew by the one command of
the hold; Raft's files, which the other members have, come back by themselves.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.e2e import membership
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.losses import Watch
from tests.e2e.membership import voters
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    cluster_table,
    connect,
    container_of,
    eventually,
    is_whole,
    leader_node,
    patroni,
    service,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab
from tests.power_losses.acts import DAMAGE

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

MEMBERS = {"node2": "member-1", "node3": "member-2", "node4": "member-3"}
NODES = {member: node for node, member in MEMBERS.items()}
CUT = 'truncate -s 150 "$1"/global/pg_control'
"""Half of what PostgreSQL reads of it; the database's identifier, in the first bytes, is there."""
OTHER_BYTES = 'printf XXXX | dd of="$1"/global/pg_control bs=1 seek=48 conv=notrunc status=none'
"""A checkpoint that is none, in a file of the right size: its checksum is wrong."""
HOLDS_S = 240
"""Two minutes in which PostgreSQL may recover, on a machine that does other things besides."""


def replica_of(lab: Lab) -> str:
    """Return the last node whose member streams."""
    leader = leader_node(lab)
    assert leader
    return [node for node in MEMBER_NODES if node != leader][-1]


def volume(lab: Lab, node: str, kind: str = "data") -> Path:
    return lab.node(node).directory / f"data/volumes/main_{MEMBERS[node]}-{kind}/_data"


def damage(lab: Lab, node: str, act: Callable[[], object]) -> None:
    """Kill a member, and damage its files before Swarm starts it again."""
    name, there = f"main_{MEMBERS[node]}", lab.node(node)
    container = container_of(there, name)
    there.docker("kill", container)
    eventually(lambda: container_of(there, name) == "", "the member to be down", 10, 0.02)
    act()
    assert container_of(there, name) == "", "its next container runs, and was not to see this"
    eventually(lambda: container_of(there, name), "the member's next container", 60)


def shell(script: str, directory: Path) -> None:
    subprocess.run(["sh", "-euc", script, "sh", str(directory)], check=True)


def hold_of(deployment: Deployment, node: str, word: str) -> str:
    """Return the hold of the member on a node, once it has this word."""
    keys = [f"{kind}/main_{MEMBERS[node]}" for kind in ("loss", "membership")]

    def found() -> str:
        holds = deployment.operator.holds()
        return next((holds[key] for key in keys if word in holds.get(key, "")), "")

    deployment.operator.wait_for(found, f"a hold of {MEMBERS[node]} that says {word!r}", HOLDS_S)
    print(found())
    return found()


def obey(deployment: Deployment, node: str, hold: str) -> None:
    """Run the command of a hold, in a member's container as docs/guide.md has it. Where Patroni
    does not take it, the member's next container does."""
    lab = deployment.lab
    words = hold.partition("patronictl -c /tmp/patroni.yml ")[2].split()[:3]
    assert words == ["reinit", "main", MEMBERS[node]]
    leader = leader_node(lab)
    container = container_of(lab.node(leader), f"main_{MEMBERS[leader]}")
    told = ["exec", container, "timeout", "20", "patronictl", "-c", "/tmp/patroni.yml"]

    def is_taken() -> bool:
        found = lab.node(leader).docker(*told, *words, "--force", check=False)
        print(found.returncode, *(found.stdout + found.stderr).strip().splitlines()[-1:])
        if found.returncode:
            damage(lab, node, lambda: None)
            eventually(lambda: patroni(lab, node), "the next container's answer", 60)
        return found.returncode == 0

    eventually(is_taken, "Patroni to take the command", 180)
    # While a client writes the lag is rarely 0.
    eventually(lambda: membership.is_whole(lab, NODES), "a whole cluster", 180)


def why_unknown(deployment: Deployment, node: str) -> str:
    """Return what ``queenright data-end`` says of a damaged member, by a job on its node, beside
    the others, which say themselves where their data end."""
    found = deployment.operator.command("data-end", "--json")
    print(found.stdout, found.stderr)
    assert found.returncode == 1, "its end is not known"
    ends = {row["member"]: row for row in json.loads(found.stdout)["members"]}
    damaged = ends.pop(MEMBERS[node])
    assert {row["source"] for row in ends.values()} == {"member"}
    assert not service(deployment.lab, f"main_data-end_{MEMBERS[node]}")
    assert damaged["location"] is None
    return str(damaged["why"])


def copies(deployment: Deployment, since: int) -> list[str]:
    return [key for key in deployment.operator.done(since) if key.startswith("reinitialize")]


@pytest.mark.parametrize("script", [CUT, OTHER_BYTES], ids=["cut", "checksum"])
def test_a_replicas_damaged_control_file_is_named(settled: Deployment, script: str) -> None:
    lab, since = settled.lab, len(settled.operator.audit("outcome"))
    node = replica_of(lab)
    damage(lab, node, lambda: shell(script, volume(lab, node)))
    hold = hold_of(settled, node, "damaged global/pg_control")
    assert f" reinit main {MEMBERS[node]}" in hold
    assert why_unknown(settled, node) == "its data directory is damaged (damaged-control-file)"
    time.sleep(10)
    assert copies(settled, since) == [], "its data stay until a person chooses"
    obey(settled, node, hold)
    assert copies(settled, since) == []


def test_a_replicas_cut_catalog_is_told_with_the_command(settled: Deployment) -> None:
    lab, since = settled.lab, len(settled.operator.audit("outcome"))
    node = replica_of(lab)
    with connect(lab, leader_node(lab)) as connection:
        ((path,),) = connection.execute("SELECT pg_relation_filepath('pg_class')").fetchall()
    damage(lab, node, lambda: shell(f'truncate -s 5000 "$1"/{path}', volume(lab, node)))
    hold = hold_of(settled, node, " reinit main ")  # each connection ends PostgreSQL
    assert "damaged files" in hold
    assert copies(settled, since) == []
    obey(settled, node, hold)


def test_a_leaders_damaged_control_file_moves_the_lead(settled: Deployment) -> None:
    """Nothing is lost that a replica had, and the former leader's data stay until a person decides:
    they may have rows that nobody else has."""
    since = len(settled.operator.audit("outcome"))
    lab = settled.lab
    node = leader_node(lab)
    entry = next(other for other in MEMBER_NODES if other != node)
    with Writer(lab, entry, "a damaged leader", 0.05) as writer:
        watch = Watch(lab, entry, writer)
        watch.brace()
        damage(lab, node, lambda: shell(CUT, volume(lab, node)))
        eventually(lambda: leader_node(lab) not in ("", node), "another leader", 90)
        writer.wait_for_a_write()
        hold = hold_of(settled, node, "damaged global/pg_control")
        assert copies(settled, since) == []
        obey(settled, node, hold)
        writer.wait_for_a_write()
        print(f"rows lost: {len(watch.lost())} of {len(writer.rows)}")
    assert sum(row["role"] == "leader" for row in cluster_table(lab)) == 1


@pytest.mark.parametrize("kind", ["cut", "gone"])
def test_a_damaged_raft_log_comes_back_from_the_others(settled: Deployment, kind: str) -> None:
    """Of the leader too: the lead moves, and its log comes from the others."""
    lab, since = settled.lab, len(settled.operator.audit("outcome"))
    node = leader_node(lab) if kind == "gone" else replica_of(lab)
    directory = volume(lab, node).parents[2]  # DAMAGE has this one's member alone: one per node
    damage(lab, node, lambda: shell(DAMAGE[kind], directory))
    began = time.monotonic()
    eventually(lambda: is_whole(lab), "a whole cluster", HOLDS_S)
    print(f"whole {time.monotonic() - began:.0f} s after its start")
    wanted = {lab.node(name).address for name in MEMBER_NODES}
    for name in MEMBER_NODES:
        eventually(partial(lists, lab, name, wanted), f"the voters that {name} lists")
    assert copies(settled, since) == []
    eventually(partial(can_write, lab, node), "a row through the member's proxy", 60)


def lists(lab: Lab, node: str, wanted: set[str]) -> bool:
    return voters(lab.node(node).address) == wanted


def can_write(lab: Lab, node: str) -> bool:
    try:
        with connect(lab, node) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS written (at timestamptz)")
            connection.execute("INSERT INTO written VALUES (now())")
    except psycopg.Error:
        return False
    return True
