"""The guards of Raft's logs, each against plans that no rule of ours makes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from queenright.core.actions import UpdateService
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed, RaftStatus, Unknown, raft_key, voters_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import RAFT_RESET_VARIABLE
from tests.golden.messages import assert_words
from tests.support.builders import former_status, raft_status, three_nodes
from tests.support.changed import live, seen_for, with_raft

STUCK, SERVICE, LEADER, OTHER = "member-2", "main_member-2", "member-1", "member-3"


def behind(name: str, **fields: Any) -> RaftStatus:
    return dataclasses.replace(raft_status(name), **({"last_applied": 1} | fields))


def stuck(seen_s: float = 15.0, *, silent: bool = True, **fields: Any) -> Observed:
    seen = with_raft(three_nodes(unknown=[STUCK] if silent else []), STUCK, behind(STUCK, **fields))
    for name in (LEADER, OTHER):
        seen = with_raft(seen, name, raft_status(name))
    seen = dataclasses.replace(seen, seen_s_ago={raft_key(SERVICE): seen_s})
    for name in (LEADER, OTHER):
        seen = seen_for(seen, f"main_{name}", 5.0)
    return seen


def reset(**fields: Any) -> UpdateService:
    found = live(three_nodes(), SERVICE)
    asked = {**found.value.environment, RAFT_RESET_VARIABLE: "7"}
    wanted = dataclasses.replace(found.value, **({"environment": asked} | fields))
    return UpdateService(found.id, found.version, wanted, 0, reason="a test")


def refusal(observed: Observed, action: UpdateService) -> str:
    found = first_refusal(Plan("main", "d", (action,)), observed)
    if found is None:
        return ""
    assert_words(found)
    return found.guard


def test_a_log_that_is_of_no_use_may_be_set_aside() -> None:
    assert refusal(stuck(), reset()) == ""


@pytest.mark.parametrize(
    "seen",
    [
        stuck(14.9),
        dataclasses.replace(stuck(), seen_s_ago={}),
        stuck(uptime_s=3),
        stuck(last_applied=40),
        with_raft(stuck(), STUCK, Unknown("timed out")),
        stuck(silent=False),
        seen_for(stuck(), f"main_{LEADER}", 4.9),
        seen_for(stuck(), f"main_{OTHER}", 4.9),
        with_raft(stuck(), OTHER, dataclasses.replace(raft_status(OTHER), term=2)),
        with_raft(stuck(), OTHER, behind(OTHER)),
    ],
    ids=[
        "for a moment",
        "seen once",
        "just started",
        "applied",
        "silent",
        "answers",
        "leader changed",
        "other changed",
        "other term",
        "two behind",
    ],
)
def test_no_other_log_is_set_aside(seen: Observed) -> None:
    assert refusal(seen, reset()) == "raft-log-is-spared"


def estranged(seen_s: float = 15.0, **fields: Any) -> Observed:
    """A node that lists former voters, and that the others list."""
    seen = with_raft(stuck(seen_s, silent=False), STUCK, former_status(STUCK, **fields))
    for name in (LEADER, OTHER):
        seen = with_raft(seen, name, raft_status(name, silent=[STUCK]))
    return dataclasses.replace(seen, seen_s_ago=seen.seen_s_ago | {voters_key(SERVICE): seen_s})


def test_a_log_of_former_voters_may_be_set_aside_where_the_member_answers_too() -> None:
    assert refusal(estranged(), reset()) == ""


@pytest.mark.parametrize(
    "seen",
    [
        estranged(14.9),
        estranged(uptime_s=3),
        estranged(has_quorum=True),
        estranged(leader="10.77.0.98:5010"),
        estranged(unreachable=frozenset({"10.77.0.12:5010", "10.77.0.98:5010"})),
        estranged(address="10.77.0.97:5010"),
        with_raft(estranged(), OTHER, dataclasses.replace(raft_status(OTHER), term=2)),
    ],
    ids=["for a moment", "just started", "quorum", "leader", "network", "unlisted", "other term"],
)
def test_no_other_node_without_a_quorum_forgets_its_log(seen: Observed) -> None:
    assert refusal(seen, reset()) == "raft-log-is-spared"


def test_nothing_else_is_changed_along_with_it() -> None:
    asked = reset().service.environment
    assert refusal(stuck(), reset(hostname="x", environment=asked)) == "raft-log-is-spared"


def test_a_silent_member_is_restarted_for_nothing_else() -> None:
    given = live(three_nodes(), SERVICE).value.environment
    assert refusal(stuck(), reset(environment=given, hostname="x")) == "unknown-is-not-down"


def test_no_other_member_is_disrupted_meanwhile() -> None:
    found = live(three_nodes(), "main_member-3")
    wanted = dataclasses.replace(found.value, hostname="x")
    action = UpdateService(found.id, found.version, wanted, 0, reason="a test")
    assert refusal(stuck(silent=False), action) == "raft-is-applied"
    assert refusal(stuck(14.0, silent=False), action) == ""
