"""A deployed member whose line names another node: it stays, with its labels and its address."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.observed import Observed
from tests.builders import (
    MANIFEST,
    desired,
    manifest,
    plan_for,
    summary,
    swarm_of,
    task,
    three_nodes,
    with_node,
    with_swarm,
    with_tasks,
)


def moved(member: str, node: str, to: str) -> str:
    line = f"{{name: {member}, node: {node}"
    assert line in MANIFEST
    return MANIFEST.replace(line, f"{{name: {member}, node: {to}")


@pytest.mark.parametrize(("number", "node"), [(1, "node2"), (2, "node3"), (3, "node4")])
def test_a_node_that_is_not_there_takes_nothing_from_the_one_that_is(
    number: int, node: str
) -> None:
    """A misspelt name must not stop a member: neither the leader nor a replica, nor its proxy."""
    plan = plan_for(three_nodes(), moved(f"member-{number}", node, "node9"))
    assert summary(plan) == ([], [f"preflight/spec.members[{number - 1}].node"])
    assert 'no node of this swarm is called "node9"' in plan.holds[0].reason


@pytest.mark.parametrize(("number", "node"), [(1, "node2"), (2, "node3"), (3, "node4")])
def test_a_move_to_another_node_is_held(number: int, node: str) -> None:
    plan = plan_for(three_nodes(), moved(f"member-{number}", node, "node1"))
    assert summary(plan) == ([], [f"update-service/main_member-{number}"])
    assert f"Write node: {node} in the file again" in plan.holds[0].reason


def test_members_that_change_places_both_stay() -> None:
    text = moved("member-2", "node3", "node4").replace(
        "{name: member-3, node: node4", "{name: member-3, node: node3"
    )
    plan = plan_for(three_nodes(), text)
    assert summary(plan) == ([], ["update-service/main_member-2", "update-service/main_member-3"])


def test_a_new_member_in_the_place_of_one_that_would_move_is_not_made() -> None:
    text = moved("member-3", "node4", "node1").replace(
        "node: node1}", "node: node1}\n    - {name: member-4, node: node4}"
    )
    text = text.replace("  proxies:", "    - {name: member-5, node: node5}\n  proxies:")
    observed = three_nodes()
    fifth = dataclasses.replace(
        swarm_of(observed).nodes[-1], id="id-node5", name="node5", address="10.77.0.15", labels={}
    )
    observed = with_swarm(observed, nodes=(*swarm_of(observed).nodes, fifth))
    assert summary(plan_for(observed, text)) == ([], ["update-service/main_member-3"])


def test_a_misspelt_proxy_node_takes_no_proxy_away() -> None:
    text = MANIFEST + "    nodes: [node2, node3, node9]\n"
    assert summary(plan_for(three_nodes(), text)) == ([], ["preflight/spec.proxies.nodes[2]"])


def test_while_a_move_is_held_drift_is_still_put_back() -> None:
    observed = with_node(three_nodes(), "node3", labels={"pg-ha-node": "true"})
    plan = plan_for(observed, moved("member-3", "node4", "node1"))
    assert summary(plan) == (["label-node/node3"], ["update-service/main_member-3"])


def replaced_machine(text: str) -> Observed:
    """node4 has left the swarm, and node5 has come with its address."""
    observed = three_nodes(text=text)
    nodes = tuple(
        dataclasses.replace(node, id="id-node5", name="node5", labels={})
        if node.name == "node4"
        else node
        for node in swarm_of(observed).nodes
    )
    observed = with_swarm(observed, nodes=nodes)
    observed = with_tasks(observed, "main_member-3", task("main_member-3", "", state="pending"))
    return with_tasks(
        observed, "main_proxy", task("main_proxy", "node2"), task("main_proxy", "node3")
    )


def test_a_new_machine_under_the_old_address_takes_the_member_when_the_file_says_so() -> None:
    before = replaced_machine(MANIFEST)
    assert summary(plan_for(before))[0] == []
    assert "label-node/node5" in summary(plan_for(before, moved("member-3", "node4", "node5")))[0]


def test_an_address_in_the_file_says_that_the_node_is_meant() -> None:
    explicit = MANIFEST.replace("node: node4}", "node: node4, address: 10.77.0.14}")
    assert desired(explicit).members[2].address == "10.77.0.14"
    text = explicit.replace("node: node4, ", "node: node1, ")
    actions, _ = summary(plan_for(three_nodes(text=explicit), text))
    assert "label-node/node4 !main_member-3" in actions


def test_a_proxy_node_that_left_the_file_loses_its_proxy() -> None:
    text = manifest().rstrip("\n") + "\n    nodes: [node2, node3]\n"
    assert summary(plan_for(three_nodes(), text)) == (["label-node/node4 !main_proxy"], [])
