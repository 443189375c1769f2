"""Holds for a member whose Patroni answers and whose Raft node does not."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Observed, Unknown, mute_key
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, raft_status, three_nodes
from tests.support.changed import with_member, with_raft

NAME = "member-2"


def mute(seen_s: float | None = 60.0) -> Observed:
    observed = with_raft(three_nodes(), NAME, Unknown("timed out"))
    seen = {} if seen_s is None else {mute_key(f"main_{NAME}"): seen_s}
    return dataclasses.replace(observed, seen_s_ago=seen)


def held(observed: Observed) -> list[Hold]:
    return [hold for hold in plan_for(observed).holds if hold.key.startswith("silent-raft/")]


def test_it_is_named_after_a_minute_with_what_a_person_does() -> None:
    (hold,) = held(mute())
    assert (hold.key, hold.wants_attention) == (f"silent-raft/main_{NAME}", True)
    assert_words(hold)
    assert held(mute(59.0)) == []
    assert held(mute(None)) == [], "a command that reads once has seen nothing for a minute"


def test_a_member_that_is_silent_itself_is_no_such_one() -> None:
    assert held(with_member(mute(), NAME, Unknown("timed out"))) == []


def test_a_quorum_that_is_not_certain_without_it_has_another_hold() -> None:
    alone = dataclasses.replace(raft_status("member-3", silent={NAME}), has_quorum=False)
    assert held(with_raft(mute(), "member-3", alone)) == []
