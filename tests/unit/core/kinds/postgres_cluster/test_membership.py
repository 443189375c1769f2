"""A deployed member whose line names a node where it can't be: it stays, with its labels."""

from __future__ import annotations

import pytest

from queenright.core.kinds.postgres_cluster.membership import with_deployed_members
from queenright.core.kinds.postgres_cluster.places import DeployedMember
from tests.golden.messages import assert_words
from tests.support.builders import MANIFEST, document, manifest, plan_for, summary, three_nodes
from tests.support.changed import with_node

PLACES = tuple(
    DeployedMember(f"member-{k}", f"node{k + 1}", f"10.77.0.1{k + 1}") for k in (1, 2, 3)
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
    assert summary(plan) == (
        [],
        [f"membership/main_member-{number}", f"preflight/spec.members[{number - 1}].node"],
    )
    assert_words(plan.holds[1])


SWAPPED = moved("member-2", "node3", "node4").replace(
    "{name: member-3, node: node4", "{name: member-3, node: node3"
)


def test_members_that_change_places_both_stay() -> None:
    plan = plan_for(three_nodes(), SWAPPED)
    assert summary(plan) == ([], ["membership/main_member-2", "membership/main_member-3"])
    assert_words(plan.holds[0])


def test_a_misspelt_proxy_node_takes_no_proxy_away() -> None:
    text = MANIFEST + "    nodes: [node2, node3, node9]\n"
    assert summary(plan_for(three_nodes(), text)) == ([], ["preflight/spec.proxies.nodes[2]"])


def test_while_a_move_is_held_drift_is_still_put_back() -> None:
    observed = with_node(three_nodes(), "node3", labels={"pg-ha-node": "true"})
    plan = plan_for(observed, SWAPPED)
    assert summary(plan) == (
        ["label-node/node3"],
        ["membership/main_member-2", "membership/main_member-3"],
    )


def test_a_proxy_node_that_left_the_file_loses_its_proxy() -> None:
    text = manifest().rstrip("\n") + "\n    nodes: [node2, node3]\n"
    assert summary(plan_for(three_nodes(), text)) == (["label-node/node4 !main_proxy"], [])


@pytest.mark.parametrize(
    ("standing", "nodes"),
    [(("node5", "node6"), ("node5", "node6")), ((), ("node4", "node6"))],
    ids=["deployed there", "follows the line"],
)
def test_a_proxy_stays_where_it_is_before_and_after_a_move(
    standing: tuple[str, ...], nodes: tuple[str, ...]
) -> None:
    """The member's new node has a proxy of its own already, or gets one with the member."""
    text = moved("member-3", "node4", "node5") + "    nodes: [node5, node6]\n"
    cluster = with_deployed_members(document(text).resource, PLACES, standing)
    assert cluster.spec.proxies.nodes == nodes


@pytest.mark.parametrize("standing", [("node2", "node3", "node4", "node5"), ("node2",)])
def test_proxies_on_all_nodes_of_the_file_keep_those_that_are_deployed(
    standing: tuple[str, ...],
) -> None:
    more = "    - {name: member-4, node: node5}\n  acknowledge: [evenMembers]\n  proxies:"
    text = MANIFEST.replace("  proxies:", more) + "    nodes: [node2, node3, node4, node5]\n"
    cluster = with_deployed_members(document(text).resource, PLACES, standing)
    assert {*cluster.spec.proxies.nodes} == {"node2", "node3", "node4", *standing}
