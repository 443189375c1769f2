"""A Raft node that votes and can't apply its log: it holds the others, and is set aside."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import UpdateService
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.candidates import why_not_lead
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Observed, RaftStatus, Unknown, raft_key, voters_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import RAFT_RESET_VARIABLE
from tests.golden.messages import assert_words
from tests.support.builders import (
    FORMER,
    NOW,
    desired,
    former_status,
    plan_for,
    raft_status,
    status,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import live, seen_for, with_member, with_raft, with_service

STUCK, SERVICE, LEADER, OTHER = "member-2", "main_member-2", "member-1", "member-3"
RESET = f"update-service/{SERVICE} !{SERVICE}"


def of_no_use(name: str = STUCK, **fields: Any) -> RaftStatus:
    return dataclasses.replace(raft_status(name), **({"last_applied": 1} | fields))


def stuck(seen_s: float = 16.0, *, silent: bool = True, **fields: Any) -> Observed:
    """A replica's Raft node is behind, and its Patroni waits for it."""
    seen = three_nodes(unknown=[STUCK] if silent else [])
    seen = with_raft(seen, STUCK, of_no_use(**fields))
    for name in (LEADER, OTHER):
        seen = with_raft(seen, name, raft_status(name))
    seen = dataclasses.replace(seen, seen_s_ago={raft_key(SERVICE): seen_s})
    for name in (LEADER, STUCK, OTHER):
        seen = seen_for(seen, f"main_{name}", 60.0)
    return seen


def test_its_log_is_set_aside_once_it_was_behind_for_long() -> None:
    plan = plan_for(stuck())
    assert summary(plan) == ([RESET], ["cluster/main"])
    (action,) = plan.actions
    assert isinstance(action, UpdateService)
    before = live(stuck(), SERVICE)
    asked = {**before.value.environment, RAFT_RESET_VARIABLE: str(before.version)}
    assert action.service == dataclasses.replace(before.value, environment=asked)
    assert_words(action)


@pytest.mark.parametrize(
    "seen",
    [
        stuck(14.9),
        dataclasses.replace(stuck(), seen_s_ago={}),
        stuck(uptime_s=14),
        stuck(last_applied=40),
    ],
    ids=["not for long", "seen once", "just started", "has applied all"],
)
def test_it_is_given_time(seen: Observed) -> None:
    assert summary(plan_for(seen)) == ([], ["cluster/main"])


HELD = {
    "it answers": stuck(silent=False),
    "changed a moment ago": seen_for(stuck(), f"main_{STUCK}", 4.9),
    "another was changed a moment ago": seen_for(stuck(), f"main_{OTHER}", 4.9),
    "the leader was changed a moment ago": seen_for(stuck(), f"main_{LEADER}", 4.9),
    "paused": with_member(stuck(), OTHER, status(OTHER, LEADER, paused=True)),
    "Raft of another is silent": with_raft(stuck(), OTHER, Unknown("timed out")),
    "another is behind": with_raft(stuck(), OTHER, of_no_use(OTHER)),
    "two leaders": with_raft(
        stuck(), OTHER, dataclasses.replace(raft_status(OTHER), leader="10.77.0.14:5010")
    ),
    "no leader": with_raft(stuck(), OTHER, dataclasses.replace(raft_status(OTHER), leader="")),
    "a broken link": with_raft(stuck(), OTHER, raft_status(OTHER, [LEADER])),
    "a fourth voter": with_raft(
        with_raft(
            stuck(),
            OTHER,
            dataclasses.replace(
                raft_status(OTHER), reachable=raft_status(OTHER).reachable | {"10.77.0.99:5010"}
            ),
        ),
        LEADER,
        dataclasses.replace(
            raft_status(LEADER), reachable=raft_status(LEADER).reachable | {"10.77.0.99:5010"}
        ),
    ),
}


@pytest.mark.parametrize("why", HELD)
def test_its_log_stays_unless_the_others_are_well_and_agree(why: str) -> None:
    plan = plan_for(HELD[why])
    assert not plan.actions
    hold = next(hold for hold in plan.holds if hold.key == f"raft/{SERVICE}")
    assert hold.wants_attention is ("changed a moment ago" not in why)
    assert STUCK in hold.reason
    assert_words(hold)


def own_pause(observed: Observed) -> Observed:
    """The operator's own pause, which it can lift only once every member answers."""
    settings = {**desired().settings, "pause": True, PAUSE_KEY: "maintenance"}
    return dataclasses.replace(observed, settings={"main": Known(settings)})


WHATEVER_THE_DATABASES_DO = {
    "paused for maintenance": own_pause(
        with_member(stuck(), OTHER, status(OTHER, LEADER, paused=True))
    ),
    "another is silent": with_member(stuck(), OTHER, Unknown("timed out")),
    "another lags": with_member(stuck(), OTHER, status(OTHER, LEADER, lag_bytes=1 << 40)),
    "nobody leads": with_member(stuck(), LEADER, status(LEADER, OTHER)),
}
"""Found by simulated histories 38837504 (the only member with whole data had the stuck node) and
73141378 (the pause waited for the member, and the member for the end of the pause)."""


@pytest.mark.parametrize("why", WHATEVER_THE_DATABASES_DO)
def test_it_is_set_aside_though_the_other_databases_are_not_well(why: str) -> None:
    seen = WHATEVER_THE_DATABASES_DO[why]
    (action,) = (a for a in plan_for(seen).actions if isinstance(a, UpdateService))
    assert action.service.name == SERVICE
    assert first_refusal(Plan("main", "d", (action,)), seen) is None


def test_a_rolling_update_waits_for_it() -> None:
    seen = with_service(stuck(silent=False), "main_member-3", hostname="x")
    assert not plan_for(seen).actions
    assert plan_for(with_service(three_nodes(), "main_member-3", hostname="x")).actions


def test_a_switchover_waits_for_it() -> None:
    def why_not(seen: Observed) -> str | None:
        state = ClusterState(desired(), swarm_of(seen), seen, NOW)
        candidate = state.member(OTHER)
        assert candidate is not None
        return why_not_lead(state, candidate)

    assert why_not(three_nodes()) is None
    assert "votes, but has applied only 1 of 40" in str(why_not(stuck(silent=False)))


def test_a_request_that_was_made_is_no_drift() -> None:
    given = live(three_nodes(), SERVICE).value.environment
    seen = with_service(three_nodes(), SERVICE, environment={**given, RAFT_RESET_VARIABLE: "7"})
    assert summary(plan_for(seen)) == ([], [])


def test_it_is_asked_anew_where_the_first_request_did_not_help() -> None:
    given = live(stuck(), SERVICE).value.environment
    seen = with_service(stuck(), SERVICE, environment={**given, RAFT_RESET_VARIABLE: "7"})
    (action,) = plan_for(seen).actions
    assert isinstance(action, UpdateService)
    assert action.service.environment[RAFT_RESET_VARIABLE] == str(live(seen, SERVICE).version)
    assert_words(action)


def asked(value: str, ago: timedelta) -> Observed:
    """It was asked before, and is as it was."""
    seen = stuck()
    given = live(seen, SERVICE).value.environment
    seen = with_service(seen, SERVICE, environment={**given, RAFT_RESET_VARIABLE: value})
    assert isinstance(seen.swarm, Known)
    services = tuple(
        dataclasses.replace(one, updated_at=NOW - ago) if one.value.name == SERVICE else one
        for one in seen.swarm.value.services
    )
    return dataclasses.replace(
        seen, swarm=Known(dataclasses.replace(seen.swarm.value, services=services))
    )


LATELY, LONG_AGO = timedelta(minutes=1), timedelta(minutes=61)


@pytest.mark.parametrize(
    ("value", "ago", "number"),
    [
        ("7", LATELY, "-2"),
        ("7-2", LATELY, "-3"),
        ("7-3", LONG_AGO, ""),
        ("anew:member-1:0123", LATELY, ""),
    ],
)
def test_each_request_in_a_row_has_its_number(value: str, ago: timedelta, number: str) -> None:
    seen = asked(value, ago)
    (action,) = plan_for(seen).actions
    assert isinstance(action, UpdateService)
    version = live(seen, SERVICE).version
    assert action.service.environment[RAFT_RESET_VARIABLE] == f"{version}{number}"
    assert first_refusal(plan_for(seen), seen) is None


def test_three_requests_in_a_row_that_did_not_help_are_the_last() -> None:
    """The image ignores them: the member would start anew every half a minute, for ever."""
    plan = plan_for(asked("7-3", LATELY))
    assert not plan.actions
    (hold,) = [hold for hold in plan.holds if hold.key == f"raft/{SERVICE}"]
    assert hold.wants_attention
    assert_words(hold)


def test_its_answer_is_what_the_adapter_reads() -> None:
    reading = stuck().raft[SERVICE]
    assert isinstance(reading, Known)
    assert reading.value.is_behind
    assert reading.value.voters == raft_status(OTHER).voters


def estranged(seen_s: float = 60.0, *, silent: bool = True, **fields: Any) -> Observed:
    """A member that was removed is back, with a Raft log that names the voters of that time."""
    away = frozenset({raft_status(STUCK).address})
    seen = three_nodes(unknown=[STUCK] if silent else [])
    seen = with_raft(seen, STUCK, former_status(STUCK, **fields))
    for name in (LEADER, OTHER):
        seen = with_raft(seen, name, raft_status(name, silent=[STUCK]))
        assert away <= raft_status(name).voters
    seen = dataclasses.replace(seen, seen_s_ago={voters_key(SERVICE): seen_s})
    for name in (LEADER, STUCK, OTHER):
        seen = seen_for(seen, f"main_{name}", 60.0)
    return seen


@pytest.mark.parametrize("silent", [True, False])
def test_a_log_of_former_voters_is_set_aside_whether_patroni_waits_for_raft_or_not(
    silent: bool,
) -> None:
    seen = estranged(silent=silent)
    plan = plan_for(seen)
    assert [a.key for a in plan.actions if isinstance(a, UpdateService)] == [
        f"update-service/{SERVICE}"
    ]
    assert first_refusal(plan, seen) is None
    assert_words(plan.actions[0])


@pytest.mark.parametrize(
    "seen",
    [
        estranged(59.0),
        estranged(uptime_s=14),
        estranged(has_quorum=True),
        estranged(leader="10.77.0.98:5010"),
        estranged(unreachable=FORMER | {"10.77.0.12:5010"}),
        with_raft(estranged(), OTHER, Unknown("timed out")),
        with_raft(estranged(), OTHER, dataclasses.replace(raft_status(OTHER), term=2)),
    ],
    ids=[
        "not for long",
        "just started",
        "a quorum",
        "a leader",
        "the network",
        "another is silent",
        "others differ",
    ],
)
def test_no_other_lonely_node_forgets_its_log(seen: Observed) -> None:
    assert [a for a in plan_for(seen).actions if isinstance(a, UpdateService)] == []


def test_one_that_answers_waits_for_a_replica_that_is_not_well() -> None:
    starting = status(OTHER, LEADER, state="starting", replication_state="")
    seen = with_member(estranged(silent=False), OTHER, starting)
    plan = plan_for(seen)
    assert [a for a in plan.actions if isinstance(a, UpdateService)] == []
    (hold,) = [hold for hold in plan.holds if hold.key == f"raft/{SERVICE}"]
    assert_words(hold)
