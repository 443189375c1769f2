"""An update that swarm carries out or took back: nothing is written over, or tried again."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import LabelConfig
from queenright.core.kinds.notes_app.upgrade.dump import DUMPED_FOR_LABEL, LAST_DUMP_LABEL
from queenright.core.kinds.notes_app.upgrade.rollback import NOTES, ROLLED_BACK_WHY_LABEL
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.service_context import SETTLES, UPDATE_LIMIT
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    APP,
    APP_IMAGE,
    NEXT_IMAGE,
    WEB,
    app_manifest,
    app_plan,
    desired_app,
    replica,
    served,
)
from tests.support.app_upgrades import AFTER, ANCHOR, BEFORE, NEXT, hold, job_of, keys
from tests.support.builders import MANIFEST, NOW
from tests.support.changed import with_config_labels, with_live_service, with_node, with_tasks

# -- an update that swarm is carrying out

LARGER = app_manifest(replicas=3)
CHANGED = app_manifest(maxAttachment="512M")


def updating(since: timedelta, state: str = "starting") -> Observed:
    """Swarm replaces the replicas; of the second one the successor is on its way."""
    coming = replica(2, state=state)
    observed = with_tasks(
        served(), WEB, replica(1), replica(2), dataclasses.replace(coming, id="task-coming")
    )
    return with_live_service(observed, WEB, update_state="updating", updated_at=NOW - since)


@pytest.mark.parametrize("text", [LARGER, CHANGED])
def test_what_swarm_may_have_to_take_back_is_not_written_over(text: str) -> None:
    plan = app_plan(updating(timedelta(seconds=20)), text)
    assert keys(plan)[0] == []
    assert_words(hold(plan, f"update-service/{WEB}"))


@pytest.mark.parametrize("text", [LARGER, CHANGED])
def test_an_update_that_is_stuck_is_corrected(text: str) -> None:
    plan = app_plan(updating(UPDATE_LIMIT + timedelta(seconds=1)), text)
    assert keys(plan)[0][0].startswith(f"update-service/{WEB}" if text == CHANGED else "adjust")


def test_an_update_that_no_node_takes_is_corrected_at_once() -> None:
    plan = app_plan(updating(timedelta(seconds=20), "pending"), CHANGED)
    assert keys(plan)[0] == [f"update-service/{WEB} !{WEB}"]


def test_the_monitored_time_is_waited_for_by_what_replaces_no_replica() -> None:
    observed = with_tasks(updating(timedelta(seconds=20)), WEB, replica(1), replica(2))
    assert keys(app_plan(observed, LARGER))[0] == []
    assert keys(app_plan(observed, CHANGED))[0] == [f"update-service/{WEB} !{WEB}"]


def test_what_swarm_has_not_begun_with_is_not_written_over() -> None:
    observed = with_live_service(served(), WEB, updated_at=NOW - SETTLES)
    assert keys(app_plan(observed, CHANGED))[0] == []
    later = with_live_service(served(), WEB, updated_at=NOW - SETTLES - timedelta(seconds=1))
    assert keys(app_plan(later, CHANGED))[0] == [f"update-service/{WEB} !{WEB}"]


# -- what swarm took back


def rolled_back(state: str = "rollback_completed", error: str = "unhealthy container") -> Observed:
    """Swarm tried the next image, and went back to the present one."""
    failed = replica(1, state="failed", desired_state="shutdown", error=error, image=AFTER, at=NOW)
    failed = dataclasses.replace(failed, id="task-failed")
    observed = served()
    observed = with_tasks(observed, WEB, *(replica(n, image=BEFORE) for n in (1, 2)), failed)
    return with_live_service(
        observed, WEB, update_state=state, update_started_at=NOW - timedelta(seconds=30)
    )


def as_noted(observed: Observed, text: str) -> Observed:
    """Return the observation after the plan's annotations are written."""
    plan = app_plan(observed, text)
    (step,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    return with_config_labels(observed, ANCHOR, step.config.labels)


@pytest.mark.parametrize("state", ["rollback_started", "rollback_completed", "rollback_paused"])
def test_what_swarm_takes_back_is_noted_with_its_story_and_not_tried_again(state: str) -> None:
    plan = app_plan(rolled_back(state), NEXT)
    assert keys(plan)[0] == [f"label-config/{ANCHOR}"]
    assert f"update-service/{WEB}" in keys(plan)[1]
    assert_words(plan.actions[0], hold(plan, f"update-service/{WEB}"))


def test_swarm_is_not_made_to_forget_what_is_not_noted_yet() -> None:
    """Any write on the service would; its image can't be found out now."""
    text = NEXT + "  replicas: 3\n"
    unknown = dataclasses.replace(rolled_back(), images={NEXT_IMAGE: Unknown("no answer")})
    assert keys(app_plan(unknown, text)) == ([], [f"update-service/{WEB}"])
    assert keys(app_plan(rolled_back(), text))[0] == [f"label-config/{ANCHOR}"]
    assert keys(app_plan(as_noted(rolled_back(), text), text))[0] == [f"adjust-service/{WEB}"]


def test_it_is_remembered_when_swarm_has_forgotten() -> None:
    noted = as_noted(rolled_back(), NEXT)
    forgotten = with_live_service(noted, WEB, update_state="")
    forgotten = with_tasks(forgotten, WEB, *(replica(n, image=BEFORE) for n in (1, 2)))
    plan = app_plan(forgotten, NEXT)
    assert keys(plan) == ([], [f"update-service/{WEB}"])
    assert_words(hold(plan, f"update-service/{WEB}"))


BOTH = app_manifest(maxAttachment="512M").replace(APP_IMAGE, NEXT_IMAGE)


@pytest.mark.parametrize("runs", [True, False])
def test_nothing_is_tried_while_the_image_is_not_known(runs: bool) -> None:
    """The tag was deployed and taken back; its registry does not answer now. What else the file
    changes may be what failed."""
    noted = as_noted(rolled_back(), BOTH)
    unknown = dataclasses.replace(noted, images={NEXT_IMAGE: Unknown("no answer")})
    if not runs:
        down = [replica(slot, state="failed", desired_state="shutdown") for slot in (1, 2)]
        unknown = with_tasks(unknown, WEB, *down)
    plan = app_plan(unknown, BOTH)
    assert f"update-service/{WEB}" not in "".join(keys(plan)[0])
    assert_words(hold(plan, f"update-service/{WEB}"))


def test_another_change_of_the_file_is_tried_and_the_note_is_over() -> None:
    noted = as_noted(rolled_back(), NEXT)
    plan = app_plan(noted, NEXT + "  maxAttachment: 512M\n  upgrade: {dump: none}\n")
    assert keys(plan)[0] == [f"label-config/{ANCHOR}", f"update-service/{WEB} !{WEB}"]
    (step,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    assert ROLLED_BACK_WHY_LABEL not in step.config.labels


def test_the_former_image_in_the_file_again_leaves_nothing_to_do_but_to_forget() -> None:
    noted = as_noted(rolled_back(), NEXT)
    actions, holds = keys(app_plan(noted, APP))
    assert (actions, holds) == ([f"label-config/{ANCHOR}"], [])


def without_an_address(observed: Observed) -> Observed:
    """Swarm does not report the address of a proxy's node for a while."""
    return with_node(observed, "node3", address="")


@pytest.mark.parametrize("cluster", [None, MANIFEST])
def test_what_is_not_seen_for_a_while_is_no_other_wish(cluster: str | None) -> None:
    """Neither a proxy's address nor the cluster's document: the rollback stays noted, and so does
    the dump."""
    noted = without_an_address(as_noted(rolled_back(), NEXT))
    assert keys(app_plan(noted, NEXT, cluster=cluster))[0] == []
    key = job_of().name.rpartition("-")[2]
    labels = {**desired_app().state_config.labels, DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: "x"}
    dumped = with_config_labels(served(), ANCHOR, labels)
    assert keys(app_plan(without_an_address(dumped), NEXT, cluster=cluster))[0] == []
    unresolved = dataclasses.replace(dumped, images={})
    assert keys(app_plan(unresolved, NEXT))[0] == []


def test_a_file_that_moved_on_meanwhile_is_not_blamed() -> None:
    other = dataclasses.replace(
        replica(1), id="task-failed", state="failed", image="other:1@sha256:0", at=NOW
    )
    observed = with_tasks(rolled_back(), WEB, replica(1), replica(2), other)
    assert keys(app_plan(observed, NEXT))[0][0].startswith("create-service/notes_dump-")


def test_what_failed_in_an_earlier_update_tells_nothing_of_this_one() -> None:
    """Swarm keeps it in its list, and it is of an image that the file has no more."""
    old = dataclasses.replace(replica(1), id="task-old", state="failed", image="other:1@sha256:0")
    observed = with_tasks(rolled_back(), WEB, replica(1), replica(2), old)
    assert keys(app_plan(observed, NEXT))[0] == [f"label-config/{ANCHOR}"]


def test_an_image_that_was_taken_back_is_not_dumped_for() -> None:
    assert not any("dump" in key for key in keys(app_plan(as_noted(rolled_back(), NEXT), NEXT))[0])


def test_the_labels_of_a_rollback_fit_what_a_label_may_be() -> None:
    plan = app_plan(rolled_back(error="x" * 5000), NEXT)
    (step,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    assert all(len(step.config.labels[name]) <= 500 for name in NOTES)
