"""The guards, each against plans that no rule of ours makes: the last word is theirs."""

from __future__ import annotations

import dataclasses
from typing import Any

from queenright.core.actions import (
    AdjustService,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.kinds.ruleset import GUARDS, first_refusal
from queenright.core.observed import Observed, joining_key
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import DELETION_POLICY_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import desired, status, swarm_of, task, three_nodes
from tests.support.changed import (
    live,
    with_config_labels,
    with_member,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
)

LEADER, REPLICA, OTHER, PROXY = "main_member-1", "main_member-2", "main_member-3", "main_proxy"


def update(name: str, **fields: Any) -> UpdateService:
    """An update that does not name the service that it disrupts."""
    found = live(three_nodes(), name)
    wanted = dataclasses.replace(found.value, **(fields or {"hostname": "x"}))
    return UpdateService(found.id, found.version, wanted, 0, reason="a test")


def adjust(name: str, **fields: Any) -> AdjustService:
    found = live(three_nodes(), name)
    wanted = dataclasses.replace(found.value, **fields)
    return AdjustService(found.id, found.version, wanted, reason="a test")


def refusal(observed: Observed, *actions: object, digest: str = "d") -> str:
    """The guard that refuses the plan, its words compared with the page; empty if none does."""
    found = first_refusal(Plan("main", digest, actions), observed)  # type: ignore[arg-type]
    if found is None:
        return ""
    assert_words(found)
    return found.guard


def test_a_safe_plan_passes() -> None:
    assert refusal(three_nodes(), update(REPLICA)) == ""
    assert refusal(three_nodes(), update(PROXY)) == ""
    assert refusal(three_nodes()) == ""


def test_two_are_never_disrupted_at_once() -> None:
    text = refusal(three_nodes(), update(REPLICA), update(OTHER))
    assert text == "one-disruption"


def test_the_leader_is_safe_from_every_kind_of_action() -> None:
    found = live(three_nodes(), LEADER)
    node = swarm_of(three_nodes()).nodes[1]
    restart = RestartService(found.id, found.version, found.value, 1, reason="a test")
    unlabel = relabelled_node(node, {"pg-node": None}, "a test")
    relabel = relabelled_node(node, {"pg-node": "2"}, "a test")
    fewer = (adjust(LEADER, replicas=0), update(LEADER, replicas=0))
    for action in (update(LEADER), restart, unlabel, relabel, *fewer):
        assert refusal(three_nodes(), action) == "leader-is-safe"


def test_what_stops_no_task_is_refused_on_nobody() -> None:
    node = swarm_of(three_nodes()).nodes[1]
    found = live(three_nodes(), LEADER).value
    label = relabelled_node(node, {"pg-node": "1", "rack": "a"}, "a test")
    for action in (adjust(LEADER, labels={}), update(LEADER, update=found.rollback), label):
        assert refusal(three_nodes(), action) == ""
    ended = task(LEADER, "node2", slot=1, state="failed")
    assert refusal(with_tasks(three_nodes(), LEADER, ended), update(LEADER)) == ""


def test_a_task_on_a_node_that_swarm_lost_sight_of_may_be_running() -> None:
    for fields in ({}, {"desired_state": "shutdown"}):
        lost = with_tasks(three_nodes(), LEADER, task(LEADER, "node2", slot=1, **fields))
        observed = with_node(lost, "node2", state="down")
        assert refusal(observed, update(LEADER)) == "leader-is-safe"


def test_nobody_is_disrupted_while_another_has_not_one_running_task() -> None:
    """However well its Patroni answers."""
    ending = task(OTHER, "node4", slot=1, desired_state="shutdown")
    second = task(OTHER, "node4", slot=2, id="second")
    for tasks in ((), (ending,), (task(OTHER, "node4", slot=1), second)):
        observed = with_tasks(three_nodes(), OTHER, *tasks)
        assert refusal(observed, update(REPLICA)) == "others-are-well"


def test_the_leader_is_safe_without_its_labels() -> None:
    observed = with_service(three_nodes(), LEADER, labels={})
    assert refusal(observed, update(LEADER)) == "leader-is-safe"
    assert refusal(observed, update(REPLICA)) == ""


def test_nobody_is_disrupted_without_a_known_leader() -> None:
    text = refusal(three_nodes(leader="nobody"), update(REPLICA))
    assert text == "leader-is-safe"


def test_nobody_is_disrupted_while_one_is_unknown() -> None:
    for silent in ("member-2", "member-3"):
        text = refusal(three_nodes(unknown={silent}), update(REPLICA))
        assert text == "unknown-is-not-down"


def test_nobody_is_disrupted_while_one_was_not_asked() -> None:
    observed = three_nodes()
    members = {name: found for name, found in observed.members.items() if name != OTHER}
    observed = Observed(observed.swarm, members)
    assert refusal(observed, update(REPLICA)) == "unknown-is-not-down"


def test_nobody_is_disrupted_while_another_is_not_well() -> None:
    stopped = status("member-3", "member-1", state="stopped", replication_state="")
    text = refusal(with_member(three_nodes(), "member-3", stopped), update(REPLICA))
    assert text == "others-are-well"


def test_the_one_that_is_not_well_may_itself_be_restarted_after_a_minute() -> None:
    failed = status("member-2", "member-1", state="start failed", replication_state="")
    observed = with_member(three_nodes(), "member-2", failed)
    for seen, guard in ((None, BREAKS_OFF), (59.0, BREAKS_OFF), (60.0, "")):
        assert refusal(joining(observed, seen), update(REPLICA)) == guard


def test_no_rewind_is_broken_off() -> None:
    """A member that is rewound runs, starts or has stopped, by what its Patroni tells."""
    for state in ("running", "starting", "stopped"):
        found = status("member-2", "member-1", state=state, replication_state="")
        observed = with_member(three_nodes(), "member-2", found)
        assert refusal(observed, update(REPLICA)) == BREAKS_OFF
    copying = status("member-2", "member-1", state="creating replica", replication_state="")
    assert refusal(with_member(three_nodes(), "member-2", copying), update(REPLICA)) == ""


BREAKS_OFF = "rewinds-are-not-broken-off"


def joining(observed: Observed, seconds: float | None) -> Observed:
    """The replica has not streamed from this leader for so long."""
    seen = {} if seconds is None else {joining_key(REPLICA): seconds}
    return dataclasses.replace(observed, seen_s_ago={**observed.seen_s_ago, **seen})


def test_nobody_is_disrupted_while_patroni_is_paused() -> None:
    paused = status("member-2", "member-1", paused=True)
    text = refusal(with_member(three_nodes(), "member-2", paused), update(REPLICA))
    assert text == "others-are-well"


def test_services_and_networks_go_only_with_their_document() -> None:
    for action in (
        RemoveService("id", REPLICA, reason="a test"),
        RemoveNetwork("id", "main_patroni", reason="a test"),
    ):
        assert refusal(three_nodes(), action) == "removal-is-asked-for"
        assert refusal(given_up(), action, digest="") == ""


def given_up(policy: str = "remove", absent_s: float = 60) -> Observed:
    """Return the observation without a document, whose owner wanted that to mean removal."""
    labels = {**desired().state_config.labels, DELETION_POLICY_LABEL: policy}
    observed = with_config_labels(three_nodes(), "main_cluster", labels)
    return dataclasses.replace(observed, absent_s={"main": absent_s})


def test_a_removal_takes_an_owners_word_and_a_minute_without_the_document() -> None:
    node = swarm_of(three_nodes()).nodes[1]
    for action in (
        RemoveService("id", REPLICA, reason="a test"),
        RemoveNetwork("id", "main_patroni", reason="a test"),
        RemoveConfig("id", "unused", reason="a test"),
        relabelled_node(node, {"other": None}, "a test"),
    ):
        assert refusal(given_up("retain"), action, digest="") == "absence-is-certain"
        assert refusal(given_up(absent_s=59), action, digest="") == "absence-is-certain"
        assert refusal(dataclasses.replace(given_up(), absent_s={}), action, digest="")
        assert refusal(given_up(), action, digest="") == ""


def test_nobody_stops_anothers_tasks_by_a_label() -> None:
    node = swarm_of(three_nodes()).nodes[2]
    unlabel = relabelled_node(node, {"pg-node": None}, "a test")
    other = Plan("notes", "d", (unlabel,))
    found = first_refusal(other, three_nodes())
    assert found is not None
    assert found.guard == "labels-place-ones-own"
    assert_words(found)
    assert first_refusal(other, with_tasks(three_nodes(), REPLICA)) is None
    spare = relabelled_node(node, {"web": "true"}, "a test")
    assert first_refusal(Plan("notes", "d", (spare,)), three_nodes()) is None


def test_a_config_in_use_stays() -> None:
    name = desired().follower_template.name
    action = RemoveConfig("id", name, reason="a test")
    assert refusal(three_nodes(), action) == "removal-is-asked-for"
    assert refusal(with_swarm(three_nodes(), services=()), action) == ""


def test_every_guard_is_in_force() -> None:
    assert [guard.__name__ for guard in GUARDS] == [
        "one_disruption",
        "leader_is_safe",
        "unknown_is_not_down",
        "others_are_well",
        "rewinds_are_not_broken_off",
        "quorum_is_certain",
        "raft_is_applied",
        "raft_log_is_spared",
        "raft_logs_are_lost",
        "move_is_safe",
        "failover_loses_nothing",
        "initialised_once",
        "restores_are_asked_for",
        "commits_are_confirmed",
        "one_member_changes",
        "votes_change_safely",
        "places_cover_what_runs",
        "renamed_nodes_keep_members",
        "only_the_dead_are_replaced",
        "only_empty_members_copy",
        "pauses_are_respected",
        "backups_are_safe",
        "drills_touch_nothing",
        "data_ends_are_read",
        "repository_stays",
        "sql_goes_to_the_leader",
        "replicas_have_a_database",
        "removal_is_asked_for",
        "absence_is_certain",
        "labels_place_ones_own",
        "secrets_are_never_replaced",
    ]
