"""What a rule must see for itself: a guard refuses a plan whole, and what it would refuse in every
pass would keep all else in it from being done, with nothing that tells a person why."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import LabelConfig, SwitchOver
from queenright.core.guards import first_refusal
from queenright.core.notes import LEADER_LABEL, MOVE_LABEL, LeaderNote, Notes, read_notes
from queenright.core.observed import Attempt, Observed
from queenright.core.plan import Plan
from tests.builders import (
    LONG_AGO,
    NOW,
    live,
    manifest,
    plan_for,
    status,
    summary,
    swarm_of,
    task,
    three_nodes,
    with_member,
    with_notes,
    with_service,
    with_settings,
    with_swarm,
    with_tasks,
    without,
)

WISH = manifest(primary="member-2", fastSwitchover="false")


def wished(text: str = WISH) -> Observed:
    """member-1 leads; the wish for member-2 has just been written."""
    return with_notes(three_nodes(text=text), primary="")


def begins_move(plan: Plan) -> bool:
    labels = [step.config.labels for step in plan.actions if isinstance(step, LabelConfig)]
    return any(read_notes(found).move for found in labels)


def moves(plan: Plan) -> bool:
    return any(isinstance(step, SwitchOver) for step in plan.actions)


class TestAMoveAndItsNote:
    def test_are_planned_together(self) -> None:
        plan = plan_for(wished(), WISH)
        assert moves(plan)
        assert begins_move(plan)

    def test_wait_together_for_another_that_is_disturbed_first(self) -> None:
        plan = plan_for(with_service(wished(), "main_proxy", command=("x",)), WISH)
        assert summary(plan) == (["update-service/main_proxy !main_proxy"], ["switchover/main"])

    def test_wait_together_for_patience(self) -> None:
        tried = Attempt(8, NOW - timedelta(seconds=41), "was refused (401)")
        observed = dataclasses.replace(wished(), attempts={"switchover/main": tried})
        assert summary(plan_for(observed, WISH)) == ([], ["switchover/main"])

    def test_wait_together_for_what_the_configs_wait_for(self) -> None:
        observed = without(wished(), "pg_rest_pw")
        plan = plan_for(observed, WISH)
        assert summary(plan)[0] == ["create-secret/pg_rest_pw"]
        assert first_refusal(plan, observed) is None
        assert "switchover/main" in summary(plan)[1]


@pytest.mark.parametrize(
    ("allowed", "why"),
    [
        (None, "Patroni's settings have no maximum_lag_on_failover"),
        (1 << 20, "member-2 is 5242880 bytes behind, more than 1048576"),
    ],
)
def test_the_lag_that_patroni_still_goes_by_is_written_first(allowed: int | None, why: str) -> None:
    text = f"{WISH}  patroni: {{maximumLagOnFailover: 10MB}}\n"
    behind = status("member-2", "member-1", lag_bytes=5 << 20)
    observed = with_member(wished(text), "member-2", behind)
    plan = plan_for(with_settings(observed, maximum_lag_on_failover=allowed), text)
    assert summary(plan) == (["settings/main"], ["switchover/main"])
    assert why in plan.holds[0].reason
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


def test_a_note_without_a_zone_counts_as_absent() -> None:
    naive = "2026-01-01T00:00:00"
    labels = {
        LEADER_LABEL: f'["member-1", 1, "{naive}"]',
        MOVE_LABEL: f'["member-1", "member-2", 1, "{naive}", "primary"]',
    }
    assert read_notes(labels) == Notes()


def test_a_member_that_came_back_a_moment_ago_is_not_stable() -> None:
    text = manifest(primary="member-1", failback="{mode: automatic, after: 10m}")
    observed = with_notes(
        three_nodes("member-2", text=text), leader=LeaderNote("member-2", 1, LONG_AGO)
    )
    back = task("main_member-1", "node2", slot=1, at=NOW - timedelta(minutes=1))
    plan = plan_for(with_tasks(observed, "main_member-1", back), text)
    assert summary(plan) == ([], ["primary/main"])
    assert plan.recheck_at == NOW + timedelta(minutes=9)
