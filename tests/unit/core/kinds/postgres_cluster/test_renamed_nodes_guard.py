"""The guard of members on renamed nodes, against plans that no rule makes."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.places import decode_places, encode_places
from queenright.core.kinds.postgres_cluster.renamed_nodes_guard import renamed_nodes_keep_members
from queenright.core.observed import Observed
from queenright.core.planning.configs import relabelled
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import swarm_of, three_nodes
from tests.support.changed import with_node, with_tasks

REPLICA = "main_member-3"
RENAMED = with_node(three_nodes(), "node4", name="db4")


def why(observed: Observed, *actions: object) -> str:
    """The refusal's reason, its words compared with the page; empty where there is none."""
    found = renamed_nodes_keep_members(Plan("main", "d", actions), observed)  # type: ignore[arg-type]
    if found is None:
        return ""
    assert_words(found)
    return found.reason


def noted(observed: Observed, **fields: object) -> LabelConfig:
    """The note of these fields in the place of member-3."""
    live = swarm_of(observed).config("main_cluster")
    assert live is not None
    places = [*decode_places(live.value.labels[MEMBERS_LABEL])]
    places[2] = dataclasses.replace(places[2], **fields)  # type: ignore[arg-type]
    labels = {**live.value.labels, MEMBERS_LABEL: encode_places(places)}
    return relabelled(live, labels, "a test")


@pytest.mark.parametrize("value", [None, "4"])
def test_a_label_stays_while_the_noted_node_is_gone(value: str | None) -> None:
    for observed, refused in ((RENAMED, True), (three_nodes(), False)):
        node = swarm_of(observed).node_by_id("id-node4")
        assert node is not None
        action = relabelled_node(node, {"pg-node": value}, "a test")
        assert bool(why(observed, action)) == refused
    assert why(with_tasks(RENAMED, REPLICA), action) == "", "it stops nobody"
    other = relabelled_node(node, {"web": "true"}, "a test")
    assert why(RENAMED, other) == ""


def test_a_place_follows_the_name_of_its_node() -> None:
    assert why(RENAMED, noted(RENAMED, node="db4")) == ""
    assert why(three_nodes(), noted(three_nodes())) == ""


def test_a_place_follows_no_other_node() -> None:
    unlabelled = with_node(RENAMED, "db4", labels={})
    assert "is in the swarm" in why(three_nodes(), noted(three_nodes(), node="node1"))
    assert "has not the label" in why(unlabelled, noted(unlabelled, node="db4"))
    assert "has not the label" in why(RENAMED, noted(RENAMED, node="db5"))
    assert "more of the place" in why(RENAMED, noted(RENAMED, node="db4", address="10.77.0.99"))
    assert "more of the place" in why(RENAMED, noted(RENAMED, node="db4", volumes="main_other"))
