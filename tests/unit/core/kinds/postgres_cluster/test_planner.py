"""Drift by hand, field by field: the repairs, the holds, and the disrupted services.

Each case asserts the whole plan: its actions' keys in order ("!" marks a disruption), and its
holds' keys.
"""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import AdjustService, UpdateService
from queenright.core.observed import Observed, Task, node_key
from queenright.core.swarm.diff import diff, disrupts
from queenright.core.swarm.objects import (
    IMAGE_LABEL,
    Attachment,
    Mount,
    Port,
    Resources,
    Service,
)
from tests.golden.messages import assert_words
from tests.support.builders import (
    NOW,
    desired,
    found_images,
    manifest,
    pinned,
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

REPLICA, LEADER, PROXY = "main_member-2", "main_member-1", "main_proxy"
DISRUPTING: dict[str, dict[str, Any]] = {
    "environment": {"environment": {"NODE_NAME": "x"}},
    "image": {"image": "10.77.0.1:5000/other:1"},
    "container label": {"container_labels": {}},
    "network alias": {"networks": (Attachment("main_patroni", ("imposter",)),)},
    "network": {"networks": ()},
    "config reference": {"configs": ()},
    "secret reference": {"secrets": ()},
    "ports": {"ports": (Port(15432, 5432),)},
    "mounts": {"mounts": (Mount("/data", source="other"),)},
    "health check": {"health_check": None},
    "hostname": {"hostname": "imposter"},
    "constraint": {"constraints": ()},
    "endpoint mode": {"endpoint_mode": "vip"},
    "memory": {"resources": Resources(1 << 30)},
    "stop grace": {"stop_grace_s": 10.0},
    "user": {"user": "root"},
    "capability": {"capabilities_added": ("CAP_SYS_ADMIN",)},
    "a setting that nothing models": {"other": {"TaskTemplate.LogDriver.Name": '"syslog"'}},
}


@pytest.mark.parametrize("fields", DISRUPTING.values(), ids=DISRUPTING)
class TestWhatRestartsAMember:
    def test_is_put_back_on_a_replica(self, fields: dict[str, Any]) -> None:
        observed = with_service(three_nodes(), REPLICA, **fields)
        plan = plan_for(observed)
        assert summary(plan) == ([f"update-service/{REPLICA} !{REPLICA}"], [])
        (action,) = plan.actions
        assert isinstance(action, UpdateService)
        assert action.service == live(three_nodes(), REPLICA).value
        assert (action.id, action.version) == (f"id-{REPLICA}", live(observed, REPLICA).version)
        assert action.changes

    def test_on_the_leader_the_lead_moves_first(self, fields: dict[str, Any]) -> None:
        plan = plan_for(with_service(three_nodes(), LEADER, **fields))
        assert summary(plan) == (["route/main"], [f"update-service/{LEADER}"])
        (hold,) = plan.holds
        assert_words(hold)

    def test_is_held_while_another_member_is_down(self, fields: dict[str, Any]) -> None:
        plan = plan_for(with_service(three_nodes(down={"node4"}), REPLICA, **fields))
        assert plan.actions == ()
        assert f"update-service/{REPLICA}" in summary(plan)[1]

    @pytest.mark.parametrize("silent", ["member-1", "member-2", "member-3"])
    def test_is_held_while_any_member_is_unknown(self, fields: dict[str, Any], silent: str) -> None:
        plan = plan_for(with_service(three_nodes(unknown={silent}), REPLICA, **fields))
        assert summary(plan) == ([], ["cluster/main", f"update-service/{REPLICA}"])

    def test_is_put_back_at_once_where_nothing_runs(self, fields: dict[str, Any]) -> None:
        ended = task(REPLICA, "node3", slot=1, state="failed", at=NOW)
        observed = with_tasks(three_nodes(unknown={"member-2"}), REPLICA, ended)
        plan = plan_for(with_service(observed, REPLICA, **fields))
        assert summary(plan) == ([f"update-service/{REPLICA}"], ["cluster/main"])


@pytest.mark.parametrize("name", [REPLICA, LEADER])
@pytest.mark.parametrize(
    "fields",
    [
        {"replicas": 0},
        {"update": dataclasses.replace(pinned(desired().proxy).update, order="start-first")},
        {"rollback": dataclasses.replace(pinned(desired().proxy).update, parallelism=0)},
    ],
    ids=["no replica", "update policy", "rollback policy"],
)
def test_what_restarts_nothing_is_put_back_on_any_member(name: str, fields: dict[str, Any]) -> None:
    plan = plan_for(with_service(three_nodes(), name, **fields))
    assert summary(plan) == ([f"adjust-service/{name}"], [])


@pytest.mark.parametrize("name", [REPLICA, LEADER, PROXY])
def test_labels_removed_are_put_back_without_a_restart(name: str) -> None:
    observed = with_service(three_nodes(), name, labels={"backup": "daily"})
    observed = dataclasses.replace(observed, images=found_images())
    plan = plan_for(observed)
    assert summary(plan) == ([f"adjust-service/{name}"], [])
    (action,) = plan.actions
    assert isinstance(action, AdjustService)
    assert action.service.labels == {**live(three_nodes(), name).value.labels, "backup": "daily"}


def test_the_labels_of_others_are_left_alone() -> None:
    labels = {**live(three_nodes(), REPLICA).value.labels, "backup": "daily"}
    assert plan_for(with_service(three_nodes(), REPLICA, labels=labels)).is_converged


def test_on_the_leader_the_harmless_part_is_done_and_the_rest_held() -> None:
    plan = plan_for(with_service(three_nodes(), LEADER, replicas=0, hostname="x"))
    actions = [f"adjust-service/{LEADER}", "route/main"]
    assert summary(plan) == (actions, [f"update-service/{LEADER}"])
    action = plan.actions[0]
    assert isinstance(action, AdjustService)
    assert (action.service.replicas, action.service.hostname) == (1, "x")


@pytest.mark.parametrize("name", [REPLICA, LEADER])
@pytest.mark.parametrize("fields", DISRUPTING.values(), ids=DISRUPTING)
def test_the_harmless_part_leaves_the_task_template_as_it_is(
    fields: dict[str, Any], name: str
) -> None:
    observed = with_service(three_nodes(unknown={"member-3"}), name, **fields, replicas=0)
    (action,) = plan_for(observed).actions
    assert isinstance(action, AdjustService)
    present = live(observed, name).value
    assert not disrupts(diff(action.service, present))
    assert action.service.labels[IMAGE_LABEL] == present.labels[IMAGE_LABEL]


@pytest.mark.parametrize("name", [REPLICA, LEADER, PROXY])
def test_another_mode_is_told_since_swarm_can_not_change_it(name: str) -> None:
    mode = "replicated" if name == PROXY else "global"
    plan = plan_for(with_service(three_nodes(), name, mode=mode))
    assert summary(plan) == ([], [f"update-service/{name}"])
    assert_words(plan.holds[0])


def test_one_member_at_a_time() -> None:
    text = manifest(memory="{limit: 3G}")
    plan = plan_for(three_nodes(), text)
    assert summary(plan) == (
        [f"update-service/{REPLICA} !{REPLICA}"],
        [f"update-service/{LEADER}", "update-service/main_member-3"],
    )
    assert_words(plan.holds[1])


def test_nothing_is_disrupted_while_patroni_is_paused() -> None:
    paused = status("member-3", "member-1", paused=True)
    observed = with_member(with_service(three_nodes(), REPLICA, hostname="x"), "member-3", paused)
    assert summary(plan_for(observed)) == ([], [f"update-service/{REPLICA}"])


def test_nothing_is_disrupted_while_two_claim_to_lead() -> None:
    claim = status("member-3", "member-3")
    observed = with_member(with_service(three_nodes(), REPLICA, hostname="x"), "member-3", claim)
    assert summary(plan_for(observed)) == ([], ["cluster/main", f"update-service/{REPLICA}"])


REMOVED: dict[str, tuple[tuple[str, ...], list[str], list[str]]] = {
    "replica": ((REPLICA,), [f"create-service/{REPLICA}"], ["cluster/main"]),
    "leader": ((LEADER,), [f"create-service/{LEADER}"], ["cluster/main"]),
    "proxy": ((PROXY,), [f"create-service/{PROXY}"], []),
    "network": (("main_patroni",), ["create-network/main_patroni"], []),
    "template": (
        (desired().follower_template.name,),
        [f"create-config/{desired().follower_template.name}"],
        [],
    ),
    "haproxy.cfg": ((desired().haproxy.name,), [f"create-config/{desired().haproxy.name}"], []),
    "anchor": (("main_cluster",), ["create-config/main_cluster"], []),
    "secret of the data": (("pg_superuser_pw",), [], ["create-secret/pg_superuser_pw"]),
    "other secret of the data": (
        ("pg_replication_pw",),
        [],
        ["create-secret/pg_replication_pw"],
    ),
    "secret of the REST API": (("pg_rest_pw",), ["create-secret/pg_rest_pw"], []),
}


@pytest.mark.parametrize("case", REMOVED.values(), ids=REMOVED)
def test_what_was_removed_by_hand(case: tuple[tuple[str, ...], list[str], list[str]]) -> None:
    names, actions, holds = case
    observed = dataclasses.replace(without(three_nodes(), *names), images=found_images())
    assert summary(plan_for(observed)) == (actions, holds)


def test_a_lost_secret_is_not_made_anew_even_when_every_service_is_gone() -> None:
    names = [service.name for service in desired().services]
    plan = plan_for(without(bare_of_services(), "pg_superuser_pw", *names))
    assert "create-secret/pg_superuser_pw" in summary(plan)[1]
    assert not any("secret" in key for key in summary(plan)[0])


def bare_of_services() -> Observed:
    return dataclasses.replace(three_nodes(), images=found_images())


def test_secrets_are_made_before_the_first_deployment() -> None:
    names = [service.name for service in desired().services]
    observed = without(bare_of_services(), "pg_rest_pw", "main_cluster", *names)
    assert "create-secret/pg_rest_pw" in summary(plan_for(observed))[0]


class TestTasks:
    """Tasks that swarm does not start again by itself (spec: §3, five attempts in 60 s)."""

    def ended(self, **fields: Any) -> Observed:
        last = task(REPLICA, "node3", slot=1, **fields)
        return with_tasks(three_nodes(unknown={"member-2"}), REPLICA, last)

    def test_exhausted_restarts_are_started_again_with_the_reason(self) -> None:
        observed = self.ended(
            state="failed",
            exit_code=1,
            error="task: non-zero exit (1)",
            at=NOW - timedelta(minutes=2),
        )
        plan = plan_for(observed)
        assert summary(plan) == ([f"restart-service/{REPLICA}"], ["cluster/main"])
        assert_words(plan.actions[0])

    def test_swarm_is_given_its_own_delay_first(self) -> None:
        plan = plan_for(self.ended(state="failed", at=NOW - timedelta(seconds=3)))
        assert summary(plan) == ([], ["cluster/main", f"restart-service/{REPLICA}"])
        assert plan.recheck_at == NOW + timedelta(seconds=10 + 5 - 3)

    def test_a_hand_stopped_task_is_started_at_once(self) -> None:
        plan = plan_for(self.ended(state="complete", exit_code=0, at=NOW))
        assert summary(plan)[0] == [f"restart-service/{REPLICA}"]

    def test_a_task_that_swarm_is_stopping_is_not_given_up(self) -> None:
        plan = plan_for(self.ended(state="running", desired_state="shutdown"))
        assert summary(plan)[0] == []

    def test_a_task_that_can_not_be_placed_is_told_in_swarms_words(self) -> None:
        waiting = task(REPLICA, "", slot=1, state="pending", error="no suitable node (host-mode …)")
        plan = plan_for(with_tasks(three_nodes(unknown={"member-2"}), REPLICA, waiting))
        assert summary(plan) == ([], ["cluster/main", f"task/{REPLICA}"])
        assert_words(plan.holds[1])

    def test_a_task_on_a_dead_node_is_left_to_swarm(self) -> None:
        plan = plan_for(three_nodes(down={"node4"}))
        assert plan.actions == ()

    def test_a_hand_stopped_proxy_is_started_at_once(self) -> None:
        stopped = task(PROXY, "node2", state="complete", at=NOW)
        observed = with_tasks(
            three_nodes(), PROXY, stopped, task(PROXY, "node3"), task(PROXY, "node4")
        )
        assert summary(plan_for(observed))[0] == [f"restart-service/{PROXY} !{PROXY}"]

    def former_proxy(self, seen_s: float, *more: Task) -> Observed:
        """On node2 the proxy's last task was shut down long ago; the node has been seen as it is
        for so many seconds."""
        long_ago = {"desired_state": "shutdown", "at": NOW - timedelta(minutes=2)}
        former = task(PROXY, "node2", id="former", state="shutdown", **long_ago)
        tasks = (former, task(PROXY, "node3"), *(more or (task(PROXY, "node4"),)))
        observed = with_tasks(three_nodes(), PROXY, *tasks)
        return dataclasses.replace(observed, seen_s_ago={node_key("id-node2"): seen_s})

    def test_swarm_is_given_time_to_make_the_task_of_a_node_that_has_just_come(self) -> None:
        """Back from a power cut, or with its label again: a restart stops the other proxies."""
        plan = plan_for(self.former_proxy(4.9))
        assert summary(plan) == ([], [f"restart-service/{PROXY}"])
        assert_words(*plan.holds)
        assert plan.recheck_at == NOW + timedelta(seconds=5)
        plan = plan_for(self.former_proxy(5.0))
        assert summary(plan)[0] == [f"restart-service/{PROXY} !{PROXY}"]

    def test_nor_is_any_proxy_restarted_while_another_is_coming(self) -> None:
        coming = task(PROXY, "node4", state="preparing", at=NOW - timedelta(seconds=1))
        plan = plan_for(self.former_proxy(60.0, coming))
        assert summary(plan)[0] == []
        assert f"restart-service/{PROXY}" in summary(plan)[1]
        assert_words(*(hold for hold in plan.holds if hold.key == f"restart-service/{PROXY}"))


def test_a_member_under_a_new_address_is_told_and_left() -> None:
    """Every use of the address is reported: the others' partner lists, and haproxy.cfg."""
    plan = plan_for(with_node(three_nodes(), "node3", address="10.77.0.99"))
    assert summary(plan) == ([], [f"membership/{REPLICA}"])
    assert_words(plan.holds[0])
    assert plan.holds[0].wants_attention


def test_a_member_service_that_nobody_deployed_is_kept_and_told() -> None:
    stray: Service = dataclasses.replace(live(three_nodes(), REPLICA).value, name="main_member-9")
    extra = dataclasses.replace(live(three_nodes(), REPLICA), id="id-stray", value=stray)
    observed = with_swarm(three_nodes(), services=(*swarm_of(three_nodes()).services, extra))
    assert summary(plan_for(observed)) == ([], ["membership/main_member-9"])
