"""Obstacles to a first deployment, each with its message; nothing is changed."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.observed import Engine, ImageMissing, Known, LiveService, Observed, Unknown
from queenright.core.swarm.objects import STACK_LABEL, Port, Service
from tests.golden.messages import assert_words
from tests.support.builders import (
    MANIFEST,
    MEMBER_IMAGE,
    bare_swarm,
    found_images,
    manifest,
    plan_for,
    summary,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import with_node, with_service, with_swarm, without

ENGINES = {
    "worker": Engine(is_manager=False),
    "inactive": Engine(swarm_state="inactive"),
    "locked": Engine(swarm_state="locked"),
    "pending": Engine(swarm_state="pending"),
    "error": Engine(swarm_state="error", error="no quorum"),
}


@pytest.mark.parametrize("observed", [bare_swarm(), three_nodes()], ids=["bare", "deployed"])
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_engine_that_is_no_managers(engine: Engine, observed: Observed) -> None:
    plan = plan_for(with_swarm(observed, engine=engine))
    assert summary(plan) == ([], ["preflight/swarm"])
    assert_words(plan.holds[0])
    assert plan.holds[0].wants_attention


def test_a_swarm_that_was_not_read() -> None:
    plan = plan_for(Observed(Unknown("connection refused")))
    assert summary(plan) == ([], ["preflight/swarm"])
    assert_words(plan.holds[0])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", "down"),
        ("state", "disconnected"),
        ("availability", "drain"),
        ("availability", "pause"),
    ],
)
def test_a_node_that_is_not_ready(field: str, value: str) -> None:
    plan = plan_for(with_node(bare_swarm(), "node3", **{field: value}))
    assert summary(plan) == ([], ["preflight/node/node3"])
    assert_words(plan.holds[0])


def test_a_node_that_is_not_there() -> None:
    nodes = tuple(node for node in swarm_of(bare_swarm()).nodes if node.name != "node3")
    plan = plan_for(with_swarm(bare_swarm(), nodes=nodes))
    assert summary(plan)[0] == []
    assert_words(*plan.holds)
    line = MANIFEST.splitlines().index("    - {name: member-2, node: node3}") + 1
    assert any(f"cluster.yaml:{line}: spec.members[1].node" in hold.reason for hold in plan.holds)


def test_an_address_outside_the_lan() -> None:
    plan = plan_for(with_node(bare_swarm(), "node3", address="192.168.1.3"))
    assert summary(plan)[0] == []
    assert_words(*plan.holds)


def test_a_label_that_another_node_uses() -> None:
    plan = plan_for(with_node(bare_swarm(), "node1", labels={"pg-node": "2"}))
    assert summary(plan)[0] == []
    assert_words(*plan.holds)


@pytest.mark.parametrize(
    "reading",
    [Known(ImageMissing("manifest unknown")), Unknown("the registry does not answer")],
    ids=["missing", "unknown"],
)
def test_an_image_that_is_not_to_be_had(reading: Known[ImageMissing] | Unknown) -> None:
    observed = bare_swarm()
    images = {**observed.images, MEMBER_IMAGE: reading}
    plan = plan_for(dataclasses.replace(observed, images=images))
    assert summary(plan) == ([], [f"preflight/image/{MEMBER_IMAGE}"])
    assert_words(plan.holds[0])


def other_service(port: Port) -> Observed:
    service = LiveService("id-web", 5, Service("web", "web:1", ports=(port,)))
    there = task("web", "node3")
    return with_swarm(bare_swarm(), services=(service,), tasks=(there,))


@pytest.mark.parametrize(
    ("port", "is_taken"),
    [
        (Port(5432, 80), True),
        (Port(5000, 80), True),
        (Port(5432, 80, mode="ingress"), True),
        (Port(5432, 80, protocol="udp"), False),
        (Port(8080, 80), False),
    ],
)
def test_a_port_that_another_service_has(port: Port, is_taken: bool) -> None:
    plan = plan_for(other_service(port))
    assert (summary(plan)[0] == []) == is_taken
    holds = [hold for hold in plan.holds if hold.key == f"preflight/port/{port.published}"]
    assert bool(holds) == is_taken
    for hold in holds:
        assert_words(hold)


def test_a_host_mode_port_on_a_node_of_somebody_else_is_free() -> None:
    observed = with_swarm(other_service(Port(5432, 80)), tasks=(task("web", "node1"),))
    assert summary(plan_for(observed))[0] != []


@pytest.mark.parametrize("name", ["main_member-1", "main_member-3", "main_proxy"])
def test_a_service_of_somebody_else_under_our_name_is_not_taken_over(name: str) -> None:
    """A stack that was deployed by hand: its data is not ours to restart, nor to re-label."""
    theirs = LiveService("id-theirs", 5, Service(name, "other:1", labels={STACK_LABEL: "main"}))
    for base in (bare_swarm(), foreign_stack()):
        swarm = swarm_of(base)
        others = tuple(found for found in swarm.services if found.value.name != name)
        plan = plan_for(with_swarm(base, services=(*others, theirs)))
        assert plan.actions == ()
        (hold,) = (hold for hold in plan.holds if hold.key == f"preflight/service/{name}")
        assert hold.wants_attention
        assert_words(hold)


def foreign_stack() -> Observed:
    """The contract's services, running well, deployed without this operator."""
    observed = without(three_nodes(), "main_cluster")
    theirs = tuple(
        dataclasses.replace(
            found, value=dataclasses.replace(found.value, labels={STACK_LABEL: "main"})
        )
        for found in swarm_of(observed).services
    )
    return dataclasses.replace(with_swarm(observed, services=theirs), images=found_images())


def test_a_whole_stack_of_somebody_else_is_left_to_the_byte() -> None:
    for text in (MANIFEST, manifest(memory="{limit: 3G}"), manifest(deletionPolicy="remove")):
        actions, holds = summary(plan_for(foreign_stack(), text))
        assert actions == []
        assert holds == [
            "preflight/service/main_member-1",
            "preflight/service/main_member-2",
            "preflight/service/main_member-3",
            "preflight/service/main_proxy",
        ]


def test_with_the_anchor_there_labels_taken_away_by_hand_are_drift() -> None:
    observed = three_nodes()
    for service in swarm_of(observed).services:
        observed = with_service(observed, service.value.name, labels={})
    plan = plan_for(dataclasses.replace(observed, images=found_images()))
    assert {action.key.partition("/")[0] for action in plan.actions} == {"adjust-service"}


@pytest.mark.parametrize(
    ("node", "key", "value"),
    [
        ("node1", "pg-node", "7"),
        ("node3", "pg-node", "1"),
        ("node1", "pg-ha-node", "true"),
        ("node3", "pg-ha-node", "false"),
    ],
)
def test_a_label_that_something_else_may_be_placed_by_is_not_taken(
    node: str, key: str, value: str
) -> None:
    plan = plan_for(with_node(bare_swarm(), node, labels={key: value}))
    assert plan.actions == ()
    assert f"docker node update --label-rm {key} {node}" in " ".join(h.reason for h in plan.holds)
    assert all(hold.wants_attention for hold in plan.holds)


def test_labels_that_are_as_the_file_says_are_in_nobodys_way() -> None:
    labels = {"pg-node": "2", "pg-ha-node": "true", "rack": "a"}
    assert summary(plan_for(with_node(bare_swarm(), "node3", labels=labels)))[0] != []


def test_all_that_is_wrong_is_told_at_once() -> None:
    observed = with_node(other_service(Port(5432, 80)), "node4", state="down")
    missing = {**observed.images, MEMBER_IMAGE: Unknown("timed out")}
    plan = plan_for(dataclasses.replace(observed, images=missing))
    assert summary(plan) == (
        [],
        ["preflight/image/" + MEMBER_IMAGE, "preflight/node/node4", "preflight/port/5432"],
    )


def test_a_deployed_cluster_does_not_stop_for_what_only_a_first_deployment_needs() -> None:
    observed = three_nodes(down={"node4"})
    plan = plan_for(observed, manifest(deletionPolicy="remove"))
    assert "label-config/main_cluster" in summary(plan)[0]
    assert not any(key.startswith("preflight/") for key in summary(plan)[1])


def test_a_misplaced_label_is_drift_once_the_cluster_is_deployed() -> None:
    plan = plan_for(with_node(three_nodes(), "node1", labels={"pg-node": "2"}))
    assert summary(plan) == (["label-node/node1"], [])
