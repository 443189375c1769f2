"""Drills of one cluster: the job, when it is due, and what is done about its end."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import CreateService, LabelConfig, RemoveService
from queenright.core.kinds.postgres_cluster.backup.note import NO_BACKUP, BackupNote
from queenright.core.kinds.postgres_cluster.backup.request import with_backup_request
from queenright.core.kinds.postgres_cluster.desired.drill import DRILL_ROLE
from queenright.core.kinds.postgres_cluster.drill.note import (
    NO_DRILL,
    REQUEST_LABEL,
    DrillNote,
    read_drill_note,
    with_drill_note,
)
from queenright.core.kinds.postgres_cluster.status.rows import cluster_status
from queenright.core.observed import Archiving, Known, LiveService, NotAsked, Observed, Task
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.objects import ROLE_LABEL, Service
from tests.golden.messages import Text, assert_words
from tests.support.builders import NOW, document, manifest, plan_for, swarm_of
from tests.support.changed import with_swarm
from tests.support.plans import make_plan
from tests.unit.core.kinds.postgres_cluster.rules import test_base_backups as base

WEEKLY = manifest(
    backup=f"{{{base.REPOSITORY}, schedule: '0 * * * *', drill: {{node: node3, schedule: weekly}}}}"
)
UNSCHEDULED = WEEKLY.replace(", schedule: weekly", "")
WAL = "000000010000000000000007"
WORKING = Archiving(NOW, is_on=True, last_wal=WAL, system="7000000000000000001")
MADE = dataclasses.replace(base.MADE, id="20260101T000000")
PROVED = DrillNote(
    done=NOW - timedelta(hours=1), at=NOW - timedelta(hours=1), backup="20260101T000000",
    node="node3", size=15 << 30, took_s=380, reached=NOW - timedelta(hours=1, seconds=3),
    job="old",
)  # fmt: skip
FAILED = dataclasses.replace(
    PROVED, failures=1, failed_at=NOW - timedelta(minutes=10), tried=NOW, why="no such file",
    job="job1",
)  # fmt: skip
SAID = (
    "backup-drill: restores base backup 20260101T000000\n"
    "proved backup=20260101T000000 seconds=380 bytes=16106127360 databases=3 "
    "reached=2026-01-01T00:00:00.250000Z canary=None"
)


def seen(
    note: DrillNote = NO_DRILL, made: BackupNote = MADE, *, asked: bool = False, text: str = WEEKLY
) -> Observed:
    """A whole cluster with these notes, whose leader archives."""
    observed = base.seen(made, text)
    configs = []
    for live in swarm_of(observed).configs:
        labels = live.value.labels
        if live.value.name == "main_cluster":
            labels = with_drill_note(labels, note)
            labels = with_backup_request(labels, NOW if asked else None, REQUEST_LABEL)
        value = dataclasses.replace(live.value, labels=labels)
        configs.append(dataclasses.replace(live, value=value))
    found = with_swarm(observed, configs=tuple(configs))
    return dataclasses.replace(found, archiving={"main": Known(WORKING)})


def job_of(plan: Plan) -> Service:
    (action,) = [a for a in plan.actions if isinstance(a, CreateService)]
    return action.service


def with_job(observed: Observed, state: str, said: str | None = "", age_s: int = 60) -> Observed:
    """The job that the plan begins, in this state of its task."""
    made = job_of(plan_for(seen(), WEEKLY))
    at = NOW - timedelta(seconds=age_s)
    live = LiveService("job1", 1, made, at, at)
    node = next(node.id for node in swarm_of(observed).nodes if node.name == "node3")
    is_alive = state in {"running", "pending"}
    desired = "complete" if is_alive or state == "complete" else "shutdown"
    task = Task("jobtask", "job1", node, state, desired, at)
    swarm = swarm_of(observed)
    found = with_swarm(observed, services=(*swarm.services, live), tasks=(*swarm.tasks, task))
    is_read = not is_alive and said is not None
    return dataclasses.replace(found, outputs={"job1": Known(said or "")} if is_read else {})


def drill_holds(plan: Plan) -> list[Hold]:
    return [hold for hold in plan.holds if hold.key.startswith("backup/main/drill")]


def test_the_job_touches_no_member_and_has_no_password() -> None:
    plan = plan_for(seen(), WEEKLY)
    job, services = job_of(plan), swarm_of(seen()).services
    leader = next(s.value for s in services if s.value.name == "main_member-1")
    assert (job.name, job.mode, job.labels[ROLE_LABEL]) == (
        "main_backup_drill", "replicated-job", DRILL_ROLE,
    )  # fmt: skip
    assert job.image == leader.image
    assert job.constraints == ("node.hostname==node3",)
    assert job.networks == job.ports == job.configs == job.hosts == ()
    assert [(m.kind, m.target) for m in job.mounts] == [("tmpfs", "/tmp")]
    assert not job.read_only, "its data are in the container itself"
    assert {f.target for f in job.secrets} == {"backup_credentials"}
    assert (job.command, job.args) == (("backup-drill",), ())
    assert job.resources.memory_limit_bytes == 1 << 30
    assert job.environment == {
        "BACKUP_URL": "s3://backups/main",
        "BACKUP_REGION": "us-east-1",
        "BACKUP_COMPRESSION": "gzip",
        "BACKUP_SYSTEM": "7000000000000000001",
        "DRILL_BACKUP": "20260101T000000",
        "DRILL_WAL": WAL,
        "DRILL_AT": NOW.isoformat(),
        "DRILL_DUE": job.environment["DRILL_DUE"],
        "DRILL_NODE": "node3",
    }
    assert job.health_check is not None
    assert job.health_check.test == ("NONE",)
    assert_words(*plan.actions)


def test_without_the_field_or_a_schedule_nothing_is_done() -> None:
    assert plan_for(seen(text=base.WITH), base.WITH).actions == ()
    assert plan_for(seen(text=UNSCHEDULED), UNSCHEDULED).actions == ()
    assert job_of(plan_for(seen(text=UNSCHEDULED, asked=True), UNSCHEDULED))


def test_nothing_is_due_after_a_proven_restore_until_somebody_asks() -> None:
    assert plan_for(seen(PROVED), WEEKLY).actions == ()
    job = job_of(plan_for(seen(PROVED, asked=True), WEEKLY))
    assert job.environment["DRILL_DUE"] == NOW.isoformat()
    last_week = dataclasses.replace(
        PROVED, done=NOW - timedelta(days=8), at=NOW - timedelta(days=8)
    )
    assert job_of(plan_for(seen(last_week), WEEKLY))


def test_the_canarys_database_is_looked_at_where_it_is_on() -> None:
    text = WEEKLY + "  canary: {enabled: true}\n"
    job = job_of(plan_for(seen(text=text), text))
    assert job.environment["DRILL_CANARY"] == "queenright_canary"


def test_a_drill_waits_for_a_base_backup_and_for_what_is_unknown() -> None:
    blind = dataclasses.replace(seen(), archiving={"main": NotAsked("no password here")})
    plan = plan_for(blind, WEEKLY)
    assert plan.is_converged
    assert [hold.key for hold in drill_holds(plan)] == ["backup/main/drill"]
    due = plan_for(seen(made=NO_BACKUP), WEEKLY)
    assert job_of(due).name == "main_base_backup"
    assert "a base backup is due" in drill_holds(due)[0].reason
    with_base = base.with_job(base.seen(MADE), "running")
    observed = with_swarm(
        seen(), services=swarm_of(with_base).services, tasks=swarm_of(with_base).tasks
    )
    plan = plan_for(observed, WEEKLY)
    assert plan.actions == ()
    assert "the job of a base backup is there" in drill_holds(plan)[0].reason
    assert_words(*drill_holds(plan))


def test_no_base_backup_is_begun_beside_a_drill() -> None:
    late = dataclasses.replace(MADE, done=NOW - timedelta(hours=3), begun=None)
    plan = plan_for(with_job(seen(made=late), "running"), WEEKLY)
    assert plan.actions == ()
    assert "a backup drill is in progress" in " ".join(hold.reason for hold in plan.holds)


@pytest.mark.parametrize(
    "fields", [{"state": "down"}, {"availability": "drain"}, None], ids=["down", "drained", "gone"]
)
def test_a_node_that_starts_nothing_is_told(fields: dict[str, str] | None) -> None:
    observed = seen()
    nodes = [node for node in swarm_of(observed).nodes if node.name != "node3"]
    text = WEEKLY
    if fields is None:
        text = WEEKLY.replace("drill: {node: node3", "drill: {node: node9")
    else:
        lost = next(node for node in swarm_of(observed).nodes if node.name == "node3")
        nodes.append(dataclasses.replace(lost, **fields))  # type: ignore[arg-type]
        observed = with_swarm(observed, nodes=tuple(nodes))
    plan = plan_for(observed, text)
    assert not any(isinstance(action, CreateService) for action in plan.actions)
    (hold,) = drill_holds(plan)
    assert hold.wants_attention
    assert_words(hold)


def test_a_drill_in_progress_is_a_note_and_told_when_its_node_is_down() -> None:
    plan = plan_for(with_job(seen(), "running"), WEEKLY)
    assert (plan.actions, plan.is_converged) == ((), True)
    (hold,) = drill_holds(plan)
    assert not hold.wants_attention
    observed = with_job(seen(), "running")
    nodes = [
        dataclasses.replace(node, state="down") if node.name == "node3" else node
        for node in swarm_of(observed).nodes
    ]
    (lost,) = drill_holds(plan_for(with_swarm(observed, nodes=tuple(nodes)), WEEKLY))
    assert lost.wants_attention
    assert_words(hold, lost)


def test_what_was_proven_is_noted_first_and_then_the_job_is_removed() -> None:
    first = dataclasses.replace(FAILED, job="old")
    (label,) = plan_for(with_job(seen(first), "complete", SAID), WEEKLY).actions
    assert isinstance(label, LabelConfig)
    note = read_drill_note(label.config.labels, NOW)
    assert (note.backup, note.size, note.took_s) == ("20260101T000000", 15 << 30, 380)
    assert (note.node, note.job, note.failures, note.why) == ("node3", "job1", 0, "")
    done = plan_for(with_job(seen(note), "complete", SAID), WEEKLY)
    assert [type(action) for action in done.actions] == [RemoveService]
    assert_words(*done.actions)


def test_a_failure_is_noted_with_its_cause_and_the_job_and_its_data_go() -> None:
    observed = with_job(seen(PROVED), "failed", "backup-drill: failed: Missing file data.tar")
    (label,) = plan_for(observed, WEEKLY).actions
    assert isinstance(label, LabelConfig)
    note = read_drill_note(label.config.labels, NOW)
    assert (note.failures, note.why, note.job) == (1, "Missing file data.tar", "job1")
    assert (note.backup, note.at) == (PROVED.backup, PROVED.at)
    plan = plan_for(with_job(seen(note), "failed", "…"), WEEKLY)
    (removed,) = plan.actions
    assert isinstance(removed, RemoveService)
    (hold,) = drill_holds(plan)
    assert hold.wants_attention
    assert_words(removed, hold)


def test_the_lines_of_a_failed_job_are_waited_for() -> None:
    for age_s, actions in ((60, 0), (300, 1)):
        observed = with_job(seen(), "failed", None, age_s)
        assert len(plan_for(observed, WEEKLY).actions) == actions
    (label,) = plan_for(with_job(seen(), "complete", "", 300), WEEKLY).actions
    assert isinstance(label, LabelConfig)
    assert read_drill_note(label.config.labels, NOW).failures == 1


@pytest.mark.parametrize(("failures", "hours"), [(1, 1), (2, 2), (5, 16), (6, 24), (99, 24)])
def test_a_failed_drill_is_begun_again_later_each_time_or_when_somebody_asks(
    failures: int, hours: int
) -> None:
    due = dataclasses.replace(PROVED, done=NOW - timedelta(days=9), at=None, failures=failures)
    for age, is_begun in ((timedelta(hours=hours, seconds=-1), False), (timedelta(hours=hours), 1)):
        note = dataclasses.replace(due, failed_at=NOW - age, tried=NOW - timedelta(days=8))
        assert bool(plan_for(seen(note), WEEKLY).actions) is bool(is_begun)
        assert plan_for(seen(note, asked=True), WEEKLY).actions


def test_a_job_that_can_not_begin_is_given_up_after_an_hour() -> None:
    for age_s, actions in ((3500, 0), (3700, 1)):
        assert len(plan_for(with_job(seen(), "pending", age_s=age_s), WEEKLY).actions) == actions


def test_a_job_goes_when_the_file_asks_for_no_drills_any_more() -> None:
    plan = plan_for(with_job(seen(), "running"), base.WITH)
    assert [type(action) for action in plan.actions] == [RemoveService]
    assert drill_holds(plan) == []


def test_a_note_of_the_future_or_of_another_form_counts_as_absent() -> None:
    ahead = dataclasses.replace(PROVED, done=NOW + timedelta(days=900), at=None)
    assert read_drill_note(with_drill_note({}, ahead), NOW).newest is None
    for text in ("", "[]", "{}", '{"backup": 1}'):
        assert read_drill_note({"queenright.last-drill": text}, NOW) == NO_DRILL


def test_the_status_tells_the_last_proven_restore_and_the_next() -> None:
    idle = dataclasses.replace(PROVED, reached=None, size=300, took_s=1)
    old = dataclasses.replace(PROVED, at=NOW - timedelta(days=2, hours=5), size=14 << 30)
    lines = []
    for note in (NO_DRILL, PROVED, idle, old):
        observed = seen(note)
        made = make_plan(document(WEEKLY), observed, NOW)
        found = cluster_status("main", made.desired, made.plan, observed, NOW)
        lines += [line.text for line in found.lines if "restore" in line.text]
    assert len(lines) >= 4
    assert_words(*(Text(f"status drill {n}", text) for n, text in enumerate(lines)))
