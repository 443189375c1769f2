"""Refusals of the guard, and holds of the rules, where a step would make commits wait."""

from __future__ import annotations

from queenright.core.actions import (
    LabelConfig,
    Switchover,
    UpdateService,
)
from queenright.core.kinds.ruleset import first_refusal
from tests.support.builders import (
    manifest,
    plan_for,
    summary,
    three_nodes,
)
from tests.support.changed import with_notes, with_settings
from tests.support.replication_worlds import (
    STRICT,
    both,
    far,
    in_force,
    patch_of,
    reasons,
    updated,
)


def test_a_guard_of_its_own_refuses_that_too() -> None:
    observed = updated(in_force(STRICT, member_2="sync"))
    plan = plan_for(observed, STRICT)
    assert any(isinstance(step, UpdateService) for step in plan.actions)
    assert first_refusal(plan, observed) is None
    refusal = first_refusal(plan, far(observed, "member-3"))
    assert refusal is not None
    assert refusal.guard == "commits-are-confirmed"


PRIMARY = manifest(replication="{mode: synchronous}", primary="member-3", fastSwitchover="false")


def test_only_a_synchronous_standby_takes_over() -> None:
    observed = with_notes(in_force(PRIMARY, member_2="sync"), primary="")
    plan = plan_for(observed, PRIMARY)
    assert not any(isinstance(step, Switchover) for step in plan.actions)
    assert "member-3 is no synchronous standby (synchronous replication; Patroni has" in reasons(
        plan
    )


def test_a_synchronous_standby_does_and_a_guard_asks_again() -> None:
    observed = with_notes(in_force(PRIMARY, member_3="sync"), primary="")
    plan = plan_for(observed, PRIMARY)
    assert [type(step) for step in plan.actions] == [LabelConfig, Switchover]
    assert first_refusal(plan, observed) is None
    refusal = first_refusal(plan, in_force(PRIMARY, member_2="sync"))
    assert refusal is not None


def test_a_maintenance_without_a_quorum_is_not_safe() -> None:
    text = manifest(replication="{mode: quorum}", maintenance="{nodes: [node3, node4]}")
    observed = both(text)
    plan = plan_for(observed, text)
    assert summary(plan)[0] == []
    assert "not safe to power off node3, node4: replication is quorum" in reasons(plan)
    assert "replication: {mode: asynchronous}" in reasons(plan)


def test_the_pause_for_such_a_maintenance_is_refused() -> None:
    text = manifest(maintenance="{nodes: [node3, node4]}")
    plan = plan_for(three_nodes(text=text), text)
    assert patch_of(plan).patch["pause"] is True
    assert first_refusal(plan, three_nodes(text=text)) is None
    observed = with_settings(three_nodes(text=text), synchronous_mode="quorum")
    refusal = first_refusal(plan, observed)
    assert refusal is not None
    assert "wait for its replicas" in refusal.reason


def test_a_node_whose_replica_can_be_spared_is_safe() -> None:
    text = manifest(replication="{mode: quorum}", maintenance="{nodes: [node4]}")
    assert "safe to power off: node4" in reasons(plan_for(both(text), text))
    too_far = manifest(
        replication="{mode: quorum, maximumLagOnSync: 1K}", maintenance="{nodes: [node4]}"
    )
    observed = far(both(too_far), "member-2", synchronous="quorum")
    assert "not yet safe to power off node4: no replica could" in reasons(
        plan_for(observed, too_far)
    )
