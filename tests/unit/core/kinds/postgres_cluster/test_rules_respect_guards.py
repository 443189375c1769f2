"""Rules respect guards: a guard refuses a whole plan, so a rule that plans a refused step again and
again would block everything else, without a reason for a person."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import LabelConfig, Switchover
from queenright.core.kinds.postgres_cluster.annotations import (
    LEADER_LABEL,
    MOVE_LABEL,
    Annotations,
    LastLeader,
    read_annotations,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Attempt, Observed
from queenright.core.planning.plan import Plan
from tests.golden.messages import assert_words
from tests.support.builders import (
    LONG_AGO,
    NOW,
    manifest,
    plan_for,
    status,
    summary,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import (
    live,
    with_member,
    with_notes,
    with_service,
    with_settings,
    with_swarm,
    with_tasks,
    without,
)

WISH = manifest(primary="member-2", fastSwitchover="false")


def wanted(text: str = WISH) -> Observed:
    """member-1 leads; `primary: member-2` has just been written."""
    return with_notes(three_nodes(text=text), primary="")


def begins_move(plan: Plan) -> bool:
    labels = [step.config.labels for step in plan.actions if isinstance(step, LabelConfig)]
    return any(read_annotations(found).move for found in labels)


def moves(plan: Plan) -> bool:
    return any(isinstance(step, Switchover) for step in plan.actions)


class TestAMoveAndItsNote:
    def test_are_planned_together(self) -> None:
        plan = plan_for(wanted(), WISH)
        assert moves(plan)
        assert begins_move(plan)

    def test_wait_together_for_another_that_is_disrupted_first(self) -> None:
        plan = plan_for(with_service(wanted(), "main_proxy", command=("x",)), WISH)
        assert summary(plan) == (["update-service/main_proxy !main_proxy"], ["switchover/main"])

    def test_wait_together_for_patience(self) -> None:
        tried = Attempt(8, 41, "was refused (401)")
        observed = dataclasses.replace(wanted(), attempts={"switchover/main": tried})
        assert summary(plan_for(observed, WISH)) == ([], ["switchover/main"])

    def test_wait_together_for_what_the_configs_wait_for(self) -> None:
        observed = without(wanted(), "pg_rest_pw")
        plan = plan_for(observed, WISH)
        assert summary(plan)[0] == ["create-secret/pg_rest_pw"]
        assert first_refusal(plan, observed) is None
        assert "switchover/main" in summary(plan)[1]
        assert_words(*plan.holds, *plan.actions)


@pytest.mark.parametrize("allowed", [None, 1 << 20])
def test_the_lag_that_patroni_still_goes_by_is_written_first(allowed: int | None) -> None:
    text = f"{WISH}  patroni: {{maximumLagOnFailover: 10MB}}\n"
    behind = status("member-2", "member-1", lag_bytes=5 << 20)
    observed = with_member(wanted(text), "member-2", behind)
    plan = plan_for(with_settings(observed, maximum_lag_on_failover=allowed), text)
    assert summary(plan) == (["settings/main"], ["switchover/main"])
    assert_words(*plan.holds)
    assert moves(plan_for(observed, text))


def test_a_stray_member_keeps_restarts_from_being_planned_and_nothing_else() -> None:
    observed = three_nodes()
    found = live(observed, "main_member-3")
    stray = dataclasses.replace(
        found, id="id-stray", value=dataclasses.replace(found.value, name="main_member-9")
    )
    observed = with_swarm(observed, services=(*swarm_of(observed).services, stray))
    observed = with_settings(with_service(observed, "main_member-2", command=("x",)), ttl=99)
    plan = plan_for(observed)
    assert summary(plan) == (
        ["settings/main"],
        ["membership/main_member-9", "update-service/main_member-2"],
    )
    assert first_refusal(plan, observed) is None
    assert_words(*plan.holds, *plan.actions)


def test_a_note_without_a_zone_counts_as_absent() -> None:
    naive = "2026-01-01T00:00:00"
    labels = {
        LEADER_LABEL: f'["member-1", 1, "{naive}"]',
        MOVE_LABEL: f'["member-1", "member-2", 1, "{naive}", "primary"]',
    }
    assert read_annotations(labels) == Annotations()


def test_a_member_that_came_back_a_moment_ago_is_not_stable() -> None:
    text = manifest(primary="member-1", failback="{mode: automatic, after: 10m}")
    observed = with_notes(
        three_nodes("member-2", text=text), leader=LastLeader("member-2", 1, LONG_AGO)
    )
    back = task("main_member-1", "node2", slot=1, at=NOW - timedelta(minutes=1))
    plan = plan_for(with_tasks(observed, "main_member-1", back), text)
    assert summary(plan) == ([], ["primary/main"])
    assert plan.recheck_at == NOW + timedelta(minutes=9)
