"""The first copy of a member that was added: begun anew where it hangs, and told."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import Reinitialize
from queenright.core.observed import Known, MemberStatus, Observed, hung_key
from queenright.core.planning.plan import Hold, Plan
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_member, with_tasks
from tests.support.topology_worlds import (
    FIVE,
    deployed,
    joined,
    raft_nodes,
    refusal,
    text_of,
    with_raft_nodes,
)


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


EMPTY = MemberStatus(state="stopped", role="uninitialized")
COPYING = MemberStatus(state="creating replica", role="uninitialized")


def test_a4_begins_an_interrupted_copy_again_after_two_loops() -> None:
    observed = joined(EMPTY, 21)
    plan = plan_for(observed, FIVE)
    found = [action for action in plan.actions if isinstance(action, Reinitialize)]
    assert [(action.member, action.address) for action in found] == [("member-4", "10.77.0.15")]
    assert refusal(plan, observed) is None


def test_a_copy_of_one_that_the_file_gives_another_name_begins_again() -> None:
    """It keeps its place and its data, and is renamed only when it is whole."""
    observed = joined(EMPTY, 21)
    plan = plan_for(observed, FIVE.replace("name: member-4", "name: db-4"))
    assert [a.member for a in plan.actions if isinstance(a, Reinitialize)] == ["member-4"]
    assert refusal(plan, observed) is None
    fewer = plan_for(observed, text_of(1, 2, 3))
    assert not [a for a in fewer.actions if isinstance(a, Reinitialize)], "it goes"


@pytest.mark.parametrize(("state", "hung_s"), [(EMPTY, 19), (COPYING, 100)])
def test_a4_leaves_a_copy_time(state: MemberStatus, hung_s: float) -> None:
    plan = plan_for(joined(state, hung_s), FIVE)
    assert not [action for action in plan.actions if isinstance(action, Reinitialize)]
    assert "note-members/main_cluster" not in keys(plan), "the next one waits"


def test_a_copy_that_was_interrupted_before_its_start_begins_again_at_once() -> None:
    """Patroni never begins it by itself, and the health check ends a container after a minute."""
    tagged = dataclasses.replace(EMPTY, tags={"queenright_finding": "interrupted-copy"})
    observed = joined(tagged)
    assert reinitialized(observed) == [], "its Raft node has run for an hour"
    raft = raft_nodes([1, 2, 3, 4])
    own = raft["main_member-4"]
    assert isinstance(own, Known)
    raft["main_member-4"] = Known(dataclasses.replace(own.value, uptime_s=8))
    observed = with_raft_nodes(observed, raft)
    assert reinitialized(observed) == ["member-4"]
    assert refusal(plan_for(observed, FIVE), observed) is None


def reinitialized(observed: Observed) -> list[str]:
    """The members whose copy begins anew."""
    return [a.member for a in plan_for(observed, FIVE).actions if isinstance(a, Reinitialize)]


def test_a_copy_in_progress_says_when_its_health_check_ends_it() -> None:
    plan = plan_for(joined(COPYING, 0), FIVE)
    told = reason(plan, "membership/main_member-4")
    assert "after 60 s" in told
    assert "healthCheck: {whileStarting: healthy}" in told


ENDINGS = {
    "failed": "task: non-zero exit (137): dockerexec: unhealthy container",
    "complete": "",
}
"""Swarm's error for each state of a container that the health check ended."""


@pytest.mark.parametrize("state", [COPYING, EMPTY], ids=["copies", "waits"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_copy_that_the_health_check_has_ended_once_wants_attention(
    state: MemberStatus, ending: str
) -> None:
    """It may end so each time: where former members' slots leave none for a copy, too."""
    observed, key = joined(state, 0), "membership/main_member-4"
    live = swarm_of(observed).service("main_member-4")
    assert live is not None
    tasks = [*swarm_of(observed).tasks_of(live.id)]
    ended = dataclasses.replace(
        tasks[0], id="ended", state=ending, desired_state="shutdown", error=ENDINGS[ending]
    )
    first = held(plan_for(observed, FIVE), key)
    assert not first.wants_attention
    assert "slots" not in first.reason
    observed = with_tasks(observed, "main_member-4", *tasks, ended)
    again = held(plan_for(observed, FIVE), key)
    assert again.wants_attention
    assert "edit-config --set member_slots_ttl" in again.reason


def test_a_copy_after_a_restart_by_the_operator_wants_no_attention() -> None:
    observed, key = joined(COPYING, 0), "membership/main_member-4"
    live = swarm_of(observed).service("main_member-4")
    assert live is not None
    tasks = [*swarm_of(observed).tasks_of(live.id)]
    stopped = dataclasses.replace(tasks[0], id="ended", state="shutdown", desired_state="shutdown")
    observed = with_tasks(observed, "main_member-4", *tasks, stopped)
    assert not held(plan_for(observed, FIVE), key).wants_attention


def test_a_copy_may_last_where_a_member_that_starts_is_healthy() -> None:
    observed = joined(COPYING, 0)
    text = text_of(1, 2, 3, 4, 5, spec="  healthCheck: {whileStarting: healthy}\n")
    hold = held(plan_for(observed, text), "membership/main_member-4")
    assert "startPeriod" not in hold.reason
    assert "unhealthy" not in hold.reason


def held(plan: Plan, key: str) -> Hold:
    """The plan's hold of this key."""
    return next(hold for hold in plan.holds if hold.key == key)


def test_a_member_that_once_had_data_is_not_emptied() -> None:
    """Its former partners know it: what it had may be wanted."""
    observed = with_member(deployed(1, 2, 3), "member-3", EMPTY)
    seen = {**observed.seen_s_ago, hung_key("main_member-3"): 100.0}
    plan = plan_for(dataclasses.replace(observed, seen_s_ago=seen))
    assert not plan.actions
    told = reason(plan, "membership/main_member-3")
    assert "type on node2: docker exec -it $(docker ps" in told
    assert "patronictl -c /tmp/patroni.yml reinit main member-3" in told
