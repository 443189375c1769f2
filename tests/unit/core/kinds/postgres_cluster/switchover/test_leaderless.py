"""The failover that the operator plans: nobody leads, and every member tells what it has."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from queenright.core.actions import Failover
from queenright.core.kinds.postgres_cluster.places import encode_names
from queenright.core.kinds.postgres_cluster.switchover.failover_guard import failover_loses_nothing
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import (
    LEADERLESS,
    UNLOCKED,
    Known,
    Observed,
    TimelineEnd,
    Unknown,
)
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import VOTELESS_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import (
    NOW,
    document,
    manifest,
    plan_for,
    raft_status,
    status,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import (
    with_config_labels,
    with_live_service,
    with_member,
    with_raft,
    with_settings,
    without,
)
from tests.support.plans import make_plan

FORMER, NEWEST, THIRD = "member-1", "member-2", "member-3"
KEY = "failover/main"


def after_the_power_loss(seen_s: float = 60.0, said_s: float | None = None) -> Observed:
    """member-1 led on timeline 1 and has more WAL than member-2, which led on timeline 2. Nobody is
    known to lead for ``seen_s``, of which the members have said so for ``said_s``."""
    said_s = seen_s if said_s is None else said_s
    ends = {FORMER: (1, 9000), NEWEST: (2, 5000), THIRD: (2, 4000)}
    members = {f"main_{name}": Known(waiting(name, *end)) for name, end in ends.items()}
    return dataclasses.replace(
        three_nodes(),
        members=members,
        history={"main": Known((TimelineEnd(1, 3000, "no recovery target specified"),))},
        seen_s_ago={f"{LEADERLESS}main": seen_s, f"{UNLOCKED}main": said_s},
    )


def waiting(name: str, timeline: int | None, location: int | None, **fields: Any) -> Any:
    plain = status(
        name,
        "nobody",
        timeline=timeline,
        location=location,
        lag_bytes=None,
        replication_state="",
        cluster_unlocked=True,
    )
    return dataclasses.replace(plain, **fields)


def having(observed: Observed, name: str, *end: int | None, **fields: Any) -> Observed:
    return with_member(observed, name, waiting(name, *end, **fields))


def named(observed: Observed, text: str | None = None) -> str:
    """The member to whom the plan gives the leadership; empty for none."""
    plan = plan_for(observed) if text is None else plan_for(observed, text)
    assert first_refusal(plan, observed) is None
    found = [action.candidate for action in plan.actions if isinstance(action, Failover)]
    return found[0] if found else ""


def test_the_newest_timeline_counts_before_the_most_wal() -> None:
    plan = plan_for(after_the_power_loss())
    assert summary(plan) == ([KEY], ["cluster/main"])
    (action,) = plan.actions
    assert isinstance(action, Failover)
    assert (action.candidate, action.address, action.disrupts) == (NEWEST, "10.77.0.13", "")
    assert "(timeline 2, WAL position 5000)" in action.reason
    assert_words(action)
    assert first_refusal(plan, after_the_power_loss()) is None


def test_on_the_same_timeline_the_most_wal_counts() -> None:
    assert named(having(after_the_power_loss(), THIRD, 2, 5001)) == THIRD


def test_among_equals_the_priority_counts() -> None:
    observed = having(after_the_power_loss(), THIRD, 2, 5000)
    members = "".join(
        f"    - {{name: {name}, node: {node}, failoverPriority: {priority}}}\n"
        for name, node, priority in (
            (FORMER, "node2", 3),
            (NEWEST, "node3", 1),
            (THIRD, "node4", 2),
        )
    )
    plain = manifest()
    first, last = plain.index("    - {name"), plain.index("  proxies:")
    text = plain[:first] + members + plain[last:]
    found = make_plan(document(text), observed, NOW).plan
    assert [a.candidate for a in found.actions if isinstance(a, Failover)] == [THIRD]


def test_among_equals_a_member_of_the_sync_key_comes_first() -> None:
    synchronous = with_settings(after_the_power_loss(), synchronous_mode="on")
    for name in (NEWEST, THIRD):
        both = having(having(synchronous, NEWEST, 2, 5000), THIRD, 2, 5000)
        assert named(having(both, name, 2, 5000, synchronous="sync")) == name
    further = having(synchronous, NEWEST, 2, 4000, synchronous="sync")
    assert named(having(further, THIRD, 2, 5000)) == ""


def test_patroni_has_a_minute_to_elect_one_itself() -> None:
    for seen_s in (0.0, 59.0):
        plan = plan_for(after_the_power_loss(seen_s))
        assert summary(plan) == ([], ["cluster/main", KEY])
        assert plan.holds[1].recheck_at is not None
        assert not plan.holds[1].wants_attention
        assert_words(plan.holds[1])
    lasting = manifest(patroni="{ttl: 90s}")
    assert named(after_the_power_loss(), lasting) == ""
    assert named(after_the_power_loss(100.0), lasting) == NEWEST


def test_the_minute_begins_when_members_say_that_nobody_leads() -> None:
    """One that was silent, cut off from the operator alone, may have led until a moment ago."""
    observed = after_the_power_loss(600.0, 40.0)
    plan = plan_for(observed)
    assert summary(plan) == ([], ["cluster/main", KEY])
    (hold,) = (hold for hold in plan.holds if hold.key == KEY)
    assert not hold.wants_attention
    assert hold.recheck_at is not None
    assert (hold.recheck_at - NOW).total_seconds() == 20
    forced = dataclasses.replace(plan, actions=plan_for(after_the_power_loss()).actions)
    refused = first_refusal(forced, observed)
    assert refused is not None
    assert refused.guard == "failover-loses-nothing"
    assert named(after_the_power_loss(600.0, 60.0)) == NEWEST


def test_people_are_told_of_members_that_stay_silent() -> None:
    observed = with_member(after_the_power_loss(600.0, 0.0), THIRD, Unknown("timed out"))
    (hold,) = (hold for hold in plan_for(observed).holds if hold.key == KEY)
    assert hold.wants_attention


def test_a_command_that_looks_once_names_nobody() -> None:
    assert named(dataclasses.replace(after_the_power_loss(), seen_s_ago={})) == ""


def without_quorum(observed: Observed, **fields: Any) -> Observed:
    raft = observed.raft[f"main_{THIRD}"]
    assert isinstance(raft, Known)
    changed = dataclasses.replace(raft.value, **fields)
    return dataclasses.replace(observed, raft={**observed.raft, f"main_{THIRD}": Known(changed)})


def gone_third(*, noted: bool, listed: bool = False) -> Observed:
    """The third member has no service; ``noted`` as without a vote, which a power cut has given
    back to it where it is ``listed``."""
    observed = without(after_the_power_loss(), f"main_{THIRD}")
    gone = Unknown("its service is not in the swarm")
    observed = with_raft(observed, THIRD, gone)
    for name in (FORMER, NEWEST):
        plain = raft_status(name, silent={THIRD})
        here = plain if listed else dataclasses.replace(plain, unreachable=frozenset())
        observed = with_raft(observed, name, here)
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    labels = {**config.value.labels, VOTELESS_LABEL: encode_names({THIRD} if noted else ())}
    return with_config_labels(observed, "main_cluster", labels)


@pytest.mark.parametrize("listed", [False, True])
def test_one_that_went_is_not_waited_for(*, listed: bool) -> None:
    """Its service went after its vote, while another led, which has all that it had."""
    assert named(gone_third(noted=True, listed=listed)) == NEWEST


@pytest.mark.parametrize("listed", [False, True])
def test_a_service_that_was_removed_by_hand_is_waited_for(*, listed: bool) -> None:
    observed = gone_third(noted=False, listed=listed)
    plan = plan_for(observed)
    assert not any(isinstance(action, Failover) for action in plan.actions)
    (hold,) = (hold for hold in plan.holds if hold.key == KEY)
    assert "member-3 does not answer (its service is not in the swarm)" in hold.reason
    assert refused(observed) == "failover-loses-nothing"


def silent_raft(observed: Observed) -> Observed:
    return dataclasses.replace(
        observed, raft={**observed.raft, f"main_{FORMER}": Unknown("connection refused")}
    )


OBSTACLES: dict[str, tuple[Callable[[Observed], Observed], str]] = {
    "one is silent": (
        lambda o: with_member(o, FORMER, Unknown("timed out")),
        "member-1 does not answer (timed out)",
    ),
    "one has lost its data": (
        lambda o: having(o, FORMER, None, None, state="stopped", role="uninitialized"),
        "member-1 is uninitialized and stopped, not a running replica",
    ),
    "one still starts": (lambda o: having(o, THIRD, 2, 4000, state="starting"), "starting"),
    "one is a primary": (lambda o: having(o, THIRD, 2, 4000, role="primary"), "is primary"),
    "one tells no timeline": (
        lambda o: having(o, FORMER, None, 9000),
        "member-1 does not tell its timeline",
    ),
    "one sees a lock": (
        lambda o: having(o, THIRD, 2, 4000, cluster_unlocked=False),
        "member-3 still sees a leader lock",
    ),
    "the newest timeline is lost": (
        lambda o: dataclasses.replace(
            o, history={"main": Known((TimelineEnd(1, 1, ""), TimelineEnd(2, 2, "")))}
        ),
        "the newest data is on timeline 2 (member-2), but the cluster has been on timeline 3",
    ),
    "the history is not known": (
        lambda o: dataclasses.replace(o, history={"main": Unknown("HTTP status 503")}),
        "history of timelines is not known",
    ),
    "the settings are not known": (
        lambda o: dataclasses.replace(o, settings={"main": Unknown("HTTP status 503")}),
        "Patroni's settings are not known",
    ),
    "a Raft node is silent": (silent_raft, "the Raft node of member-1 does not answer"),
    "a Raft node has no quorum": (
        lambda o: without_quorum(o, has_quorum=False),
        "the Raft node of member-3 has no quorum",
    ),
    "a Raft node reaches not all": (
        lambda o: without_quorum(o, unreachable=frozenset({"10.77.0.12:5010"})),
        "not every Raft node reaches every other",
    ),
    "a Raft node is in another term": (
        lambda o: without_quorum(o, term=7),
        "the Raft nodes do not agree on their leader",
    ),
    "a Raft node has not applied its log": (
        lambda o: without_quorum(o, last_applied=39),
        "a Raft node has not applied its whole log",
    ),
    "the newest may not lead": (
        lambda o: having(o, NEWEST, 2, 5000, tags={"nofailover": True}),
        "member-2 has the newest data and the tag nofailover",
    ),
    "one was changed a moment ago": (
        lambda o: with_live_service(o, "main_member-3", updated_at=NOW),
        "main_member-3 was changed a moment ago",
    ),
}


@pytest.mark.parametrize("case", OBSTACLES.values(), ids=OBSTACLES)
def test_otherwise_a_person_is_asked_and_told_why(
    case: tuple[Callable[[Observed], Observed], str],
) -> None:
    change, words = case
    plan = plan_for(change(after_the_power_loss()))
    assert plan.actions == ()
    (hold,) = (hold for hold in plan.holds if hold.key == KEY)
    assert words in hold.reason
    assert hold.wants_attention


def test_the_words_to_a_person() -> None:
    observed = with_member(after_the_power_loss(), FORMER, Unknown("timed out"))
    assert_words(*(hold for hold in plan_for(observed).holds if hold.key == KEY))


UNSEEN_BY_THE_GUARD = {"the newest may not lead", "one was changed a moment ago"}
"""Patroni itself refuses the first; the second loses nothing."""


@pytest.mark.parametrize("name", sorted(OBSTACLES.keys() - UNSEEN_BY_THE_GUARD))
def test_the_guard_refuses_it_then(name: str) -> None:
    change, _ = OBSTACLES[name]
    plan = Plan("main", "d", (failover(NEWEST),))
    refusal = failover_loses_nothing(plan, change(after_the_power_loss()))
    assert refusal is not None
    assert refusal.guard == "failover-loses-nothing"


def failover(candidate: str) -> Failover:
    return Failover(
        cluster="main", address="10.77.0.13", port=8008, candidate=candidate, reason="a"
    )


def refused(observed: Observed, candidate: str = NEWEST) -> str:
    found = first_refusal(Plan("main", "d", (failover(candidate),)), observed)
    return found.guard if found else ""


def test_the_guard_lets_the_newest_lead_and_no_other() -> None:
    assert refused(after_the_power_loss()) == ""
    for candidate in (FORMER, THIRD, "member-9"):
        assert refused(after_the_power_loss(), candidate) == "failover-loses-nothing"


def test_the_guard_refuses_it_while_it_is_early_or_somebody_leads() -> None:
    assert refused(after_the_power_loss(59.0)) == "failover-loses-nothing"
    led = with_member(after_the_power_loss(), THIRD, status(THIRD, THIRD, timeline=2))
    assert refused(led) == "failover-loses-nothing"
    settings = {"main": Known({**three_nodes().settings["main"].value, "pause": True})}  # type: ignore[union-attr]
    paused = dataclasses.replace(after_the_power_loss(), settings=settings)
    assert refused(paused) == "failover-loses-nothing"
    assert named(paused) == ""


def test_nothing_is_said_while_a_member_leads() -> None:
    assert plan_for(three_nodes()).is_converged
