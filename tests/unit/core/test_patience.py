"""Backoff: what is tried in vain waits longer each time, and the waiting is told."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.backoff import delay_s
from queenright.core.observed import Attempt
from tests.builders import NOW, found_images, plan_for, summary, three_nodes, with_service, without

KEY = "update-service/main_member-2"


@pytest.mark.parametrize(
    ("count", "plain"), [(1, 0.5), (2, 1), (3, 2), (8, 64), (10, 256), (11, 300), (60, 300)]
)
def test_the_delay_doubles_up_to_five_minutes_within_a_fifth(count: int, plain: float) -> None:
    delays = {delay_s(f"key-{number}", count) for number in range(50)}
    assert all(0.79 * plain < delay < 1.21 * plain for delay in delays)
    assert len(delays) > 10, "keys do not wait in step"
    assert delay_s("key", count) == delay_s("key", count)


def test_nothing_tried_nothing_waited() -> None:
    assert delay_s("key", 0) == 0


@pytest.mark.parametrize(("count", "wants_attention"), [(1, False), (2, False), (3, True)])
def test_an_action_tried_in_vain_is_held_until_its_time(count: int, wants_attention: bool) -> None:
    attempts = {KEY: Attempt(count, NOW)}
    observed = dataclasses.replace(
        with_service(three_nodes(), "main_member-2", hostname="x"), attempts=attempts
    )
    plan = plan_for(observed)
    assert summary(plan) == ([], [KEY])
    (hold,) = plan.holds
    due = NOW + timedelta(seconds=delay_s(KEY, count))
    assert (hold.recheck_at, hold.wants_attention) == (due, wants_attention)
    assert plan.recheck_at == due
    assert summary(plan_for(observed, now=due)) == ([f"{KEY} !main_member-2"], [])


def test_one_that_waits_does_not_keep_others_waiting() -> None:
    observed = with_service(three_nodes(), "main_member-2", hostname="x")
    observed = dataclasses.replace(
        without(observed, "main_patroni"),
        attempts={KEY: Attempt(9, NOW)},
        images=found_images(),
    )
    assert summary(plan_for(observed))[0] == ["create-network/main_patroni"]
