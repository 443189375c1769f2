"""The guards, each against plans that no rule of ours makes: the last word is theirs."""

from __future__ import annotations

import dataclasses
from typing import Any

from queenright.core.actions import (
    AdjustService,
    LabelNode,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.guards import GUARDS, first_refusal
from queenright.core.observed import Observed
from queenright.core.plan import Plan
from tests.builders import (
    desired,
    live,
    status,
    swarm_of,
    task,
    three_nodes,
    with_member,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
)

LEADER, REPLICA, OTHER, PROXY = "main_member-1", "main_member-2", "main_member-3", "main_proxy"


def update(name: str, **fields: Any) -> UpdateService:
    """An update that does not own up to whom it disturbs."""
    found = live(three_nodes(), name)
    wanted = dataclasses.replace(found.value, **(fields or {"hostname": "x"}))
    return UpdateService(found.id, found.version, wanted, 0, reason="a test")


def adjust(name: str, **fields: Any) -> AdjustService:
    found = live(three_nodes(), name)
    wanted = dataclasses.replace(found.value, **fields)
    return AdjustService(found.id, found.version, wanted, reason="a test")


def refusal(observed: Observed, *actions: object, digest: str = "d") -> str:
    found = first_refusal(Plan("main", digest, actions), observed)  # type: ignore[arg-type]
    return f"{found.guard}: {found.reason}" if found else ""


def test_a_safe_plan_passes() -> None:
    assert refusal(three_nodes(), update(REPLICA)) == ""
    assert refusal(three_nodes(), update(PROXY)) == ""
    assert refusal(three_nodes()) == ""


def test_two_are_never_disturbed_at_once() -> None:
    text = refusal(three_nodes(), update(REPLICA), update(OTHER))
    assert text == "one-disturbance: the plan disturbs main_member-2, main_member-3 at once"


def test_the_leader_is_safe_from_every_kind_of_action() -> None:
    found = live(three_nodes(), LEADER)
    node = swarm_of(three_nodes()).nodes[1]
    restart = RestartService(found.id, found.version, found.value, 1, reason="a test")
    unlabel = LabelNode(node.name, node.id, 1, {"pg-node": None}, reason="a test")
    relabel = LabelNode(node.name, node.id, 1, {"pg-node": "2"}, reason="a test")
    fewer = (adjust(LEADER, replicas=0), update(LEADER, replicas=0))
    for action in (update(LEADER), restart, unlabel, relabel, *fewer):
        assert refusal(three_nodes(), action) == f"leader-is-safe: {LEADER} holds the leader lock"


def test_what_stops_no_task_is_refused_on_nobody() -> None:
    node = swarm_of(three_nodes()).nodes[1]
    found = live(three_nodes(), LEADER).value
    label = LabelNode(node.name, node.id, 1, {"pg-node": "1", "rack": "a"}, reason="a test")
    for action in (adjust(LEADER, labels={}), update(LEADER, update=found.rollback), label):
        assert refusal(three_nodes(), action) == ""
    ended = task(LEADER, "node2", slot=1, state="failed")
    assert refusal(with_tasks(three_nodes(), LEADER, ended), update(LEADER)) == ""


def test_a_task_on_a_node_that_swarm_lost_sight_of_may_be_running() -> None:
    for fields in ({}, {"desired_state": "shutdown"}):
        lost = with_tasks(three_nodes(), LEADER, task(LEADER, "node2", slot=1, **fields))
        observed = with_node(lost, "node2", state="down")
        assert "holds the leader lock" in refusal(observed, update(LEADER))


def test_nobody_is_disturbed_while_another_has_not_one_running_task() -> None:
    """However well its Patroni answers."""
    ending = task(OTHER, "node4", slot=1, desired_state="shutdown")
    second = task(OTHER, "node4", slot=2, id="second")
    for tasks in ((), (ending,), (task(OTHER, "node4", slot=1), second)):
        observed = with_tasks(three_nodes(), OTHER, *tasks)
        assert refusal(observed, update(REPLICA)) == f"others-are-well: {OTHER} has no single task"


def test_the_leader_is_safe_without_its_labels() -> None:
    observed = with_service(three_nodes(), LEADER, labels={})
    assert "holds the leader lock" in refusal(observed, update(LEADER))
    assert refusal(observed, update(REPLICA)) == ""


def test_nobody_is_disturbed_without_a_known_leader() -> None:
    text = refusal(three_nodes(leader="nobody"), update(REPLICA))
    assert text == "leader-is-safe: no member is known to hold the leader lock"


def test_nobody_is_disturbed_while_one_is_unknown() -> None:
    for silent in ("member-2", "member-3"):
        text = refusal(three_nodes(unknown={silent}), update(REPLICA))
        assert text == f"unknown-is-not-down: main_{silent} is unknown: timed out"


def test_nobody_is_disturbed_while_one_was_not_asked() -> None:
    observed = three_nodes()
    members = {name: found for name, found in observed.members.items() if name != OTHER}
    observed = Observed(observed.swarm, members)
    assert refusal(observed, update(REPLICA)) == f"unknown-is-not-down: {OTHER} was not asked"


def test_nobody_is_disturbed_while_another_is_not_well() -> None:
    stopped = status("member-3", "member-1", state="stopped", replication_state="")
    text = refusal(with_member(three_nodes(), "member-3", stopped), update(REPLICA))
    assert text == f"others-are-well: {OTHER} is stopped"


def test_the_one_that_is_not_well_may_itself_be_restarted() -> None:
    failed = status("member-2", "member-1", state="start failed", replication_state="")
    assert refusal(with_member(three_nodes(), "member-2", failed), update(REPLICA)) == ""


def test_nobody_is_disturbed_while_patroni_is_paused() -> None:
    paused = status("member-2", "member-1", paused=True)
    text = refusal(with_member(three_nodes(), "member-2", paused), update(REPLICA))
    assert text == "others-are-well: Patroni is paused"


def test_services_and_networks_go_only_with_their_document() -> None:
    for action in (
        RemoveService("id", REPLICA, reason="a test"),
        RemoveNetwork("id", "main_patroni", reason="a test"),
    ):
        assert "while its document is there" in refusal(three_nodes(), action)
        assert refusal(three_nodes(), action, digest="") == ""


def test_nobody_stops_anothers_tasks_by_a_label() -> None:
    node = swarm_of(three_nodes()).nodes[2]
    unlabel = LabelNode(node.name, node.id, 1, {"pg-node": None}, reason="a test")
    other = Plan("notes", "d", (unlabel,))
    found = first_refusal(other, three_nodes())
    assert found is not None
    assert found.guard == "labels-place-ones-own"
    assert found.reason == f"label-node/{node.name} would stop {REPLICA}, which is main's"
    assert first_refusal(other, with_tasks(three_nodes(), REPLICA)) is None
    spare = LabelNode(node.name, node.id, 1, {"web": "true"}, reason="a test")
    assert first_refusal(Plan("notes", "d", (spare,)), three_nodes()) is None


def test_a_config_in_use_stays() -> None:
    name = desired().template.name
    action = RemoveConfig("id", name, reason="a test")
    assert refusal(three_nodes(), action) == f"removal-is-asked-for: {name} is in use"
    assert refusal(with_swarm(three_nodes(), services=()), action) == ""


def test_every_guard_is_in_force() -> None:
    assert [guard.__name__ for guard in GUARDS] == [
        "one_disturbance",
        "leader_is_safe",
        "unknown_is_not_down",
        "others_are_well",
        "quorum_is_certain",
        "move_is_safe",
        "failover_is_a_persons",
        "pauses_are_respected",
        "sql_goes_to_the_leader",
        "removal_is_asked_for",
        "labels_place_ones_own",
        "replicas_have_a_database",
        "secrets_are_never_replaced",
    ]
