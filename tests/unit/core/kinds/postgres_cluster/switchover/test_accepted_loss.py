"""A failover that loses something: only as the file accepts it, and to the newest that is left."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from queenright.core.actions import Failover
from queenright.core.kinds.postgres_cluster.switchover.failover_guard import failover_loses_nothing
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.planning.plan import Plan
from tests.golden.messages import Text, assert_words
from tests.support.builders import manifest, plan_for, raft_status
from tests.support.changed import with_raft, with_settings
from tests.unit.core.kinds.postgres_cluster.switchover.test_leaderless import (
    FORMER,
    KEY,
    NEWEST,
    THIRD,
    after_the_power_loss,
    having,
)


def without_the_newest(seen_s: float = 60.0) -> Observed:
    """The former leader, with more WAL on timeline 1, and a replica on timeline 2 are left."""
    observed = after_the_power_loss(seen_s)
    lost = {name: Unknown("timed out") for name in observed.members if name.endswith(NEWEST)}
    observed = dataclasses.replace(observed, members={**observed.members, **lost})
    observed = with_raft(observed, NEWEST, Unknown("timed out"))
    for name in (FORMER, THIRD):
        observed = with_raft(observed, name, raft_status(name, silent={NEWEST}))
    return observed


def text_of(leader: str = THIRD, timeline: int = 2) -> str:
    return manifest(acceptLoss=f"{{leader: {leader}, timeline: {timeline}}}")


def named(observed: Observed, text: str) -> str:
    plan = plan_for(observed, text)
    assert first_refusal(plan, observed) is None
    found = [action.candidate for action in plan.actions if isinstance(action, Failover)]
    return found[0] if found else ""


def held(observed: Observed, text: str) -> str:
    plan = plan_for(observed, text)
    assert not any(isinstance(action, Failover) for action in plan.actions)
    hold = next(hold for hold in plan.holds if hold.key == KEY)
    assert hold.wants_attention
    return hold.reason


def test_without_the_files_word_a_person_is_asked() -> None:
    plan = plan_for(without_the_newest())
    assert_words(next(hold for hold in plan.holds if hold.key == KEY))
    assert not any(isinstance(action, Failover) for action in plan.actions)


NOTES: dict[str, tuple[Known[int] | Unknown, str]] = {
    "behind all": (Known(0), "(at least"),
    "behind the replica": (Known(3900), "(at least"),
    "unknown": (Unknown("HTTP status 503"), "(at least"),
    "beyond the replica": (Known(4800), "what only member-2 has (at least 800 bytes) is lost"),
}


@pytest.mark.parametrize("case", NOTES)
def test_what_patroni_noted_of_the_last_leader_bounds_the_loss(case: str) -> None:
    """member-1 left timeline 2 at 3000, so its further WAL counts for nothing."""
    noted, words = NOTES[case]
    observed = dataclasses.replace(without_the_newest(), leader_locations={"main": noted})
    hold = next(hold for hold in plan_for(observed).holds if hold.key == KEY)
    assert (words in hold.reason) is (case == "beyond the replica")
    assert_words(Text(f"loss noted {case}", hold.reason))
    (action,) = plan_for(observed, text_of()).actions
    assert ("at least 800 bytes" in action.reason) is (case == "beyond the replica")


def test_the_bytes_of_one_that_answers_are_not_those_of_the_missing_one() -> None:
    """Without Patroni's history all positions are taken for those of one timeline: it is less."""
    observed = dataclasses.replace(without_the_newest(), leader_locations={"main": Known(9500)})
    assert "what only member-2 has (at least 5500 bytes)" in held(observed, manifest())
    unknown = dataclasses.replace(observed, history={"main": Unknown("HTTP status 503")})
    assert "what only member-2 has (at least 500 bytes)" in held(unknown, manifest())


def test_the_files_word_names_the_leader() -> None:
    plan = plan_for(without_the_newest(), text_of())
    (action,) = plan.actions
    assert isinstance(action, Failover)
    assert (action.candidate, action.accepted_timeline) == (THIRD, 2)
    assert_words(action)
    assert first_refusal(plan, without_the_newest()) is None


@pytest.mark.parametrize(
    ("leader", "timeline"), [(THIRD, 1), (THIRD, 3), (FORMER, 1), (FORMER, 2), (NEWEST, 2)]
)
def test_a_word_for_another_member_or_loss_counts_for_nothing(leader: str, timeline: int) -> None:
    reason = held(without_the_newest(), text_of(leader, timeline))
    assert f"acceptLoss names {leader} on timeline {timeline}" in reason


def test_while_all_members_answer_nothing_is_lost_whatever_the_file_accepts() -> None:
    assert named(after_the_power_loss(), text_of()) == NEWEST


def test_patroni_has_its_minute_all_the_same() -> None:
    assert named(without_the_newest(59.0), text_of()) == ""


UNSURE: dict[str, Callable[[Observed], Observed]] = {
    "no settings": lambda o: dataclasses.replace(o, settings={"main": Unknown("HTTP status 503")}),
    "no quorum": lambda o: with_raft(o, FORMER, Unknown("timed out")),
    "a node that has not applied all": lambda o: with_raft(
        o, THIRD, dataclasses.replace(raft_status(THIRD, silent={NEWEST}), commit_index=10**6)
    ),
    "two leaders of Raft": lambda o: with_raft(
        o, THIRD, dataclasses.replace(raft_status(THIRD, silent={NEWEST}), leader="10.0.0.9:1")
    ),
    "a lock": lambda o: having(o, FORMER, 1, 9000, cluster_unlocked=False),
    "a tag": lambda o: having(o, THIRD, 2, 4000, tags={"nofailover": True}),
}


@pytest.mark.parametrize("case", UNSURE)
def test_what_is_not_certain_waits(case: str) -> None:
    assert "acceptLoss: " in held(UNSURE[case](without_the_newest()), text_of())


def test_a_pause_is_respected() -> None:
    assert named(with_settings(without_the_newest(), pause=True), text_of()) == ""


GUARDED: dict[str, Callable[[Observed], Observed]] = {
    "has not the newest data": lambda o: having(o, FORMER, 2, 9000),
    "accepted timeline": lambda o: having(o, THIRD, 3, 4000),
    "sees a leader lock": lambda o: having(o, FORMER, 1, 9000, cluster_unlocked=False),
    "leads": lambda o: having(o, FORMER, 1, 9000, holds_lock=True, role="primary"),
    "no quorum that agrees": lambda o: with_raft(
        o, THIRD, dataclasses.replace(raft_status(THIRD, silent={NEWEST}), term=99)
    ),
    "Raft node": lambda o: with_raft(o, FORMER, Unknown("timed out")),
    "paused": lambda o: with_settings(o, pause=True),
    "less than a minute": lambda o: dataclasses.replace(o, seen_s_ago={}),
}


@pytest.mark.parametrize("why", GUARDED)
def test_the_guard_decides_from_the_observation_alone(why: str) -> None:
    plan: Plan = plan_for(without_the_newest(), text_of())
    assert failover_loses_nothing(plan, without_the_newest()) is None
    refused = failover_loses_nothing(plan, GUARDED[why](without_the_newest()))
    assert refused is not None
    assert why in refused.reason


def test_the_guard_takes_a_member_that_is_known_to_lead_for_one() -> None:
    observed = without_the_newest()
    plan = plan_for(observed, text_of())
    reading = observed.members[f"main_{FORMER}"]
    assert isinstance(reading, Known)
    leads = dataclasses.replace(reading.value, holds_lock=True, role="primary")
    members = {**observed.members, f"main_{NEWEST}": Known(leads)}
    assert failover_loses_nothing(plan, dataclasses.replace(observed, members=members)) is not None
