"""Labels that place the tasks of an application, where a node has another name than in the file."""

from __future__ import annotations

from queenright.core.actions import LabelNode
from tests.golden.messages import assert_words
from tests.support.app_builders import EDGE_NODES, app_plan, behind, behind_it
from tests.support.app_upgrades import hold
from tests.support.changed import with_node


def test_a_node_under_another_name_keeps_its_tasks() -> None:
    renamed = with_node(behind_it(), EDGE_NODES[0], name="db2")
    plan = app_plan(renamed, behind())
    assert not [action for action in plan.actions if isinstance(action, LabelNode)]
    held = hold(plan, "label-node/db2")
    assert_words(held)
    assert held.wants_attention
