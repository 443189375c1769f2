"""Members added and removed by editing the file, on real Patroni and Raft, under writes.

A fourth member on the manager's node takes the place of a replica, and then the former replica that
of the leader, with the operator killed in the middle; four members there are on the way only. Then
a replica moves to the free node, and one whose node lost power is replaced on the next free one: by
an edit, and then by itself.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    decode_replaced,
)
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.copies import fill, progress_of
from tests.e2e.forecast_facts import differences, done, forecast
from tests.e2e.losses import timeline
from tests.e2e.membership import is_whole, leading, voters, with_members
from tests.e2e.running_operator import RunningOperator
from tests.e2e.swarm_facts import (
    cluster_labels,
    cluster_table,
    eventually,
    patroni,
    quick_manifest,
    service,
)
from tests.e2e.writer import Writer
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.images]

FIRST = {"member-1": "node2", "member-2": "node3", "member-3": "node4"}
SPARE = "node1"
CHANGES_S = 420
"""Six changes of the voters, each known to all nodes for some time before the next, and a copy."""


@pytest.fixture(scope="module")
def operator_command() -> list[str]:
    """Wait less than the minute between two changes: no power is cut here."""
    return [sys.executable, str(Path(__file__).with_name("hurried_operator.py"))]


def written(lab: Lab, members: Mapping[str, str], more: str = "") -> str:
    """Return the manifest with these members, and further fields."""
    lines = (
        f"name: {name}, node: {node}{', failoverPriority: 3' if number == 0 else ''}"
        for number, (name, node) in enumerate(members.items())
    )
    return with_members(quick_manifest(lab), lines, more)


def deployed(deployment: Deployment) -> dict[str, str]:
    """Return the members of the file, in its order, and their nodes."""
    text = (deployment.operator.manifests / "cluster.yaml").read_text()
    return dict(re.findall(r"- \{name: (\S+), node: (\w+)", text))


def free_node(members: Mapping[str, str]) -> str:
    return next(node for node in (SPARE, *FIRST.values()) if node not in members.values())


def volumes(lab: Lab, node: str) -> frozenset[str]:
    """Return the names of a node's volumes."""
    return frozenset(lab.node(node).docker("volume", "ls", "-q").stdout.split())


def lists(lab: Lab, node: str, wanted: frozenset[str]) -> bool:
    return voters(lab.node(node).address) == {lab.node(name).address for name in wanted}


def edit(
    deployment: Deployment,
    members: Mapping[str, str],
    entry: str,
    kills: int = 0,
    *,
    judged: bool = True,
) -> None:
    """Write these members, and wait until exactly they are there; what was forecast was done, and
    nothing else, where that is ``judged``. The operator is killed ``kills`` times, each time a
    moment after it has acted."""
    operator, text = deployment.operator, written(deployment.lab, members)
    if judged:  # in the middle of a change the forecast stops at what swarm is still carrying out
        operator.wait_for(lambda: is_at_rest(operator), "an operator at rest", CHANGES_S)
    expected, before = forecast(deployment, text), len(operator.audit("outcome"))

    def change() -> None:
        if not kills:
            operator.edit(text, CHANGES_S)
            return
        operator.write(text)
        for _ in range(kills):
            acted = len(operator.audit("outcome"))
            operator.wait_for(partial(has_acted, deployment, acted), "an action", CHANGES_S)
            time.sleep(5)
            operator.stop(signal.SIGKILL)
            operator.start()

    reach(deployment, members, entry, change)
    print(f"forecast: {sum(expected.values())} disrupting actions")
    wrong = list(differences(expected, done(deployment, before)))
    assert kills or not judged or not wrong, wrong


def reach(
    deployment: Deployment, members: Mapping[str, str], entry: str, change: Callable[[], None]
) -> None:
    """Begin a change, and wait until exactly these members are there; rows acknowledged meanwhile,
    and the pauses, are printed, and none may be lost. ``entry`` is the node of a member that stays
    where it is: a proxy runs there all the time."""
    lab, operator = deployment.lab, deployment.operator
    with Writer(lab, entry, f"to {' '.join(sorted(members))}", 0.05) as writer:
        began = time.monotonic()
        change()
        since = len(list(operator.passes()))
        operator.wait_converged(CHANGES_S, since=since)
        eventually(lambda: is_whole(lab, members), "exactly the members", 60)
        took_s = time.monotonic() - began
        writer.wait_for_a_write()
    gaps = writer.gaps_s(began, 0.3)
    print(f"{' '.join(members)}: {took_s:.0f} s, pauses of {[round(gap, 2) for gap in gaps]} s")
    assert not writer.lost(lab, entry)
    nodes = frozenset(members.values())
    for node in nodes:
        eventually(partial(lists, lab, node, nodes), f"the voters that {node} lists")


def is_at_rest(operator: RunningOperator) -> bool:
    return [found["converged"] for found in operator.passes()][-1:] == [True]


def has_acted(deployment: Deployment, before: int) -> bool:
    return len(deployment.operator.audit("outcome")) > before


def test_a_replica_leaves_and_another_member_comes(deployment: Deployment) -> None:
    lab = deployment.lab
    before = timeline(lab)
    leader = leading(lab, FIRST)
    leaves = next(name for name in reversed(FIRST) if name != leader)
    members = {**{k: v for k, v in FIRST.items() if k != leaves}, "member-4": SPARE}
    fill(lab, FIRST[leader])
    edit(deployment, members, FIRST[leader])
    copies = progress_of(lab, "member-4")
    assert copies
    assert copies[-1].done_bytes == copies[-1].whole_bytes > 150_000_000
    assert leading(lab, members) == leader
    assert timeline(lab) == before, "the leader was not moved"
    assert not service(lab, f"main_{leaves}")
    volumes = lab.node(FIRST[leaves]).docker("volume", "ls", "-q").stdout.split()
    assert {f"main_{leaves}-data", f"main_{leaves}-raft"} <= {*volumes}, "its volumes stay"
    done = [r["action"]["key"] for r in deployment.operator.audit("outcome")]
    assert not [key for key in done if key.startswith(("remove-volume", "remove-secret"))]


def test_the_leader_leaves_and_a_former_member_comes_back(deployment: Deployment) -> None:
    """With its old volumes and its old Raft state, and the operator killed on the way."""
    lab = deployment.lab
    before = timeline(lab)
    found = [row["name"] for row in cluster_table(lab)]
    nodes = {**FIRST, "member-4": SPARE}
    present = {name: nodes[name] for name in sorted(found)}
    leader = leading(lab, present)
    back = next(name for name in FIRST if name not in present)
    members = {**{k: v for k, v in present.items() if k != leader}, back: FIRST[back]}
    stays = next(name for name in members if name in present and name in FIRST)
    edit(deployment, members, FIRST[stays], kills=3)
    assert leading(lab, members) not in ("", leader)
    assert timeline(lab) == before + 1, "the lead moved once"
    assert not service(lab, f"main_{leader}")


def test_a_replica_moves_to_another_node(deployment: Deployment) -> None:
    lab, members = deployment.lab, deployed(deployment)
    before, leader = timeline(lab), leading(lab, members)
    moves = next(name for name, node in members.items() if name != leader and node != SPARE)
    kept = volumes(lab, members[moves])
    assert any(name.startswith(f"main_{moves}") for name in kept)
    edit(deployment, {**members, moves: free_node(members)}, members[leader])
    assert leading(lab, members) == leader
    assert timeline(lab) == before, "the leader was not moved"
    assert kept <= volumes(lab, members[moves]), "its former volumes stay"


def test_a_replica_whose_node_is_dead_is_replaced_on_another_one(deployment: Deployment) -> None:
    """And takes no part when its former node comes back."""
    lab, members = deployment.lab, deployed(deployment)
    leader = leading(lab, members)
    dead = next(name for name, node in members.items() if name != leader and node != SPARE)
    free = free_node(members)
    node = lab.node(members[dead])
    node.power_cut()
    replaced = {**members, dead: free}
    edit(deployment, replaced, members[leader], judged=False)
    node.start()
    time.sleep(20)  # as long as it takes a container to start and to be heard
    assert is_whole(lab, replaced)
    others = frozenset(replaced.values())
    assert all(lists(lab, name, others) for name in others)
    assert patroni(lab, node.name) == {}, "its former data serves nobody"


def test_a_replica_whose_node_stays_down_is_replaced_where_the_file_asks_for_it(
    deployment: Deployment,
) -> None:
    """Without an edit, on the spare node; it takes no part when its former node comes back."""
    lab, operator, members = deployment.lab, deployment.operator, deployed(deployment)
    leader = leading(lab, members)
    dead = next(name for name, node in members.items() if name != leader and node != SPARE)
    free = free_node(members)
    replaced = {**members, dead: free}
    node = lab.node(members[dead])

    def change() -> None:
        node.power_cut()
        operator.wait_for(lambda: is_replaced(deployment, dead, free), "a replacement", CHANGES_S)

    replacing = f"  replaceAfter: 60s\n  spareNodes: [{free}]\n"
    operator.carry_out(written(lab, members, replacing), CHANGES_S)
    reach(deployment, replaced, members[leader], change)
    node.start()
    time.sleep(20)  # as long as it takes a container to start and to be heard
    assert is_whole(lab, replaced)
    others = frozenset(replaced.values())
    assert all(lists(lab, name, others) for name in others)
    assert [*operator.passes()][-1]["converged"], "the file differs, and nothing is to be done"
    edit(deployment, replaced, members[leader])


def is_replaced(deployment: Deployment, name: str, node: str) -> bool:
    """Return True once the operator has noted that the member's place is on this node."""
    noted = decode_replaced(cluster_labels(deployment.lab).get(REPLACED_LABEL, ""))
    return [(note.member, note.node) for note in noted] == [(name, node)]
