"""Holds of replicas that do not run, are not ready, or have no place, each with its reason."""

from __future__ import annotations

from datetime import timedelta

import pytest

from queenright.core.observed import Unknown
from queenright.core.observed.readiness import Readiness
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    WEB,
    app_plan,
    replica,
    served,
    with_readiness,
)
from tests.support.app_upgrades import hold
from tests.support.builders import NOW
from tests.support.changed import (
    with_live_service,
    with_node,
    with_tasks,
)


def test_a_replica_that_is_not_ready_is_told_with_its_own_reason() -> None:
    said = Readiness(503, "not ready: the database is unreachable")
    plan = app_plan(with_readiness(served(), 2, said))
    held = hold(plan, "readiness/notes/2")
    assert_words(held)
    assert said.reason in held.reason
    assert held.wants_attention
    assert not plan.is_converged


def test_a_replica_that_started_a_moment_ago_is_given_time() -> None:
    observed = with_readiness(served(), 1, Readiness(503))
    fresh = with_tasks(observed, WEB, replica(1, at=NOW - timedelta(seconds=5)), replica(2))
    assert not hold(app_plan(fresh), "readiness/notes/1").wants_attention


def test_unknown_is_not_down() -> None:
    plan = app_plan(with_readiness(served(), 1, Unknown("10.77.0.13:3000: timed out")))
    held = hold(plan, "readiness/notes/1")
    assert_words(held)
    assert not held.wants_attention
    assert not plan.actions


def test_a_replica_that_does_not_run_is_missed() -> None:
    waiting = replica(2, state="pending", error="no suitable node", node_id="")
    plan = app_plan(with_tasks(served(), WEB, replica(1), waiting))
    assert_words(hold(plan, "replicas/notes"))


@pytest.mark.parametrize("state", ["paused", "rollback_paused"])
def test_an_update_that_swarm_stopped_needs_a_person_though_replicas_run(state: str) -> None:
    """Some of them may be of the former version for good."""
    plan = app_plan(with_live_service(served(), WEB, update_state=state))
    assert plan.actions == ()
    found = hold(plan, f"rollout/{WEB}")
    assert found.wants_attention
    assert_words(found)


@pytest.mark.parametrize(("waits_s", "needs_a_person"), [(10, False), (120, True)])
def test_a_replica_that_has_no_place_needs_a_person(waits_s: int, needs_a_person: bool) -> None:
    """Two on a node that has the port once, say: swarm would wait for ever."""
    since = NOW - timedelta(seconds=waits_s)
    error = "no suitable node (host-mode port already in use on 1 node)"
    waiting = replica(2, state="pending", error=error, node_id="", at=since)
    held = hold(app_plan(with_tasks(served(), WEB, replica(1), waiting)), "replicas/notes")
    assert_words(held)
    assert held.wants_attention is needs_a_person


def test_what_runs_on_a_dead_node_does_not_run() -> None:
    plan = app_plan(with_node(served(), "node4", state="down"))
    assert_words(hold(plan, "replicas/notes"))
