"""Restarts of a member: only after swarm has finished the last one and knows all its tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import UpdateService
from queenright.core.observed import Observed, Task
from queenright.core.planning.rollout_waits import ON_ITS_WAY
from queenright.core.planning.service_context import SETTLES, UPDATE_LIMIT
from tests.golden.messages import assert_words
from tests.support.builders import NOW, desired, plan_for, summary, task, three_nodes
from tests.support.changed import with_live_service, with_node, with_service, with_tasks

REPLICA, LEADER, PROXY = "main_member-2", "main_member-1", "main_proxy"
OTHER = "main_member-3"


@pytest.mark.parametrize("changed", [LEADER, REPLICA, OTHER])
class TestWhatIsNotSettled:
    """Any member that is not settled, the one to be restarted included."""

    def drifted(self, changed: str, **fields: Any) -> Observed:
        observed = with_service(three_nodes(), REPLICA, hostname="x")
        return with_live_service(observed, changed, **fields)

    def test_a_change_of_a_moment_ago_is_waited_for(self, changed: str) -> None:
        observed = self.drifted(changed, updated_at=NOW - SETTLES + timedelta(milliseconds=1))
        plan = plan_for(observed)
        assert summary(plan) == ([], [f"update-service/{REPLICA}"])
        assert_words(plan.holds[0])
        assert plan.recheck_at == NOW + SETTLES, "time alone ends it"
        assert summary(plan_for(observed, now=NOW + SETTLES))[0] == [
            f"update-service/{REPLICA} !{REPLICA}"
        ]

    def test_an_update_that_swarm_still_carries_out_is_waited_for(self, changed: str) -> None:
        fields = {"update_state": "updating", "updated_at": NOW - timedelta(seconds=30)}
        plan = plan_for(self.drifted(changed, **fields))
        assert f"update-service/{REPLICA}" in summary(plan)[1]
        assert summary(plan)[0] == []
        assert_words(*plan.holds, *plan.actions)

    def test_one_that_is_stuck_is_replaced(self, changed: str) -> None:
        fields = {"update_state": "updating", "updated_at": NOW - UPDATE_LIMIT}
        plan = plan_for(self.drifted(changed, **fields))
        assert summary(plan)[0] == [f"update-service/{REPLICA} !{REPLICA}"]

    def test_a_clock_that_is_behind_has_to_be_set_right(self, changed: str) -> None:
        observed = self.drifted(changed, updated_at=NOW + timedelta(hours=1))
        plan = plan_for(observed)
        assert not plan.actions
        assert_words(*plan.holds)


@pytest.mark.parametrize(
    "tasks",
    [
        (),
        (task(OTHER, "node4", slot=1, desired_state="shutdown"),),
        (
            task(OTHER, "node4", slot=1, desired_state="shutdown"),
            task(OTHER, "node4", slot=1, id="next", state="ready", desired_state="ready"),
        ),
        (task(OTHER, "node4", slot=1), task(OTHER, "node4", slot=2, id="second")),
    ],
    ids=["none", "one that ends", "one that ends and the next", "two"],
)
def test_nobody_is_disrupted_while_another_has_not_one_running_task(
    tasks: tuple[Task, ...],
) -> None:
    """It is held although the member answers well: Patroni does so until its container must end."""
    observed = with_tasks(with_service(three_nodes(), REPLICA, hostname="x"), OTHER, *tasks)
    plan = plan_for(observed)
    assert not any(action.disrupts for action in plan.actions)
    (hold,) = (hold for hold in plan.holds if hold.key == f"update-service/{REPLICA}")
    assert_words(hold)


@pytest.mark.parametrize("state", ["down", "unknown", "disconnected"])
@pytest.mark.parametrize("desired_state", ["running", "shutdown"])
def test_a_leader_whose_node_swarm_lost_sight_of_is_not_updated(
    state: str, desired_state: str
) -> None:
    """It goes on leading there, and the update would stop it when the node is back."""
    observed = with_service(with_node(three_nodes(), "node2", state=state), LEADER, hostname="x")
    lost = task(LEADER, "node2", slot=1, desired_state=desired_state)
    plan = plan_for(with_tasks(observed, LEADER, lost))
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    (hold,) = (hold for hold in plan.holds if hold.key == f"update-service/{LEADER}")
    assert_words(hold)


def test_a_task_that_is_being_stopped_counts_until_it_has_ended() -> None:
    observed = with_service(three_nodes(unknown={"member-2"}), REPLICA, hostname="x")
    stopping = task(REPLICA, "node3", slot=1, desired_state="shutdown")
    plan = plan_for(with_tasks(observed, REPLICA, stopping))
    assert summary(plan)[0] == []
    ended = dataclasses.replace(stopping, state="shutdown")
    plan = plan_for(with_tasks(observed, REPLICA, ended))
    assert summary(plan)[0] == [f"update-service/{REPLICA}"]


def test_a_new_edit_of_the_proxies_supersedes_an_update_under_way() -> None:
    observed = with_service(three_nodes(), PROXY, hostname="x")
    fields = {"update_state": "updating", "updated_at": NOW - timedelta(seconds=1)}
    plan = plan_for(with_live_service(observed, PROXY, **fields))
    assert summary(plan)[0] == [f"update-service/{PROXY} !{PROXY}"]


COMING = {"state": "starting", "at": NOW - timedelta(seconds=8)}


REPLACED = {"hostname": "x"}
ADJUSTED = {"update": dataclasses.replace(desired().proxy.update, monitor_s=9.0)}
"""Drifts of the proxies; to mend the second one replaces no task by itself."""


def proxies_rolled(*tasks: Task, drift: Mapping[str, Any] | None = None) -> list[list[str]]:
    """Plan other proxies while these are their tasks; what is done, and what is held."""
    observed = with_service(three_nodes(), PROXY, **(drift or REPLACED))
    observed = with_live_service(observed, PROXY, update_state="updating", updated_at=NOW)
    plan = plan_for(with_tasks(observed, PROXY, *tasks))
    assert_words(*(hold for hold in plan.holds if hold.key == f"update-service/{PROXY}"))
    verbs = ("update", "adjust")
    return [[one for one in side if one.startswith(verbs)] for side in summary(plan)]


@pytest.mark.parametrize(
    "fields",
    [
        COMING,
        {**COMING, "state": "preparing"},
        {**COMING, "state": "ready", "desired_state": "ready"},
        {**COMING, "state": "running", "at": NOW - timedelta(seconds=4)},
        {**COMING, "state": "running", "at": NOW - timedelta(seconds=9)},
    ],
    ids=["starting", "preparing", "ready", "just started", "the next one soon"],
)
@pytest.mark.parametrize("drift", [REPLACED, ADJUSTED], ids=["another task", "another policy"])
def test_no_second_proxy_is_stopped_while_one_is_on_its_way(
    fields: dict[str, Any], drift: Mapping[str, Any]
) -> None:
    """An update that ends another begins with any node's; so does any write."""
    stopped = task(PROXY, "node3", id="old", state="shutdown", desired_state="shutdown")
    coming = task(PROXY, "node3", id="new", **fields)
    tasks = (task(PROXY, "node2"), stopped, coming, task(PROXY, "node4"))
    done, held = proxies_rolled(*tasks, drift=drift)
    assert (done, held) == ([], [f"update-service/{PROXY}"])


@pytest.mark.parametrize(
    "tasks",
    [
        (task(PROXY, "node2"), task(PROXY, "node3", **{**COMING, "at": NOW - ON_ITS_WAY})),
        (
            task(PROXY, "node2"),
            task(PROXY, "node3", id="old", state="failed", error="exit 1", at=COMING["at"]),
            task(PROXY, "node3", id="new", **COMING),
        ),
        (task(PROXY, "node2", **COMING), task(PROXY, "node3", **COMING)),
        (task(PROXY, "node2"), task(PROXY, "node3", at=NOW - timedelta(seconds=6))),
        (task(PROXY, "node2"), task(PROXY, "node3", at=NOW - timedelta(seconds=15))),
    ],
    ids=["takes long", "failed lately", "none runs", "within the delay", "after the delay"],
)
def test_an_update_that_may_mend_a_proxy_does_not_wait_for_it(tasks: tuple[Task, ...]) -> None:
    assert proxies_rolled(*tasks)[0] == [f"update-service/{PROXY} !{PROXY}"]
