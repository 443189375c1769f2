"""Another image: a dump first, then the update; and what swarm took back stays as it is."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import pytest

from queenright.core.actions import CreateService, LabelConfig
from queenright.core.app.dump_job import NAME_VARIABLE
from queenright.core.app.rollbacks import NOTES, ROLLED_BACK_WHY_LABEL
from queenright.core.app.upgrades import ATTEMPT_AGAIN, DUMPED_FOR_LABEL, LAST_DUMP_LABEL
from queenright.core.guards import first_refusal
from queenright.core.observed import Known, LiveService, Observed, Unknown
from queenright.core.plan import Hold, Plan
from queenright.core.resources import Service
from queenright.core.situation import SETTLES, UPDATE_LIMIT
from tests.app_builders import (
    APP,
    APP_DIGESTS,
    APP_IMAGE,
    NEXT_IMAGE,
    WEB,
    app_manifest,
    app_plan,
    desired_app,
    replica,
    served,
)
from tests.builders import (
    MANIFEST,
    NOW,
    live,
    summary,
    swarm_of,
    task,
    with_config_labels,
    with_live_service,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
)

NEXT = APP.replace(APP_IMAGE, NEXT_IMAGE)
BEFORE = f"{APP_IMAGE}@{APP_DIGESTS[APP_IMAGE]}"
AFTER = f"{NEXT_IMAGE}@{APP_DIGESTS[NEXT_IMAGE]}"
ANCHOR = "notes_application"
NAGS = "key/notes"
OUTPUT = "dumped name=notes-20261101T000000Z-1.0.100.dump bytes=1234567 entries=57 removed=1"


def told(plan: Plan, key: str) -> str:
    return next(found.reason for found in plan.holds if found.key == key)


def waits(plan: Plan, key: str) -> Hold:
    return next(found for found in plan.holds if found.key == key)


def keys(plan: Plan) -> tuple[list[str], list[str]]:
    actions, holds = summary(plan)
    return actions, [key for key in holds if key != NAGS]


def job_of(text: str = NEXT) -> Service:
    (made,) = (step for step in app_plan(served(), text).actions if isinstance(step, CreateService))
    return made.service


def with_job(
    state: str, output: str = "", text: str = NEXT, made: datetime = NOW, ended: datetime = NOW
) -> Observed:
    """The dump's job in the swarm, its one task in this state."""
    job, observed = job_of(text), served()
    found = LiveService("id-job", 300, job, made, made)
    desired = "shutdown" if state == "failed" else "complete"  # as swarm has it for a job's task
    one = task("job", "node4", 1, state=state, at=ended, desired_state=desired)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, found))
    observed = with_tasks(observed, "job", one)
    return dataclasses.replace(observed, outputs={"id-job": Known(output)} if output else {})


# -- the dump


def test_another_image_waits_for_a_dump_which_is_begun() -> None:
    plan = app_plan(served(), NEXT)
    job = job_of()
    assert keys(plan) == ([f"create-service/{job.name}"], [f"update-service/{WEB}"])
    assert "1.0.100 to 1.0.101" in plan.actions[0].reason
    assert "volume notes_dumps on node4" in plan.actions[0].reason
    assert "a dump of the database comes first" in told(plan, f"update-service/{WEB}")


def test_the_job_has_the_password_in_a_file_alone_and_runs_once() -> None:
    job = job_of()
    assert (job.mode, job.restart.condition) == ("replicated-job", "none")
    assert job.environment[NAME_VARIABLE] == f"notes-{NOW:%Y%m%dT%H%M%SZ}-1.0.100.dump"
    assert [(file.name, file.target) for file in job.secrets] == [
        (desired_app().url_secret.name, "app_database_url")
    ]
    assert job.constraints == ("node.hostname==node4",)
    assert (job.read_only, job.capabilities_dropped) == (True, ("ALL",))


def test_a_change_of_another_field_needs_no_dump() -> None:
    plan = app_plan(served(), app_manifest(maxAttachment="512M"))
    assert keys(plan) == ([f"update-service/{WEB} !{WEB}"], [])


@pytest.mark.parametrize("state", ["pending", "preparing", "running"])
def test_while_the_dump_is_taken_nothing_is_done(state: str) -> None:
    plan = app_plan(with_job(state), NEXT)
    assert keys(plan) == ([], ["dump/notes", f"update-service/{WEB}"])
    assert not waits(plan, "dump/notes").wants_attention


@pytest.mark.parametrize("mode", ["required", "attempted"])
def test_a_dump_that_runs_for_long_has_not_failed(mode: str) -> None:
    text = NEXT + f"  upgrade: {{dump: {mode}}}\n"
    long_ago = NOW - ATTEMPT_AGAIN - timedelta(minutes=5)
    observed = with_job("running", text=text, made=long_ago, ended=long_ago)
    assert keys(app_plan(observed, text)) == ([], ["dump/notes", f"update-service/{WEB}"])


def test_a_good_dump_is_noted_with_name_and_size_and_the_update_follows() -> None:
    plan = app_plan(with_job("complete", OUTPUT), NEXT)
    assert keys(plan) == ([f"label-config/{ANCHOR}", f"update-service/{WEB} !{WEB}"], [])
    (noted,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    assert noted.config.labels[LAST_DUMP_LABEL] == (
        "notes-20261101T000000Z-1.0.100.dump (1205K, 57 entries read back) in volume notes_dumps "
        "on node4, 1 older removed, before 1.0.101"
    )
    assert "dumped: notes-2026" in noted.reason


def test_a_dump_whose_words_can_not_be_read_is_no_less_good() -> None:
    observed = dataclasses.replace(with_job("complete"), outputs={"id-job": Unknown("no answer")})
    plan = app_plan(observed, NEXT)
    assert keys(plan)[0] == [f"label-config/{ANCHOR}", f"update-service/{WEB} !{WEB}"]


def test_a_dump_once_noted_is_not_taken_again_though_its_job_is_gone() -> None:
    key = job_of().name.rpartition("-")[2]
    labels = {**desired_app().anchor.labels, DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: "x"}
    plan = app_plan(with_config_labels(served(), ANCHOR, labels), NEXT)
    assert keys(plan) == ([f"update-service/{WEB} !{WEB}"], [])


def test_a_dump_is_good_for_one_upgrade() -> None:
    labels = {**desired_app().anchor.labels, DUMPED_FOR_LABEL: "x", LAST_DUMP_LABEL: "told"}
    plan = app_plan(with_config_labels(served(), ANCHOR, labels))
    assert keys(plan) == ([f"label-config/{ANCHOR}"], [])
    (step,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    assert DUMPED_FOR_LABEL not in step.config.labels
    assert step.config.labels[LAST_DUMP_LABEL] == "told"


def test_a_job_that_has_served_is_removed_and_its_dumps_stay() -> None:
    observed = with_service(with_job("complete", OUTPUT), WEB, image=AFTER)
    value = dataclasses.replace(
        live(observed, WEB).value,
        labels={**live(observed, WEB).value.labels, "queenright.image": AFTER},
    )
    observed = with_live_service(observed, WEB, value=value)
    plan = app_plan(observed, NEXT)
    assert keys(plan) == ([f"remove-service/{job_of().name}"], [])
    assert "the dumps in volume notes_dumps on node4 stay" in plan.actions[0].reason


ELSEWHERE = NEXT + "  upgrade: {dump: {path: /srv/dumps}}\n"


@pytest.mark.parametrize("state", ["pending", "running", "failed", "complete"])
def test_there_is_one_dump_at_a_time(state: str) -> None:
    """The file asks for another one: the former job goes, whatever it is at, and then a new one is
    made."""
    observed = with_job(state)
    plan = app_plan(observed, ELSEWHERE)
    assert keys(plan) == ([f"remove-service/{job_of().name}"], [f"update-service/{WEB}"])
    assert first_refusal(plan, observed) is None
    (made,) = keys(app_plan(served(), ELSEWHERE))[0]
    assert made == f"create-service/{job_of(ELSEWHERE).name}" != f"create-service/{job_of().name}"


def test_a_dump_that_runs_goes_on_while_it_is_not_known_what_for() -> None:
    unresolved = dataclasses.replace(with_job("running"), images={})
    assert keys(app_plan(unresolved, NEXT))[0] == []


def test_a_failed_dump_holds_the_update_with_its_own_words() -> None:
    said = "pg_dump: error: connection refused\ndump failed: pg_dump ended with exit status 1"
    plan = app_plan(with_job("failed", said), NEXT)
    assert keys(plan) == ([], ["dump/notes", f"update-service/{WEB}"])
    assert "pg_dump ended with exit status 1" in told(plan, "dump/notes")
    assert "`upgrade: {dump: attempted}` goes on without" in told(plan, f"update-service/{WEB}")
    assert waits(plan, "dump/notes").wants_attention
    assert waits(plan, "dump/notes").recheck_at == NOW + ATTEMPT_AGAIN


def test_a_failed_dump_is_attempted_again_after_a_while() -> None:
    observed = with_job("failed", ended=NOW - ATTEMPT_AGAIN)
    actions, holds = keys(app_plan(observed, NEXT))
    assert actions == [f"remove-service/{job_of().name}"]
    assert holds == [f"update-service/{WEB}"]


def test_a_dump_that_does_not_end_has_failed() -> None:
    observed = with_job("pending", made=NOW - timedelta(hours=2))
    plan = app_plan(observed, NEXT)
    assert "update-service" not in "".join(keys(plan)[0])


@pytest.mark.parametrize("state", ["pending", "running"])
def test_a_dump_that_does_not_end_is_taken_away_and_attempted_again(state: str) -> None:
    observed = with_job(state, made=NOW - timedelta(hours=30))
    plan = app_plan(observed, NEXT)
    assert keys(plan)[0] == [f"remove-service/{job_of().name}"]
    assert first_refusal(plan, observed) is None


def test_where_the_file_says_so_a_failed_dump_stops_nothing() -> None:
    text = NEXT + "  upgrade: {dump: attempted}\n"
    plan = app_plan(with_job("failed", text=text), text)
    assert keys(plan)[0] == [f"update-service/{WEB} !{WEB}"]
    assert waits(plan, "dump/notes").is_news


def test_where_the_file_wants_none_there_is_none() -> None:
    text = NEXT + "  upgrade: {dump: none}\n"
    assert keys(app_plan(served(), text)) == ([f"update-service/{WEB} !{WEB}"], [])


def test_a_dump_comes_first_even_where_no_replica_runs() -> None:
    down = [replica(slot, state="failed", desired_state="shutdown") for slot in (1, 2)]
    plan = app_plan(with_tasks(served(), WEB, *down), NEXT)
    assert f"update-service/{WEB}" in keys(plan)[1]
    assert keys(plan)[0][0].startswith("create-service/notes_dump-")


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
    assert "swarm is carrying out an update" in told(plan, f"update-service/{WEB}")


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
    """What is observed once the plan's notes are written."""
    plan = app_plan(observed, text)
    (step,) = (step for step in plan.actions if isinstance(step, LabelConfig))
    return with_config_labels(observed, ANCHOR, step.config.labels)


@pytest.mark.parametrize("state", ["rollback_started", "rollback_completed", "rollback_paused"])
def test_what_swarm_takes_back_is_noted_with_its_story_and_not_tried_again(state: str) -> None:
    plan = app_plan(rolled_back(state), NEXT)
    assert keys(plan)[0] == [f"label-config/{ANCHOR}"]
    assert f"update-service/{WEB}" in keys(plan)[1]
    story = f"swarm took back {AFTER}, since a replica of it failed (unhealthy container)"
    assert story in plan.actions[0].reason
    assert story in told(plan, f"update-service/{WEB}")
    assert "not tried again until the file changes" in told(plan, f"update-service/{WEB}")


def test_swarm_is_not_made_to_forget_what_is_not_noted_yet() -> None:
    """Any write on the service would; what the image is can not be told now."""
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
    assert "unhealthy container" in told(plan, f"update-service/{WEB}")


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
    assert f"image {NEXT_IMAGE}: no answer" in told(plan, f"update-service/{WEB}")


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
    """Swarm does not tell the address of a proxy's node for a while."""
    return with_node(observed, "node3", address="")


@pytest.mark.parametrize("cluster", [None, MANIFEST])
def test_what_is_not_seen_for_a_while_is_no_other_wish(cluster: str | None) -> None:
    """Neither a proxy's address nor the cluster's document: the rollback stays noted, and so does
    the dump."""
    noted = without_an_address(as_noted(rolled_back(), NEXT))
    assert keys(app_plan(noted, NEXT, cluster=cluster))[0] == []
    key = job_of().name.rpartition("-")[2]
    labels = {**desired_app().anchor.labels, DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: "x"}
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
