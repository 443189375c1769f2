"""Real members whose disk is full: the operator names the disk, and room is all that they need.

Two nodes keep their member's volumes, data and Raft's files, on a small disk that is only theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from tests.e2e import membership
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.copies import FILL
from tests.e2e.losses import Watch
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import (
    cluster_table,
    connect,
    container_of,
    eventually,
    is_whole,
    leader_node,
    serves,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab
from tests.lab.node import Node

pytestmark = [pytest.mark.lab, pytest.mark.images, pytest.mark.timeout(600)]

MEMBERS = {"node2": "member-1", "node3": "member-2", "node4": "member-3"}
SMALL = {"node2": "member-1", "node3": "member-2"}
"""The nodes with small disks, and their members."""
SMALL_MIB = 700
HOLDS_S = 240
"""A minute in which Patroni may mend it, on a machine that does other things besides."""
MOUNT = """
truncate -s "$2"M "$1/small.img"
mkfs.ext4 -q -F -m 0 "$1/small.img"
mkdir -p "$1/small"
mount -o loop "$1/small.img" "$1/small"
for kind in data raft; do
  mkdir "$1/small/$kind"
  chown 999:999 "$1/small/$kind"
  mount --bind "$1/small/$kind" "$1/data/volumes/main_$3-$kind/_data"
done
"""
FILLS = 'dd if=/dev/zero of="$1/small/filler" bs=64k status=none || true; sync "$1/small/filler"'


@pytest.fixture(scope="module")
def deployment(
    lab: Lab, images: dict[str, str], first_manifest: str, module_operator: RunningOperator
) -> Iterator[Deployment]:
    """Deploy a whole cluster whose first two members have a small disk each."""
    lab.reset()
    for name, member in SMALL.items():
        node = lab.node(name)
        for kind in ("data", "raft"):
            node.docker("volume", "create", f"main_{member}-{kind}")
        node.exec("sh", "-euc", MOUNT, "sh", str(node.directory), str(SMALL_MIB), member)
    module_operator.write(first_manifest)
    with module_operator as operator:
        took = operator.wait_converged()
        eventually(lambda: is_whole(lab), "one leader and two streaming replicas with lag 0")
        eventually(lambda: serves(lab, leader_node(lab)), "the proxy to pass on to the leader")
        yield Deployment(lab, operator, took)
    lab.reset()  # the disks go with the nodes' processes
    for name in SMALL:
        (lab.node(name).directory / "small.img").unlink(missing_ok=True)


def fill_up(node: Node) -> None:
    """Leave no room on a small disk."""
    node.exec("sh", "-euc", FILLS, "sh", str(node.directory), timeout_s=120)
    used = node.exec("df", "--output=avail", str(node.directory / "small")).stdout.split()
    assert int(used[-1]) < 64, used


def make_room(node: Node) -> None:
    node.exec("rm", str(node.directory / "small/filler"))


def small_replica(lab: Lab) -> Node:
    leader = leader_node(lab)
    return lab.node(next(name for name in SMALL if name != leader))


def hold_of(deployment: Deployment, node: Node, *words: str) -> str:
    """Return the hold of the member on a node, once it has all these words."""
    key = f"loss/main_{MEMBERS[node.name]}"

    def found() -> str:
        told = deployment.operator.holds().get(key, "")
        return told if all(word in told for word in words) else ""

    deployment.operator.wait_for(found, f"{key} to say {words}", HOLDS_S)
    print(f"{key}: {found()}")
    return found()


def write_much(lab: Lab, entry: str, table: str) -> None:
    """Write some 200 MB at the leader."""
    with connect(lab, entry, timeout_s=60) as connection:
        connection.execute(FILL.replace("filler", table).encode())
        connection.execute("SELECT pg_switch_wal()")


def has_all(lab: Lab, node: Node, table: str, rows: int = 200_000) -> bool:
    """Return True if a table on a node has that many rows; False where it does not answer yet."""
    try:
        with connect(lab, node.name, port=5432) as connection:
            asked = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
            return connection.execute(asked).fetchone() == (rows,)
    except psycopg.Error:
        return False


def streams(lab: Lab) -> bool:
    """Return True if one leads and two stream; while a client writes the lag is rarely 0."""
    return membership.is_whole(lab, {member: node for node, member in MEMBERS.items()})


def disrupting(deployment: Deployment, since: int) -> list[str]:
    """Return what the operator did to members' data and votes since then."""
    done = deployment.operator.done(since)
    return [key for key in done if key.startswith(("reinitialize", "remove", "raft"))]


def test_a_replica_without_room_is_named_and_goes_on_with_room(settled: Deployment) -> None:
    """The others serve meanwhile. Its next container names the disk, and the node that has it."""
    lab, since = settled.lab, len(settled.operator.audit("outcome"))
    node, leader = small_replica(lab), leader_node(lab)
    fill_up(node)
    with Writer(lab, leader, "a full replica", 0.05) as writer:
        write_much(lab, leader, "first_filler")
        hold = hold_of(settled, node)
        if "no room" not in hold:  # PostgreSQL runs, and its WAL receiver ends again and again
            assert "look for a full disk" in hold
            node.docker("kill", container_of(node, f"main_{MEMBERS[node.name]}"))
        hold = hold_of(settled, node, "no room was left on the disk of its volumes")
        assert f"make room on {node.name}" in hold
        assert leader_node(lab) == leader
        make_room(node)
        began = time.monotonic()
        eventually(lambda: streams(lab), "a whole cluster", 240)
        print(f"whole {time.monotonic() - began:.0f} s after there was room")
        writer.wait_for_a_write()
        assert writer.lost(lab, leader) == []
        assert writer.longest_gap_s() < 10
    eventually(lambda: has_all(lab, node, "first_filler"), "what the leader has", 60)
    assert disrupting(settled, since) == []
    key = f"loss/main_{MEMBERS[node.name]}"
    settled.operator.wait_for(lambda: key not in settled.operator.holds(), "no hold", 120)


def test_a_leader_without_room_is_replaced_and_comes_back_with_room(settled: Deployment) -> None:
    """No row is lost that the replicas had, and there is one leader at the end."""
    lab, since = settled.lab, len(settled.operator.audit("outcome"))
    ensure_small_leader(settled)
    name, entry = leader_node(lab), "node4"
    node = lab.node(name)
    with Writer(lab, entry, "a full leader", 0.05) as writer:
        watch = Watch(lab, entry, writer)
        watch.brace()
        fill_up(node)
        began = time.monotonic()
        try:
            write_much(lab, entry, "second_filler")
        except psycopg.Error as error:
            print(f"the statement fails: {str(error).strip()[:200]}")
        eventually(lambda: leader_node(lab) not in ("", name), "another leader", 240)
        writer.wait_for_a_write()
        print(f"another leader after {time.monotonic() - began:.0f} s")
        hold = hold_of(settled, node)
        assert "disk" in hold
        make_room(node)
        began = time.monotonic()
        with connect(lab, entry) as connection:
            connection.execute("CREATE TABLE after_room AS SELECT generate_series(1, 1000) AS n")
        eventually(lambda: has_all(lab, node, "after_room", 1000), "what the leader has", 240)
        eventually(lambda: streams(lab), "a whole cluster", 60)
        print(f"whole {time.monotonic() - began:.0f} s after there was room")
        writer.wait_for_a_write()
        print(f"rows lost: {len(watch.lost())} of {len(writer.rows)}")
    assert sum(row["role"] == "leader" for row in cluster_table(lab)) == 1
    assert [key for key in disrupting(settled, since) if "reinitialize" in key] == []


def ensure_small_leader(deployment: Deployment) -> None:
    """Move the lead to a node with a small disk."""
    if leader_node(deployment.lab) in SMALL:
        return
    told = deployment.operator.command("switchover", "--candidate", "member-1", "--force")
    assert told.returncode == 0, told.stderr
    eventually(lambda: leader_node(deployment.lab) in SMALL, "a leader on a small disk", 60)
    eventually(lambda: is_whole(deployment.lab), "a whole cluster", 120)
