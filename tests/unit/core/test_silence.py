"""What is not as the file wants it, or not known to be, is told."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from queenright.core.observed import Unknown
from queenright.core.published import ROUTE_KEY, Route
from tests.builders import (
    NOW,
    plan_for,
    status,
    summary,
    three_nodes,
    with_member,
    with_settings,
)


def test_settings_that_nobody_tells_are_not_taken_for_the_files() -> None:
    observed = dataclasses.replace(three_nodes(), settings={"main": Unknown("timed out")})
    plan = plan_for(observed)
    assert summary(plan) == ([], ["settings/main"])
    assert not plan.is_converged
    assert "(timed out)" in plan.holds[0].reason


def test_two_that_lead_are_both_named() -> None:
    plan = plan_for(with_member(three_nodes(), "member-2", status("member-2", "member-2")))
    assert summary(plan) == ([], ["cluster/main"])
    assert plan.holds[0].reason == (
        "the database is not whole: member-1 and member-2 each say that they lead, and prove it by "
        "the leader lock"
    )


def test_a_hint_that_led_to_no_move_says_so() -> None:
    for at in (NOW - timedelta(minutes=1), NOW + timedelta(hours=1)):
        hint = str(Route("follow", "member-3", at))
        (action,) = plan_for(with_settings(three_nodes(), **{ROUTE_KEY: hint})).actions
        assert action.reason == "the lead did not move to member-3: the proxies look as usual"
