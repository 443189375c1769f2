"""The edge comes and goes by an edit: its tasks are told, and clients always have a way in."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import RemoveService
from queenright.core.app.readiness import Readiness
from queenright.core.guards import first_refusal
from queenright.core.observed import ImageFound, Known, Live, LiveService, Observed, Task
from queenright.core.plan import Hold, Plan
from queenright.core.resources import IMAGE_LABEL
from tests.app_builders import (
    WEB,
    app_manifest,
    app_plan,
    desired_app,
    served,
    with_readiness,
)
from tests.builders import (
    LONG_AGO,
    live,
    summary,
    swarm_of,
    task,
    with_live_service,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
    without,
)

EDGE = "notes_edge"
EDGE_IMAGE = "10.77.0.1:5000/queenright-edge:2.6"
DIGEST = f"sha256:{'e' * 64}"
NAGS = "key/notes"
NODES = ("node2", "node3")


def behind(edge: str = "nodes: [node2, node3], tls: internal", **more: object) -> str:
    return app_manifest(edge=f"{{image: {EDGE_IMAGE}, {edge}}}", **more)


def known(observed: Observed) -> Observed:
    return dataclasses.replace(
        observed, images={**observed.images, EDGE_IMAGE: Known(ImageFound(DIGEST))}
    )


def with_edge(observed: Observed, text: str, *tasks: Task) -> Observed:
    """The edge that a file asks for is deployed, its configuration and its nodes' labels too."""
    wanted = desired_app(text)
    (edge,) = wanted.others
    image = f"{EDGE_IMAGE}@{DIGEST}"
    pinned = dataclasses.replace(edge, image=image, labels={**edge.labels, IMAGE_LABEL: image})
    swarm = swarm_of(observed)
    configs = [Live(f"id-{item.name}", 61, item) for item in wanted.configs]
    kept = [item for item in swarm.configs if item.value.name != wanted.anchor.name]
    anchor = Live(f"id-{wanted.anchor.name}", 60, wanted.anchor)
    observed = with_swarm(
        observed,
        services=(*swarm.services, LiveService(f"id-{EDGE}", 300, pinned, LONG_AGO, LONG_AGO)),
        configs=(*kept, anchor, *configs),
    )
    for item in wanted.node_labels:
        labels = next(node.labels for node in swarm.nodes if node.name == item.node)
        observed = with_node(observed, item.node, labels={**labels, **item.labels})
    return with_tasks(known(observed), EDGE, *tasks)


def edges(*nodes: str) -> tuple[Task, ...]:
    return tuple(task(EDGE, node) for node in nodes)


def behind_it(text: str = "") -> Observed:
    """The converged application with its edge."""
    text = text or behind()
    return with_edge(served(text), text, *edges(*NODES))


def told(plan: Plan, key: str) -> Hold:
    return next(found for found in plan.holds if found.key == key)


def test_an_application_behind_its_edge_has_nothing_to_do() -> None:
    assert summary(app_plan(behind_it(), behind())) == ([], [NAGS])


# -- from a published port to the edge


@pytest.mark.parametrize(
    ("running", "why"),
    [
        (None, "notes_edge is not deployed yet"),
        ((), "notes_edge does not run on node2, node3 yet"),
        (("node3",), "notes_edge does not run on node2 yet"),
    ],
)
def test_replicas_stay_published_until_the_edge_runs(
    running: tuple[str, ...] | None, why: str
) -> None:
    observed = served()
    if running is not None:
        observed = with_edge(observed, behind(), *edges(*running))
    plan = app_plan(known(observed), behind())
    assert not [action for action in plan.actions if action.key == f"update-service/{WEB}"]
    held = told(plan, f"update-service/{WEB}")
    assert f"clients come to port 3000 until the edge runs, and {why}" in held.reason
    assert "ports[3000]" in held.reason


def test_the_edge_is_made_while_the_replicas_are_published() -> None:
    observed = without(with_edge(served(), behind()), EDGE)
    assert summary(app_plan(observed, behind()))[0] == [f"create-service/{EDGE}"]


def test_the_replicas_follow_once_the_edge_runs() -> None:
    plan = app_plan(with_edge(served(), behind(), *edges(*NODES)), behind())
    assert summary(plan)[0] == [f"update-service/{WEB} !{WEB}"]
    assert {"ports[3000]", "environment[ADDRESS_HEADER]"} <= {
        change.path for change in plan.actions[0].changes
    }


def test_an_edge_on_a_node_that_is_down_is_not_waited_for() -> None:
    observed = with_edge(served(), behind(), *edges(*NODES))
    plan = app_plan(with_node(observed, "node2", state="down"), behind())
    assert f"update-service/{WEB} !{WEB}" in summary(plan)[0]


def test_a_port_that_the_edge_needs_is_given_up_first() -> None:
    """Both can't have it: swarm would refuse the edge for ever."""
    before = app_manifest(publish="{port: 443}")
    plan = app_plan(known(served(before)), behind())
    assert f"update-service/{WEB} !{WEB}" in summary(plan)[0]


# -- and back


def test_the_edge_stays_until_the_replicas_are_published() -> None:
    plan = app_plan(behind_it())
    assert summary(plan)[0] == [f"update-service/{WEB} !{WEB}"]
    held = told(plan, f"remove-service/{EDGE}")
    assert "goes once every replica serves at port 3000: notes_web is not published" in held.reason


def published() -> Observed:
    """The replicas are published as the file says, and the edge that it had is there yet."""
    return with_edge(served(), behind(), *edges(*NODES))


def test_the_edge_goes_when_clients_can_do_without() -> None:
    plan = app_plan(published())
    (action,) = (step for step in plan.actions if isinstance(step, RemoveService))
    assert action.key == f"remove-service/{EDGE}"
    assert "these stay: volume notes_edge-data" in action.reason
    assert first_refusal(plan, published()) is None


@pytest.mark.parametrize(
    ("observed", "why"),
    [
        (with_live_service(published(), WEB, update_state="updating"), "update updating"),
        (with_readiness(published(), 2, Readiness(503)), "1 of 2 replicas are known to be ready"),
    ],
)
def test_the_edge_stays_while_not_every_replica_serves(observed: Observed, why: str) -> None:
    plan = app_plan(observed)
    assert not [step for step in plan.actions if isinstance(step, RemoveService)]
    assert why in told(plan, f"remove-service/{EDGE}").reason


def test_after_the_edge_its_labels_and_its_configuration_go() -> None:
    plan = app_plan(without(published(), EDGE))
    keys = summary(plan)[0]
    assert [key for key in keys if key.startswith("label-node/")] == [
        f"label-node/{node}" for node in NODES
    ]
    assert [key for key in keys if key.startswith("remove-config/notes_caddyfile-")]


def test_replicas_that_nobody_publishes_leave_the_edge_to_its_owner() -> None:
    text = app_manifest(publish="none")
    observed = with_edge(served(text), behind(), *edges(*NODES))
    plan = app_plan(observed, text)
    assert not [step for step in plan.actions if isinstance(step, RemoveService)]
    assert told(plan, f"remove-service/{EDGE}").wants_attention


def test_a_port_that_the_edge_still_has_is_waited_for() -> None:
    text = app_manifest(publish="{port: 443}")
    plan = app_plan(behind_it(), text)
    assert plan.actions == ()
    assert "port 443 is still that of notes_edge" in told(plan, f"update-service/{WEB}").reason
    assert told(plan, f"remove-service/{EDGE}").wants_attention


def test_no_edge_is_removed_whose_replicas_nobody_can_reach_otherwise() -> None:
    observed = with_service(published(), WEB, ports=())
    found = live(observed, EDGE)
    plan = Plan("notes", "digest", (RemoveService(found.id, EDGE, reason=""),))
    refusal = first_refusal(plan, observed)
    assert refusal is not None
    assert refusal.guard == "removal-is-asked-for"
