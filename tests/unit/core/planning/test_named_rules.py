"""A plan says which rule made each of its steps; that is no part of the decision."""

from __future__ import annotations

from dataclasses import replace

from tests.support.app_builders import app_manifest, app_plan, undeployed
from tests.support.builders import MANIFEST, plan_for, three_nodes
from tests.support.changed import with_service


def test_each_step_of_a_cluster_and_of_an_application_has_its_rule() -> None:
    changed = with_service(three_nodes(), "main_member-2", command=("x",))
    plan = plan_for(changed, MANIFEST)
    assert [plan.rule_of(action.key) for action in plan.actions] == ["members"]
    served = app_plan(undeployed(), app_manifest())
    assert served.actions
    assert all(served.rule_of(action.key) for action in served.actions)
    assert plan.rule_of("nothing/main") == ""


def test_the_rules_change_neither_the_identifier_nor_the_plan() -> None:
    plan = plan_for(with_service(three_nodes(), "main_member-2", command=("x",)), MANIFEST)
    bare = replace(plan, rules=())
    assert bare.id == plan.id
    assert bare == plan
