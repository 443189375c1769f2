"""Holds for members that do not come up by themselves: the cause, and what a person does."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import Reinitialize
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import MemberStatus, Observed, RaftStatus, Unknown, down_key, hung_key
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import NOW, plan_for, raft_status, status, swarm_of, task, three_nodes
from tests.support.changed import live, with_member, with_raft, with_tasks

NAME, KEY = "main_member-2", "loss/main_member-2"


def seen(observed: Observed, seconds: float) -> Observed:
    kept = {**observed.seen_s_ago, down_key(NAME): seconds, hung_key(NAME): seconds}
    return dataclasses.replace(observed, seen_s_ago=kept)


def answering(state: str, finding: str = "", seen_s: float = 60.0) -> Observed:
    plain = status("member-2", "member-1", state=state, replication_state="")
    tags = {"queenright_finding": finding} if finding else {}
    return seen(with_member(three_nodes(), "member-2", replace_tags(plain, tags)), seen_s)


def replace_tags(plain: MemberStatus, tags: dict[str, object]) -> MemberStatus:
    return dataclasses.replace(plain, tags={**plain.tags, **tags})


def held(observed: Observed) -> Hold | None:
    plan = plan_for(observed)
    assert not any(isinstance(action, Reinitialize) for action in plan.actions)
    return next((hold for hold in plan.holds if hold.key == KEY), None)


@pytest.mark.parametrize("state", ["stopped", "start failed", "unknown", "running"])
def test_a_member_that_does_not_serve_for_a_minute_is_shown_with_the_command(state: str) -> None:
    assert held(answering(state, seen_s=59.0)) is None
    hold = held(answering(state))
    assert hold is not None
    assert hold.wants_attention
    assert hold.reason.endswith(
        "type on node2: docker exec -it $(docker ps -qf "
        "label=com.docker.swarm.service.name=main_member-1) "
        "patronictl -c /tmp/patroni.yml reinit main member-2"
    )


def silent(seen_s: float = 60.0) -> Observed:
    observed = with_member(three_nodes(), "member-2", Unknown("no answer within 2 s"))
    return seen(observed, seen_s)


def test_a_member_whose_raft_node_answers_alone_is_shown_with_the_command() -> None:
    """Seen with a real one whose catalog was cut: PostgreSQL refuses Patroni's connections."""
    assert held(silent(59.0)) is None
    hold = held(silent())
    assert hold is not None
    assert hold.wants_attention
    assert_words(hold)
    assert "patronictl -c /tmp/patroni.yml reinit main member-2" in hold.reason


@pytest.mark.parametrize(
    "raft",
    [
        Unknown("timed out"),
        dataclasses.replace(raft_status("member-2"), has_quorum=False),
        dataclasses.replace(raft_status("member-2"), last_applied=1),
    ],
)
def test_a_silent_member_whose_raft_node_is_not_well_is_none_of_these(
    raft: RaftStatus | Unknown,
) -> None:
    """Its Patroni waits for Raft, or its node has no power."""
    assert held(with_raft(silent(), "member-2", raft)) is None


def test_a_long_start_is_told_and_calls_nobody() -> None:
    """It may be a recovery, or one without end: a catalog was cut, and each connection ends it."""
    assert held(answering("starting", seen_s=119.0)) is None
    hold = held(answering("starting", seen_s=120.0))
    assert hold is not None
    assert not hold.wants_attention
    assert_words(hold)
    leaderless = with_member(answering("starting", seen_s=9000.0), "member-1", Unknown("timed out"))
    assert held(leaderless) is None


@pytest.mark.parametrize(
    ("state", "finding"),
    [
        ("stopped", "damaged-control-file"),
        ("running", "no-room"),
        ("start failed", "no-room"),
        ("unknown", ""),
        ("stopped", "a word of a later image"),
    ],
)
def test_the_words_name_the_cause(state: str, finding: str) -> None:
    hold = held(answering(state, finding))
    assert hold is not None
    assert_words(hold)


def test_a_known_cause_is_shown_at_once() -> None:
    assert held(answering("stopped", "no-room", seen_s=0.0)) is not None


def test_without_a_leader_its_data_is_to_stay_as_it_is() -> None:
    observed = answering("stopped")
    observed = with_member(observed, "member-1", Unknown("timed out"))
    hold = held(observed)
    assert hold is not None
    assert "leave its data as it is" in hold.reason
    assert "reinit" not in hold.reason


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (81, "task: non-zero exit (81)", "make room on node3"),
        (82, "task: non-zero exit (82)", "start the other members"),
        (135, "task: non-zero exit (135)", "make room on node3"),
        (None, "mkdir /var/lib/docker/x: No space left on device", "make room on node3"),
        (1, "task: non-zero exit (1)", ""),
    ],
    ids=[
        "no room",
        "an unreadable journal",
        "no room in a mapping",
        "no room for docker",
        "any other reason",
    ],
)
def test_a_container_that_ends_at_each_start_says_why(
    code: int | None, error: str, words: str
) -> None:
    observed = with_member(three_nodes(), "member-2", Unknown("connection refused"))
    service = live(observed, NAME)
    ended = task(NAME, "node3", state="failed", desired_state="shutdown")
    ended = dataclasses.replace(
        ended, id="ended", at=NOW - timedelta(seconds=2), error=error, exit_code=code
    )
    found = [t for t in swarm_of(observed).tasks if t.service_id == service.id]
    hold = held(with_tasks(observed, NAME, *found, ended))
    assert (hold is not None and words in hold.reason) if words else hold is None
    if hold is not None and code is not None:
        assert_words(hold)


def test_an_empty_member_that_had_data_is_copied_only_after_an_interrupted_copy() -> None:
    empty = MemberStatus(state="stopped", role="uninitialized")
    observed = seen(with_member(three_nodes(), "member-2", empty), 60.0)
    assert [a for a in plan_for(observed).actions if isinstance(a, Reinitialize)] == []
    tagged = replace_tags(empty, {"queenright_finding": "interrupted-copy"})
    observed = seen(with_member(three_nodes(), "member-2", tagged), 60.0)
    long = dataclasses.replace(raft_status("member-2"), uptime_s=121)
    later = with_raft(observed, "member-2", long)  # it was without data later than at its start
    assert [a for a in plan_for(later).actions if isinstance(a, Reinitialize)] == []
    observed = with_raft(observed, "member-2", dataclasses.replace(long, uptime_s=120))
    plan = plan_for(observed)
    (action,) = (a for a in plan.actions if isinstance(a, Reinitialize))
    assert_words(action)
    assert first_refusal(plan, observed) is None
    for unsure in (with_member(observed, "member-2", empty), later):
        refused = first_refusal(plan, unsure)
        assert refused is not None
        assert refused.guard == "only-empty-members-copy"
