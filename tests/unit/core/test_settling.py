"""When a member may be restarted: after swarm is done with the last one, and knows all it stops."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import UpdateService
from queenright.core.observed import Observed, Task
from queenright.core.situation import SETTLES, UPDATE_LIMIT
from tests.builders import (
    NOW,
    plan_for,
    summary,
    task,
    three_nodes,
    with_live_service,
    with_node,
    with_service,
    with_tasks,
)

REPLICA, LEADER, PROXY = "main_member-2", "main_member-1", "main_proxy"
OTHER = "main_member-3"


@pytest.mark.parametrize("changed", [LEADER, REPLICA, OTHER])
class TestWhatIsNotSettled:
    """Of any member, the one to be restarted included."""

    def drifted(self, changed: str, **fields: Any) -> Observed:
        observed = with_service(three_nodes(), REPLICA, hostname="x")
        return with_live_service(observed, changed, **fields)

    def test_a_change_of_a_moment_ago_is_waited_for(self, changed: str) -> None:
        observed = self.drifted(changed, updated_at=NOW - SETTLES + timedelta(milliseconds=1))
        plan = plan_for(observed)
        assert summary(plan) == ([], [f"update-service/{REPLICA}"])
        assert f"{changed} was changed a moment ago" in plan.holds[0].reason
        assert plan.recheck_at == NOW + SETTLES, "time alone ends it"
        assert summary(plan_for(observed, now=NOW + SETTLES))[0] == [
            f"update-service/{REPLICA} !{REPLICA}"
        ]

    def test_an_update_that_swarm_still_carries_out_is_waited_for(self, changed: str) -> None:
        fields = {"update_state": "updating", "updated_at": NOW - timedelta(seconds=30)}
        plan = plan_for(self.drifted(changed, **fields))
        assert f"update-service/{REPLICA}" in summary(plan)[1]
        assert summary(plan)[0] == []

    def test_one_that_is_stuck_is_replaced(self, changed: str) -> None:
        fields = {"update_state": "updating", "updated_at": NOW - UPDATE_LIMIT}
        plan = plan_for(self.drifted(changed, **fields))
        assert summary(plan)[0] == [f"update-service/{REPLICA} !{REPLICA}"]

    def test_a_clock_that_is_behind_has_to_be_set_right(self, changed: str) -> None:
        observed = self.drifted(changed, updated_at=NOW + timedelta(hours=1))
        plan = plan_for(observed)
        assert not plan.actions
        assert any("this node's clock is behind" in hold.reason for hold in plan.holds)


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
def test_nobody_is_disturbed_while_another_has_not_one_running_task(
    tasks: tuple[Task, ...],
) -> None:
    """Although it answers well: Patroni does so until its container is told to end."""
    observed = with_tasks(with_service(three_nodes(), REPLICA, hostname="x"), OTHER, *tasks)
    plan = plan_for(observed)
    assert not any(action.disturbs for action in plan.actions)
    (hold,) = (hold for hold in plan.holds if hold.key == f"update-service/{REPLICA}")
    assert f"{OTHER} has no single running task" in hold.reason


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
    assert "member-1 is the leader" in hold.reason


def test_on_a_node_that_is_there_a_task_that_swarm_has_stopped_is_no_disturbance() -> None:
    stopped = task(REPLICA, "node3", slot=1, desired_state="shutdown")
    observed = with_service(three_nodes(unknown={"member-2"}), REPLICA, hostname="x")
    plan = plan_for(with_tasks(observed, REPLICA, stopped))
    assert summary(plan)[0] == [f"update-service/{REPLICA}"]


def test_a_new_edit_of_the_proxies_supersedes_an_update_under_way() -> None:
    observed = with_service(three_nodes(), PROXY, hostname="x")
    fields = {"update_state": "updating", "updated_at": NOW - timedelta(seconds=1)}
    plan = plan_for(with_live_service(observed, PROXY, **fields))
    assert summary(plan)[0] == [f"update-service/{PROXY} !{PROXY}"]
