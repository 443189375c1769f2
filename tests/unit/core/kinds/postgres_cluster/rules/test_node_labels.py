"""A member's node labels: put back where they were removed or moved, and others' are left."""

from __future__ import annotations

import pytest

from queenright.core.actions import LabelNode
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, summary, task, three_nodes
from tests.support.changed import with_node, with_tasks

REPLICA = "main_member-2"


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
