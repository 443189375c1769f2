"""Differences from the file, and unknown sources, are all reported."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY, Route
from queenright.core.observed import Unknown
from tests.golden.messages import assert_words
from tests.support.builders import NOW, plan_for, status, summary, three_nodes
from tests.support.changed import with_member, with_settings


def test_settings_that_nobody_tells_are_not_taken_for_the_files() -> None:
    observed = dataclasses.replace(three_nodes(), settings={"main": Unknown("timed out")})
    plan = plan_for(observed)
    assert summary(plan) == ([], ["settings/main"])
    assert not plan.is_converged
    assert_words(plan.holds[0])


def test_two_that_lead_are_both_named() -> None:
    plan = plan_for(with_member(three_nodes(), "member-2", status("member-2", "member-2")))
    assert summary(plan) == ([], ["cluster/main"])
    assert_words(plan.holds[0])


def test_a_hint_that_led_to_no_move_says_so() -> None:
    for at in (NOW - timedelta(minutes=1), NOW + timedelta(hours=1)):
        hint = str(Route("follow", "member-3", at))
        (action,) = plan_for(with_settings(three_nodes(), **{ROUTE_KEY: hint})).actions
        assert_words(action)
