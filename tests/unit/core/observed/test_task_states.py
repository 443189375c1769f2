"""Tasks that may hold a process: no action stops one without a guard, whatever swarm calls its
task. A member's task is "starting" for ten seconds after each of its starts."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from queenright.core.actions import UpdateService
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed, Task, Unknown
from queenright.core.observed.task_states import PROCESS
from queenright.core.planning.plan import Plan
from tests.golden.messages import assert_words
from tests.support.builders import (
    NOW,
    found_images,
    manifest,
    plan_for,
    status,
    summary,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import (
    live,
    with_member,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
    without,
)
from tests.unit.core.kinds.postgres_cluster.rules.test_virtual_ip import WITH_VIP

LEADER, REPLICA, OTHER = "main_member-1", "main_member-2", "main_member-3"
MEMBERS = {LEADER: "node2", REPLICA: "node3", OTHER: "node4"}
HOLDING = [
    ("assigned", "running"),
    ("accepted", "running"),
    ("preparing", "running"),
    ("ready", "running"),
    ("starting", "running"),
    ("running", "running"),
    ("starting", "shutdown"),
    ("running", "shutdown"),
    ("running", "remove"),
    ("starting", "complete"),
    ("no word of ours", "running"),
]
EMPTY = [
    ("new", "running"),
    ("pending", "running"),
    ("assigned", "ready"),
    ("preparing", "ready"),
    ("ready", "ready"),
    ("complete", "shutdown"),
    ("shutdown", "shutdown"),
    ("failed", "shutdown"),
    ("rejected", "shutdown"),
    ("remove", "remove"),
    ("orphaned", "shutdown"),
]
"""States and desired states on a node that swarm can reach."""


def member_task(name: str, state: str, desired_state: str = "running", **fields: Any) -> Task:
    return task(name, MEMBERS[name], slot=1, state=state, desired_state=desired_state, **fields)


def may_run(observed: Observed) -> bool:
    return any(swarm_of(observed).possible_tasks(f"id-{REPLICA}"))


def refused(observed: Observed, *names: str) -> str:
    """Return the guards' refusals of updates of these services that do not name their
    disruption."""
    found = [live(observed, name) for name in names]
    updates = [
        UpdateService(
            item.id, item.version, dataclasses.replace(item.value, hostname="y"), 0, reason="a test"
        )
        for item in found
    ]
    refusal = first_refusal(Plan("main", "d", tuple(updates)), observed)
    return refusal.guard if refusal else ""


@pytest.mark.parametrize(("state", "wanted"), HOLDING)
def test_a_task_that_may_hold_a_process_counts(state: str, wanted: str) -> None:
    assert may_run(with_tasks(three_nodes(), REPLICA, member_task(REPLICA, state, wanted)))


@pytest.mark.parametrize(("state", "wanted"), EMPTY)
def test_a_task_that_can_hold_none_does_not_count(state: str, wanted: str) -> None:
    assert not may_run(with_tasks(three_nodes(), REPLICA, member_task(REPLICA, state, wanted)))


def test_every_state_of_swarms_has_its_place_in_the_table() -> None:
    assert set(PROCESS) == {state for state, _ in (*HOLDING, *EMPTY)} - {"no word of ours"}


@pytest.mark.parametrize("state", ["down", "unknown", "disconnected"])
@pytest.mark.parametrize("told", ["assigned", "preparing", "ready", "starting", "running"])
@pytest.mark.parametrize("wanted", ["running", "shutdown", "remove"])
def test_on_a_node_that_is_not_heard_a_task_may_have_come_further(
    state: str, told: str, wanted: str
) -> None:
    lost = with_node(three_nodes(), "node3", state=state)
    assert may_run(with_tasks(lost, REPLICA, member_task(REPLICA, told, wanted)))
    orphan = member_task(REPLICA, "orphaned", "shutdown")
    assert may_run(with_tasks(lost, REPLICA, orphan))


def test_a_task_of_a_node_that_was_removed_from_the_swarm_holds_nothing_of_ours() -> None:
    observed = with_tasks(three_nodes(), REPLICA, member_task(REPLICA, "orphaned", "shutdown"))
    nodes = tuple(node for node in swarm_of(observed).nodes if node.name != "node3")
    assert not may_run(with_swarm(observed, nodes=nodes))


@pytest.mark.parametrize(("state", "wanted"), HOLDING)
def test_the_leader_is_not_updated_whatever_swarm_calls_its_task(state: str, wanted: str) -> None:
    observed = with_service(three_nodes(), LEADER, hostname="x")
    observed = with_tasks(observed, LEADER, member_task(LEADER, state, wanted))
    plan = plan_for(observed)
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    (hold,) = (hold for hold in plan.holds if hold.key == f"update-service/{LEADER}")
    assert_words(hold)
    assert refused(observed, LEADER) == "leader-is-safe"


@pytest.mark.parametrize("state", ["preparing", "ready", "starting"])
def test_after_a_cold_start_no_member_is_updated(state: str) -> None:
    """Nobody leads yet, and each of the three has its process."""
    observed = three_nodes(text=manifest(stopGracePeriod="90s"))
    for name in MEMBERS:
        short = name.removeprefix("main_")
        observed = with_tasks(observed, name, member_task(name, state))
        starting = status(short, "nobody", state="starting", replication_state="")
        observed = with_member(observed, short, starting)
    plan = plan_for(observed)
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    held = {hold.key for hold in plan.holds}
    assert {f"update-service/{name}" for name in MEMBERS} <= held
    assert refused(observed, *MEMBERS) == "one-disruption"
    assert refused(observed, REPLICA) == "leader-is-safe"


def test_while_one_starts_no_other_is_stopped() -> None:
    observed = with_service(three_nodes(), REPLICA, hostname="x")
    observed = with_tasks(observed, OTHER, member_task(OTHER, "starting"))
    plan = plan_for(observed)
    assert summary(plan)[0] == []
    assert refused(observed, REPLICA) == "others-are-well"


def test_while_a_task_is_being_stopped_beside_its_successor_no_other_is_stopped() -> None:
    observed = with_service(three_nodes(), REPLICA, hostname="x")
    former = member_task(OTHER, "running", "shutdown", id="former")
    observed = with_tasks(observed, OTHER, former, member_task(OTHER, "running"))
    assert summary(plan_for(observed))[0] == []
    assert refused(observed, REPLICA) == "others-are-well"


def test_a_member_that_can_hold_no_process_is_mended_at_once() -> None:
    """It waits for its restart policy's delay: that is when a bad setting is taken back."""
    observed = with_service(three_nodes(unknown={"member-2"}), REPLICA, hostname="x")
    failed = member_task(REPLICA, "failed", "shutdown", id="former", exit_code=1)
    observed = with_tasks(observed, REPLICA, failed, member_task(REPLICA, "ready", "ready"))
    assert summary(plan_for(observed))[0] == [f"update-service/{REPLICA}"]
    assert refused(observed, REPLICA) == ""


def test_failback_waits_for_a_member_that_starts() -> None:
    text = manifest(primary="member-2", failback={"mode": "automatic", "after": "1h"})
    observed = three_nodes(text=text)
    observed = with_tasks(observed, OTHER, member_task(OTHER, "starting", at=NOW))
    plan = plan_for(observed, text)
    assert not any(action.key.startswith("switchover/") for action in plan.actions)


def test_the_virtual_address_waits_for_a_task_of_a_removed_service_that_starts() -> None:
    whole = dataclasses.replace(three_nodes(text=WITH_VIP), images=found_images())
    observed = without(whole, "main_vip")
    tasks = swarm_of(observed).tasks
    former = task("removed", "node3", state="starting", desired_state="remove")
    observed = with_swarm(observed, tasks=(*tasks, former))
    plan = plan_for(observed, WITH_VIP)
    assert any(hold.key == "create-service/main_vip" for hold in plan.holds)
    later = with_swarm(observed, tasks=tasks)
    assert "create-service/main_vip" in summary(plan_for(later, WITH_VIP))[0]


def test_what_is_unknown_stays_unknown() -> None:
    observed = with_member(three_nodes(), "member-3", Unknown("timed out"))
    observed = with_tasks(observed, REPLICA, member_task(REPLICA, "starting"))
    assert refused(observed, REPLICA) == "unknown-is-not-down"
