"""An update of several tasks that swarm stopped: when it goes on, and the holds until then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import AdjustService
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Observed
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_rollout import plan_service
from queenright.core.planning.task_watch import PROVEN
from queenright.core.swarm.objects import UpdatePolicy
from tests.golden.messages import assert_words
from tests.support.builders import NOW, desired, plan_for, swarm_of, task, three_nodes
from tests.support.changed import with_live_service, with_service, with_tasks

PROXY = "main_proxy"
TOLD = "update paused due to failure or early termination of task x"
LONG_AGO = NOW - 2 * PROVEN


def stopped(**third: Any) -> Observed:
    """The proxies, of which the third one's task is as given."""
    observed = with_live_service(
        three_nodes(), PROXY, update_state="paused", update_message=TOLD, updated_at=LONG_AGO
    )
    tasks = [task(PROXY, node, id=node, at=LONG_AGO) for node in ("node2", "node3")]
    return with_tasks(observed, PROXY, *tasks, task(PROXY, "node4", **{"at": LONG_AGO, **third}))


def test_it_goes_on_once_all_tasks_have_run_for_long() -> None:
    (action,) = plan_for(stopped()).actions
    assert isinstance(action, AdjustService)
    assert (action.disrupts, action.changes) == (PROXY, ())
    live = swarm_of(stopped()).service(PROXY)
    assert live is not None
    assert action.service == live.value
    assert_words(action)


def test_one_that_has_just_started_is_waited_for() -> None:
    plan = plan_for(stopped(at=NOW - timedelta(seconds=20)))
    assert plan.actions == ()
    (hold,) = (hold for hold in plan.holds if hold.key == f"rollout/{PROXY}")
    assert (hold.recheck_at, hold.wants_attention) == (NOW + PROVEN - timedelta(seconds=20), False)
    assert_words(hold)


@pytest.mark.parametrize("state", ["failed", "preparing", "starting"])
def test_one_that_does_not_run_needs_a_person(state: str) -> None:
    plan = plan_for(stopped(state=state))
    (hold,) = (hold for hold in plan.holds if hold.key == f"rollout/{PROXY}")
    assert hold.wants_attention
    assert_words(hold)
    assert not any(isinstance(action, AdjustService) for action in plan.actions)


@pytest.mark.parametrize("delay_s", [99.0, None], ids=["its policy differs", "nothing differs"])
def test_nothing_is_written_while_no_task_may_be_restarted(delay_s: float | None) -> None:
    """Any write lets swarm go on, also one that restarts nothing otherwise."""
    observed = stopped()
    if delay_s is not None:
        observed = with_service(observed, PROXY, update=UpdatePolicy(delay_s=delay_s))
    state = ClusterState(desired(), swarm_of(observed), observed, NOW)
    (hold,) = plan_service(state, state.desired.proxy, "a port is taken")
    assert isinstance(hold, Hold)
    assert "a port is taken" in hold.reason
    assert hold.wants_attention
