"""Holds for a Raft node that alone has no quorum."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Known, Observed, RaftStatus, Unknown, voters_key
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, raft_status, status, three_nodes
from tests.support.changed import with_member, with_raft

NAME = "member-2"
OTHERS = ("member-1", "member-3")


def alone(status: RaftStatus | None = None, seen_s: float = 60.0) -> Observed:
    lone = status or raft_status(NAME, silent={*OTHERS})
    observed = with_raft(three_nodes(), NAME, dataclasses.replace(lone, has_quorum=False))
    return dataclasses.replace(observed, seen_s_ago={voters_key(f"main_{NAME}"): seen_s})


def held(observed: Observed) -> Hold | None:
    found = [hold for hold in plan_for(observed).holds if hold.key.startswith("lone-raft/")]
    assert len(found) <= 1
    return found[0] if found else None


def test_it_is_named_with_whom_it_does_not_reach() -> None:
    hold = held(alone())
    assert hold is not None
    assert (hold.key, hold.wants_attention) == (f"lone-raft/main_{NAME}", True)
    assert_words(hold)


def test_it_has_a_minute_to_connect_again() -> None:
    assert held(alone(seen_s=59.0)) is None


def test_a_node_that_lists_others_than_they_do_is_to_be_started_again() -> None:
    status = raft_status(NAME, silent={*OTHERS})
    more = dataclasses.replace(status, unreachable=status.unreachable | {"10.77.0.99:5010"})
    hold = held(alone(more))
    assert hold is not None
    assert_words(hold)
    gone = dataclasses.replace(status, address="10.77.0.98:5010")
    hold = held(alone(gone))
    assert hold is not None
    assert "they do not list it any more" in hold.reason


def without_quorum(seen_s: float = 60.0) -> Observed:
    """member-1 alone answers, and reaches nobody."""
    observed = three_nodes()
    for name in (NAME, "member-3"):
        observed = with_member(observed, name, Unknown("timed out"))
        observed = with_raft(observed, name, Unknown("timed out"))
    lone = raft_status("member-1", silent={NAME, "member-3"})
    observed = with_raft(observed, "member-1", dataclasses.replace(lone, has_quorum=False))
    observed = with_member(observed, "member-1", Unknown("connection refused"))
    return dataclasses.replace(observed, seen_s_ago={voters_key("main_member-1"): seen_s})


def quorum_hold(observed: Observed) -> Hold | None:
    return next((h for h in plan_for(observed).holds if h.key == "quorum/main"), None)


def test_a_lost_quorum_names_the_nodes_to_bring_back() -> None:
    hold = quorum_hold(without_quorum())
    assert hold is not None
    assert_words(hold)
    assert quorum_hold(without_quorum(59.0)) is None
    assert quorum_hold(alone()) is None
    assert quorum_hold(three_nodes()) is None


def test_a_lost_quorum_says_what_the_members_that_are_left_lack() -> None:
    """For the way back where a majority is gone for ever, for which one chooses among them."""
    seen = status("member-1", "nobody", timeline=2, location=4000, lag_bytes=None)
    observed = with_member(without_quorum(), "member-1", seen)
    hold = quorum_hold(dataclasses.replace(observed, leader_locations={"main": Known(4800)}))
    assert hold is not None
    assert "what only member-2 and member-3 have (at least 800 bytes) is lost" in hold.reason
    assert_words(hold)


def test_it_is_not_alone_while_another_is_unknown_or_has_no_quorum_either() -> None:
    assert held(with_raft(alone(), "member-3", Unknown("timed out"))) is None
    second = dataclasses.replace(raft_status("member-3", silent={*OTHERS}), has_quorum=False)
    assert held(with_raft(alone(), "member-3", second)) is None
    assert held(three_nodes()) is None
