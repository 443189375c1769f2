"""A new image: a dump comes first, then the update."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import pytest

from queenright.core.actions import LabelConfig
from queenright.core.kinds.notes_app.desired.dump_job import NAME_VARIABLE
from queenright.core.kinds.notes_app.upgrade.dump import (
    ATTEMPT_AGAIN,
    DUMPED_FOR_LABEL,
    LAST_DUMP_LABEL,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, LiveService, Observed, Unknown
from tests.golden.messages import assert_words
from tests.support.app_builders import WEB, app_manifest, app_plan, desired_app, replica, served
from tests.support.app_upgrades import AFTER, ANCHOR, NEXT, hold, job_of, keys
from tests.support.builders import NOW, swarm_of, task
from tests.support.changed import (
    live,
    with_config_labels,
    with_live_service,
    with_service,
    with_swarm,
    with_tasks,
)

OUTPUT = "dumped name=notes-20261101T000000Z-1.0.100.dump bytes=1234567 entries=57 removed=1"


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


def test_another_image_waits_for_a_dump_which_is_begun() -> None:
    plan = app_plan(served(), NEXT)
    job = job_of()
    assert keys(plan) == ([f"create-service/{job.name}"], [f"update-service/{WEB}"])
    assert_words(plan.actions[0])
    assert_words(hold(plan, f"update-service/{WEB}"))


def test_the_job_has_the_password_in_a_file_alone_and_runs_once() -> None:
    job = job_of()
    assert (job.mode, job.restart.condition) == ("replicated-job", "none")
    assert job.health_check is not None
    assert job.health_check.test == ("NONE",), "the image's own check would end the dump"
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
    assert not hold(plan, "dump/notes").wants_attention
    assert_words(*plan.holds, *plan.actions)


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
    assert_words(noted)


def test_a_dump_whose_words_can_not_be_read_is_no_less_good() -> None:
    observed = dataclasses.replace(with_job("complete"), outputs={"id-job": Unknown("no answer")})
    plan = app_plan(observed, NEXT)
    assert keys(plan)[0] == [f"label-config/{ANCHOR}", f"update-service/{WEB} !{WEB}"]


def test_a_dump_once_noted_is_not_taken_again_though_its_job_is_gone() -> None:
    key = job_of().name.rpartition("-")[2]
    labels = {**desired_app().state_config.labels, DUMPED_FOR_LABEL: key, LAST_DUMP_LABEL: "x"}
    plan = app_plan(with_config_labels(served(), ANCHOR, labels), NEXT)
    assert keys(plan) == ([f"update-service/{WEB} !{WEB}"], [])


def test_a_dump_is_good_for_one_upgrade() -> None:
    labels = {**desired_app().state_config.labels, DUMPED_FOR_LABEL: "x", LAST_DUMP_LABEL: "told"}
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
    assert_words(plan.actions[0])


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
    assert_words(*plan.holds, *plan.actions)


def test_a_dump_that_runs_goes_on_while_it_is_not_known_what_for() -> None:
    unresolved = dataclasses.replace(with_job("running"), images={})
    assert keys(app_plan(unresolved, NEXT))[0] == []


def test_a_dump_that_runs_though_the_upgrade_was_taken_back_is_held() -> None:
    """Found by simulated history 85314858 with 12 faults: at rest, but not done."""
    plan = app_plan(with_job("running"))
    assert keys(plan) == ([], ["dump/notes"])
    assert_words(*plan.holds)


def test_a_failed_dump_holds_the_update_with_its_own_words() -> None:
    said = "pg_dump: error: connection refused\ndump failed: pg_dump ended with exit status 1"
    plan = app_plan(with_job("failed", said), NEXT)
    assert keys(plan) == ([], ["dump/notes", f"update-service/{WEB}"])
    assert_words(hold(plan, "dump/notes"), hold(plan, f"update-service/{WEB}"))
    assert hold(plan, "dump/notes").wants_attention
    assert hold(plan, "dump/notes").recheck_at == NOW + ATTEMPT_AGAIN


def test_a_failed_dump_is_attempted_again_after_a_while() -> None:
    observed = with_job("failed", ended=NOW - ATTEMPT_AGAIN)
    actions, holds = keys(app_plan(observed, NEXT))
    assert actions == [f"remove-service/{job_of().name}"]
    assert holds == [f"update-service/{WEB}"]


def test_a_dump_that_does_not_end_has_failed() -> None:
    observed = with_job("pending", made=NOW - timedelta(hours=2))
    plan = app_plan(observed, NEXT)
    assert "update-service" not in "".join(keys(plan)[0])
    assert_words(*plan.holds, *plan.actions)


@pytest.mark.parametrize("state", ["pending", "running"])
def test_a_dump_that_does_not_end_is_taken_away_and_attempted_again(state: str) -> None:
    observed = with_job(state, made=NOW - timedelta(hours=30))
    plan = app_plan(observed, NEXT)
    assert keys(plan)[0] == [f"remove-service/{job_of().name}"]
    assert first_refusal(plan, observed) is None


def test_a_clock_that_jumps_ends_no_dump() -> None:
    """By the stamp the dump is six hours old; this process has seen it for four seconds."""
    text = NEXT + "  upgrade: {dump: attempted}\n"
    observed = with_job("running", text=text, made=NOW - timedelta(hours=6))
    live = swarm_of(observed).service(job_of(text).name)
    assert live is not None
    observed = dataclasses.replace(observed, seen_s_ago={live.id: 4.0})
    assert keys(app_plan(observed, text)) == ([], ["dump/notes", f"update-service/{WEB}"])


def test_where_the_file_says_so_a_failed_dump_stops_nothing() -> None:
    text = NEXT + "  upgrade: {dump: attempted}\n"
    plan = app_plan(with_job("failed", text=text), text)
    assert keys(plan)[0] == [f"update-service/{WEB} !{WEB}"]
    assert hold(plan, "dump/notes").is_informational
    assert_words(*plan.holds, *plan.actions)


def test_where_the_file_wants_none_there_is_none() -> None:
    text = NEXT + "  upgrade: {dump: none}\n"
    assert keys(app_plan(served(), text)) == ([f"update-service/{WEB} !{WEB}"], [])


def test_a_dump_comes_first_even_where_no_replica_runs() -> None:
    down = [replica(slot, state="failed", desired_state="shutdown") for slot in (1, 2)]
    plan = app_plan(with_tasks(served(), WEB, *down), NEXT)
    assert f"update-service/{WEB}" in keys(plan)[1]
    assert keys(plan)[0][0].startswith("create-service/notes_dump-")
