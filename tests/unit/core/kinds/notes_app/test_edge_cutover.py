"""An edit adds or removes the edge: its place is reported, and clients always have a way in."""

from __future__ import annotations

import io

import pytest

from queenright.cli import formatting
from queenright.cli.console import Output
from queenright.core.actions import RemoveService
from queenright.core.kinds.notes_app.status.rows import AppStatus, app_status
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed
from queenright.core.observed.readiness import Readiness
from queenright.core.planning.plan import Hold, Plan
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    EDGE,
    EDGE_NODES,
    WEB,
    app_manifest,
    app_plan,
    behind,
    behind_it,
    desired_app,
    edges,
    known,
    served,
    with_edge,
    with_readiness,
)
from tests.support.builders import summary, task
from tests.support.changed import live, with_live_service, with_node, with_service, without

NAGS = "key/notes"


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
    assert_words(held)


def test_the_edge_is_made_while_the_replicas_are_published() -> None:
    observed = without(with_edge(served(), behind()), EDGE)
    assert summary(app_plan(observed, behind()))[0] == [f"create-service/{EDGE}"]


def test_the_replicas_follow_once_the_edge_runs() -> None:
    plan = app_plan(with_edge(served(), behind(), *edges(*EDGE_NODES)), behind())
    assert summary(plan)[0] == [f"update-service/{WEB} !{WEB}"]
    assert {"ports[3000]", "environment[ADDRESS_HEADER]"} <= {
        change.path for change in plan.actions[0].changes
    }


def test_an_edge_on_a_node_that_is_down_is_not_waited_for() -> None:
    observed = with_edge(served(), behind(), *edges(*EDGE_NODES))
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
    assert_words(held)


def published() -> Observed:
    """The replicas are published as the file says, and the edge that it had is there yet."""
    return with_edge(served(), behind(), *edges(*EDGE_NODES))


def test_the_edge_goes_when_clients_can_do_without() -> None:
    plan = app_plan(published())
    (action,) = (step for step in plan.actions if isinstance(step, RemoveService))
    assert action.key == f"remove-service/{EDGE}"
    assert_words(action)
    assert first_refusal(plan, published()) is None


@pytest.mark.parametrize(
    "observed",
    [
        with_live_service(published(), WEB, update_state="updating"),
        with_readiness(published(), 2, Readiness(503)),
    ],
    ids=["updating", "not ready"],
)
def test_the_edge_stays_while_not_every_replica_serves(observed: Observed) -> None:
    plan = app_plan(observed)
    assert not [step for step in plan.actions if isinstance(step, RemoveService)]
    assert_words(told(plan, f"remove-service/{EDGE}"))


def test_after_the_edge_its_labels_and_its_configuration_go() -> None:
    plan = app_plan(without(published(), EDGE))
    keys = summary(plan)[0]
    assert [key for key in keys if key.startswith("label-node/")] == [
        f"label-node/{node}" for node in EDGE_NODES
    ]
    assert [key for key in keys if key.startswith("remove-config/notes_caddyfile-")]


def test_replicas_that_nobody_publishes_leave_the_edge_to_its_owner() -> None:
    text = app_manifest(publish="none")
    observed = with_edge(served(text), behind(), *edges(*EDGE_NODES))
    plan = app_plan(observed, text)
    assert not [step for step in plan.actions if isinstance(step, RemoveService)]
    assert told(plan, f"remove-service/{EDGE}").wants_attention
    assert_words(*plan.holds, *plan.actions)


def test_a_port_that_the_edge_still_has_is_waited_for() -> None:
    text = app_manifest(publish="{port: 443}")
    plan = app_plan(behind_it(), text)
    assert plan.actions == ()
    assert_words(told(plan, f"update-service/{WEB}"))
    assert told(plan, f"remove-service/{EDGE}").wants_attention
    assert_words(*plan.holds, *plan.actions)


def test_no_edge_is_removed_whose_replicas_nobody_can_reach_otherwise() -> None:
    observed = with_service(published(), WEB, ports=())
    found = live(observed, EDGE)
    plan = Plan("notes", "digest", (RemoveService(found.id, EDGE, reason=""),))
    refusal = first_refusal(plan, observed)
    assert refusal is not None
    assert refusal.guard == "removal-is-asked-for"


# -- status


def standing(observed: Observed, text: str = "") -> AppStatus:
    text = text or behind()
    return app_status("notes", desired_app(text), app_plan(observed, text), observed)


def test_status_tells_where_the_edge_runs() -> None:
    (row,) = standing(behind_it()).edges
    assert (row.text, row.waits) == ("runs on node2, node3", ())


@pytest.mark.parametrize(
    ("observed", "nodes", "waits"),
    [
        pytest.param(served(), (), "it is not deployed yet", id="not there"),
        pytest.param(
            with_edge(served(), behind(), task(EDGE, "node3")),
            ("node3",),
            "not on node2: swarm has not started it yet",
            id="not started",
        ),
        pytest.param(
            with_edge(
                served(),
                behind(),
                task(EDGE, "node3"),
                task(EDGE, "node2", state="preparing"),
                task(EDGE, "node2", state="rejected", desired_state="shutdown", error="no image"),
            ),
            ("node3",),
            "not on node2: preparing (no image)",
            id="no image",
        ),
        pytest.param(
            with_node(behind_it(), "node2", state="down"),
            ("node3",),
            "not on node2, which is down",
            id="node down",
        ),
    ],
)
def test_status_tells_what_keeps_an_edge_from_running(
    observed: Observed, nodes: tuple[str, ...], waits: str
) -> None:
    status = standing(observed)
    (row,) = status.edges
    assert (row.nodes, row.waits) == (nodes, (waits,))
    assert f"{EDGE}: {waits}" in status.remarks


def test_status_tells_how_many_edges_run_where_swarm_puts_them() -> None:
    text = behind("replicas: 2, tls: internal")
    pending = task(EDGE, "node3", 2, state="pending", error="no suitable node")
    observed = with_edge(served(text), text, task(EDGE, "node2", 1), pending)
    (row,) = standing(observed, text).edges
    assert row.waits == ("1 of 2 run: pending (no suitable node)",)


def test_status_still_tells_of_an_edge_that_the_file_has_no_more() -> None:
    (row,) = standing(published(), app_manifest()).edges
    assert row.text == "runs on node2, node3"


def test_the_edge_has_a_line_and_an_entry() -> None:
    stream = io.StringIO()
    status = standing(with_edge(served(), behind(), task(EDGE, "node3")))
    formatting.show_status(Output(stream, is_terminal=False), "application", status, None)
    assert "Edge       runs on node3\n" in stream.getvalue()
    waits = "not on node2: swarm has not started it yet"
    assert f"- {EDGE}: {waits}" in stream.getvalue()
    assert formatting.status_json(status, None)["edges"] == [
        {"service": EDGE, "runs_on": ["node3"], "waits": [waits]}
    ]
