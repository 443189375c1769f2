"""A member's node labels: put back where they were removed or moved, and others' are left."""

from __future__ import annotations

from typing import Any

import pytest

from queenright.core.actions import LabelConfig, LabelNode
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.observed import Node
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import MANIFEST, plan_for, summary, swarm_of, task, three_nodes
from tests.support.changed import with_node, with_swarm, with_tasks

REPLICA = "main_member-2"
RENAMED = MANIFEST.replace("node: node4", "node: db4")


def test_a_removed_label_is_put_back() -> None:
    plan = plan_for(with_node(three_nodes(), "node2", labels={}))
    assert summary(plan) == (["label-node/node2"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelNode)
    assert dict(action.labels) == {"pg-node": "1", "pg-ha-node": "true"}


def test_labels_of_others_stay() -> None:
    labels = {"pg-node": "1", "pg-ha-node": "true", "rack": "a"}
    assert plan_for(with_node(three_nodes(), "node2", labels=labels)).is_converged


def test_a_moved_label_goes_back_where_no_member_has_followed_it() -> None:
    observed = with_node(three_nodes(), "node3", labels={"pg-ha-node": "true"})
    observed = with_node(observed, "node1", labels={"pg-node": "2"})
    assert summary(plan_for(observed))[0] == ["label-node/node1", "label-node/node3"]


@pytest.mark.parametrize(
    ("leader", "actions", "holds"),
    [
        ("member-1", ["label-node/node1 !main_member-2", "label-node/node3"], []),
        ("member-2", ["label-node/node3"], ["label-node/node1"]),
    ],
)
def test_a_member_that_followed_its_label_comes_back_unless_it_leads(
    leader: str, actions: list[str], holds: list[str]
) -> None:
    observed = with_node(three_nodes(leader), "node3", labels={"pg-ha-node": "true"})
    observed = with_node(observed, "node1", labels={"pg-node": "2"})
    observed = with_tasks(observed, REPLICA, task(REPLICA, "node1", slot=1))
    plan = plan_for(observed)
    assert summary(plan) == (actions, holds)
    for hold in plan.holds:
        assert_words(hold)


def test_a_renamed_node_keeps_the_label_of_its_member() -> None:
    plan = plan_for(with_node(three_nodes(), "node4", name="db4"))
    assert [action for action in plan.actions if isinstance(action, LabelNode)] == []
    (hold,) = (hold for hold in plan.holds if hold.key == "label-node/db4")
    assert_words(hold)


def test_a_node_with_another_name_and_address_keeps_the_label_too() -> None:
    plan = plan_for(with_node(three_nodes(), "node4", name="db4", address="10.77.0.99"))
    assert plan.actions == ()
    (hold,) = (hold for hold in plan.holds if hold.key == "label-node/db4")
    assert_words(hold)


def test_a_file_that_has_the_new_name_changes_the_note_alone() -> None:
    plan = plan_for(with_node(three_nodes(), "node4", name="db4"), RENAMED)
    assert summary(plan) == (["label-config/main_cluster"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    (place,) = (p for p in decode_places(action.config.labels[MEMBERS_LABEL]) if p.node == "db4")
    assert (place.name, place.address) == ("member-3", "10.77.0.14")


@pytest.mark.parametrize(
    "node",
    [
        pytest.param({"name": "db4", "labels": {}}, id="without the label"),
        pytest.param({"name": "db4", "address": "10.77.0.99"}, id="with another address"),
    ],
)
def test_a_node_that_may_be_another_machine_is_not_noted(node: dict[str, Any]) -> None:
    plan = plan_for(with_node(three_nodes(), "node4", **node), RENAMED)
    assert all(not isinstance(action, LabelConfig) for action in plan.actions)
    assert any(hold.key == "membership/main_member-3" for hold in plan.holds)


def test_a_renamed_node_whose_former_name_another_has_is_not_noted() -> None:
    observed = with_node(three_nodes(), "node4", name="db4")
    swarm = swarm_of(observed)
    other = Node("id-other", "node4", "10.77.0.44", version=9)
    observed = with_swarm(observed, nodes=(*swarm.nodes, other))
    assert all(not isinstance(a, LabelConfig) for a in plan_for(observed, RENAMED).actions)


def test_a_former_entry_of_a_node_is_a_note() -> None:
    former = Node("id-former", "node4", "10.77.0.14", state="down", version=1)
    plan = plan_for(with_swarm(three_nodes(), former_nodes=(former,)))
    assert plan.is_converged
    (note,) = plan.holds
    assert_words(note)


@pytest.mark.parametrize("state", ["down", "ready"])
def test_another_machine_of_the_same_name_wants_attention(state: Any) -> None:
    other = Node("id-other", "node4", "10.77.0.44", state=state, version=1)
    (note,) = plan_for(with_swarm(three_nodes(), former_nodes=(other,))).holds
    assert note.wants_attention
    assert_words(note)
