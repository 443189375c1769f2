"""Planned changes of leader: whole plans, pass by pass, from what is observed."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import pytest

from queenright.core.actions import LabelConfig, PatchSettings, Switchover
from queenright.core.kinds.postgres_cluster.annotations import (
    LastLeader,
    PendingSwitchover,
    read_annotations,
)
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY, Route
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import (
    Attempt,
    Observed,
    RaftStatus,
    Unknown,
    parameters_key,
)
from tests.golden.messages import assert_words
from tests.support.builders import (
    LONG_AGO,
    MEMBERS,
    NOW,
    manifest,
    plan_for,
    status,
    summary,
    three_nodes,
)
from tests.support.changed import (
    with_live_service,
    with_member,
    with_notes,
    with_raft,
    with_service,
    with_settings,
)
from tests.support.plans import note_of

WISH = manifest(primary="member-2")
PLAIN = manifest(primary="member-2", fastSwitchover="false")


def at_start(text: str = WISH) -> Observed:
    """member-1 leads; `primary: member-2` has just been written."""
    return with_notes(three_nodes(text=text), primary="")


def told(observed: Observed, at: datetime, member: str = "member-2") -> Observed:
    return with_settings(observed, **{ROUTE_KEY: str(Route("follow", member, at))})


def assert_held(observed: Observed, text: str = PLAIN) -> None:
    """The leadership does not move, for the reason that the page has."""
    plan = plan_for(observed, text)
    assert not any(isinstance(action, Switchover) for action in plan.actions)
    held = [hold for hold in plan.holds if hold.key in {"switchover/main", "primary/main"}]
    assert held
    assert_words(*held)


class TestAWish:
    def test_the_proxies_are_told_first(self) -> None:
        plan = plan_for(at_start(), WISH)
        assert summary(plan) == (["route/main"], [])
        (action,) = plan.actions
        assert isinstance(action, PatchSettings)
        assert action.patch == {ROUTE_KEY: str(Route("follow", "member-2", NOW))}
        assert action.expected == {ROUTE_KEY: None}
        assert action.secret == "pg_rest_pw"

    def test_they_are_given_time_to_read_it(self) -> None:
        plan = plan_for(told(at_start(), NOW - timedelta(seconds=1)), WISH)
        assert summary(plan) == ([], ["switchover/main"])
        assert plan.recheck_at == NOW + timedelta(seconds=0.5)
        assert_words(*plan.holds, *plan.actions)

    def test_then_it_is_noted_and_asked_for_in_one_plan(self) -> None:
        observed = told(at_start(), NOW - timedelta(seconds=2))
        plan = plan_for(observed, WISH)
        actions = ["label-config/main_cluster", "switchover/main !main_member-1"]
        assert summary(plan) == (actions, [])
        assert note_of(plan) == PendingSwitchover("member-1", "member-2", 1, NOW, "primary")
        assert first_refusal(plan, observed) is None

    def test_without_the_switch_it_is_asked_for_at_once(self) -> None:
        plan = plan_for(at_start(PLAIN), PLAIN)
        actions = ["label-config/main_cluster", "switchover/main !main_member-1"]
        assert summary(plan) == (actions, [])

    def test_it_waits_until_each_member_has_said_whether_it_restarts(self) -> None:
        """Or the lead would come to a member that then gives it away for its restart."""
        young = dataclasses.replace(at_start(PLAIN), seen_s_ago={parameters_key("main"): 3.0})
        plan = plan_for(young, PLAIN)
        assert summary(plan) == ([], ["switchover/main"])
        assert plan.recheck_at == NOW + timedelta(seconds=7)
        assert_words(*plan.holds)
        old = dataclasses.replace(young, seen_s_ago={parameters_key("main"): 10.0})
        assert summary(plan_for(old, PLAIN)) == summary(plan_for(at_start(PLAIN), PLAIN))

    def test_a_maintenance_does_not_wait_for_that(self) -> None:
        young = {parameters_key("main"): 3.0}
        text = manifest(
            maintenance="{nodes: [node2], until: 2030-01-01T00:00:00Z}", fastSwitchover="false"
        )
        plan = plan_for(dataclasses.replace(three_nodes(), seen_s_ago=young), text)
        assert any("switchover/main" in key for key in summary(plan)[0]), summary(plan)

    def test_an_old_hint_is_told_anew(self) -> None:
        plan = plan_for(told(at_start(), NOW - timedelta(minutes=5)), WISH)
        assert summary(plan) == (["route/main"], [])

    def test_the_proxies_are_told_nothing_while_patience_holds_the_move_back(self) -> None:
        waits = {"switchover/main": Attempt(11, 60, "it failed")}
        for old in (timedelta(seconds=31), timedelta(minutes=5)):
            observed = told(at_start(), NOW - old)
            plan = plan_for(dataclasses.replace(observed, attempts=waits), WISH)
            assert summary(plan) == ([], ["switchover/main"])
        late = {"switchover/main": Attempt(11, 420, "it failed")}
        plan = plan_for(dataclasses.replace(at_start(), attempts=late), WISH)
        assert summary(plan) == (["route/main"], [])

    def test_one_that_is_true_already_is_noted(self) -> None:
        observed = with_notes(three_nodes("member-2", text=WISH), primary="")
        assert summary(plan_for(observed, WISH)) == (["label-config/main_cluster"], [])

    def test_one_withdrawn_is_forgotten(self) -> None:
        observed = with_notes(three_nodes(), primary="member-2")
        assert summary(plan_for(observed)) == (["label-config/main_cluster"], [])


MOVED = PendingSwitchover("member-1", "member-2", 1, NOW - timedelta(seconds=5), "primary")


class TestWhatWasAskedFor:
    def test_is_not_asked_for_again_while_it_may_happen(self) -> None:
        observed = with_notes(at_start(), move=MOVED)
        plan = plan_for(observed, WISH)
        assert summary(plan) == ([], ["switchover/main"])
        assert plan.recheck_at == MOVED.at + timedelta(seconds=40)
        assert_words(*plan.holds, *plan.actions)

    def test_is_given_up_after_its_time_and_only_noted_in_that_pass(self) -> None:
        old = dataclasses.replace(MOVED, at=NOW - timedelta(seconds=41))
        plan = plan_for(with_notes(at_start(), move=old), WISH)
        assert summary(plan) == (["label-config/main_cluster"], [])
        assert note_of(plan) is None

    def test_is_waited_for_while_nobody_leads(self) -> None:
        observed = with_notes(at_start(), move=MOVED)
        fallen = status("member-1", "", state="stopping", replication_state="")
        plan = plan_for(with_member(observed, "member-1", fallen), WISH)
        assert not plan.actions
        assert "switchover/main" in summary(plan)[1]
        assert_words(*plan.holds, *plan.actions)

    def test_is_honoured_when_the_candidate_leads(self) -> None:
        observed = with_notes(three_nodes("member-2", text=WISH), primary="", move=MOVED)
        plan = plan_for(observed, WISH)
        assert summary(plan)[0] == ["label-config/main_cluster"]
        (action,) = plan.actions
        assert isinstance(action, LabelConfig)
        annotations = read_annotations(action.config.labels)
        assert (annotations.primary, annotations.move) == ("member-2", None)

    def test_leaves_the_wish_open_when_another_won(self) -> None:
        observed = with_notes(three_nodes("member-3", text=WISH), primary="", move=MOVED)
        (action,) = plan_for(observed, WISH).actions
        assert isinstance(action, LabelConfig)
        assert read_annotations(action.config.labels).primary == ""

    def test_takes_the_hint_back(self) -> None:
        observed = told(three_nodes("member-2", text=WISH), NOW - timedelta(seconds=9))
        assert summary(plan_for(observed, WISH)) == (["route/main"], [])


class TestPreconditions:
    def test_a_candidate_that_is_behind(self) -> None:
        far = status("member-2", "member-1", lag_bytes=2_000_000)
        assert_held(with_member(at_start(PLAIN), "member-2", far))

    def test_a_candidate_whose_lag_is_unknown(self) -> None:
        far = status("member-2", "member-1", lag_bytes=None)
        assert_held(with_member(at_start(PLAIN), "member-2", far))

    def test_a_member_that_does_not_stream(self) -> None:
        bad = status("member-3", "member-1", state="starting", replication_state="")
        assert_held(with_member(at_start(PLAIN), "member-3", bad))

    def test_a_member_that_is_unknown(self) -> None:
        silent = Unknown("timed out")
        assert_held(with_member(at_start(PLAIN), "member-3", silent))

    def test_a_pause(self) -> None:
        paused = status("member-3", "member-1", paused=True)
        assert_held(with_member(at_start(PLAIN), "member-3", paused))

    def test_no_quorum(self) -> None:
        lost = with_raft(at_start(PLAIN), "member-3", RaftStatus(has_quorum=False))
        assert_held(lost)
        silent = with_raft(at_start(PLAIN), "member-1", Unknown("timed out"))
        assert_held(silent)

    def test_another_timeline(self) -> None:
        other = status("member-2", "member-1", timeline=7)
        assert_held(with_member(at_start(PLAIN), "member-2", other))

    def test_a_tag(self) -> None:
        tagged = status("member-2", "member-1", tags={"nofailover": True})
        assert_held(with_member(at_start(PLAIN), "member-2", tagged))

    def test_a_service_that_is_changing(self) -> None:
        changed = with_live_service(at_start(PLAIN), "main_member-2", updated_at=NOW)
        assert_held(changed)


class TestAFailover:
    def test_is_not_fought(self) -> None:
        plan = plan_for(three_nodes("member-3", text=WISH), WISH)
        assert summary(plan) == ([], ["primary/main"])
        assert plan.holds[0].is_informational
        assert_words(*plan.holds)
        assert plan.recheck_at is None

    def test_is_undone_after_a_stable_time_where_that_is_wanted(self) -> None:
        text = manifest(primary="member-2", failback="{mode: automatic, after: 10m}")
        soon = with_notes(
            three_nodes("member-3", text=text),
            leader=LastLeader("member-3", 1, NOW - timedelta(minutes=9)),
        )
        plan = plan_for(soon, text)
        assert summary(plan) == ([], ["primary/main"])
        assert plan.recheck_at == NOW + timedelta(minutes=1)
        assert summary(plan_for(three_nodes("member-3", text=text), text))[0] == ["route/main"]
        assert_words(*plan.holds, *plan.actions)

    def test_starts_the_stable_time_anew(self) -> None:
        noted = with_notes(three_nodes(), leader=LastLeader("member-1", 0, LONG_AGO))
        (action,) = plan_for(noted).actions
        assert isinstance(action, LabelConfig)
        assert read_annotations(action.config.labels).leader == LastLeader("member-1", 1, NOW)


@pytest.mark.parametrize("switch", ["paused", "{state: paused, until: 2026-01-01T13:00Z}"])
def test_paused_reconciliation_changes_nothing_and_tells_what_it_would(switch: str) -> None:
    text = manifest(reconcile=switch)
    observed = with_service(three_nodes(text=text), "main_member-2", hostname="x")
    plan = plan_for(observed, text)
    assert summary(plan) == ([], ["reconcile/main", "update-service/main_member-2"])
    later = NOW + timedelta(hours=2)
    paused_for_good = switch == "paused"
    assert bool(plan_for(observed, text, later).actions) is not paused_for_good


def test_a_pause_of_ours_that_outlived_the_leader_is_lifted_when_nobody_wants_it() -> None:
    """Paused, Patroni promotes nobody: without this the database would stay without a leader."""
    observed = with_settings(three_nodes(), pause=True, queenright_pause="promotion")
    for name in MEMBERS:
        stopped = status(name, "", state="stopped", replication_state="", paused=True)
        observed = with_member(observed, name, stopped)
    (action,) = plan_for(observed).actions
    assert isinstance(action, PatchSettings)
    assert action.patch == {"pause": None, "queenright_pause": None}
    assert first_refusal(plan_for(observed), observed) is None
    wanted = plan_for(observed, manifest(promotion="paused"))
    assert not wanted.actions
    assert any(hold.key == "promotion/main" and hold.wants_attention for hold in wanted.holds)
    assert_words(*wanted.holds)
    foreign = with_settings(observed, queenright_pause=None)
    assert not plan_for(foreign).actions
