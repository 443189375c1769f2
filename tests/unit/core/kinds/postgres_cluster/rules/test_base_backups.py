"""Base backups of one cluster: the job, when it is due, and what is done about its end."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from queenright.core.actions import CreateService, LabelConfig, RemoveService, Switchover
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe, with_quiet_backups
from queenright.core.kinds.postgres_cluster.backup.note import (
    NO_BACKUP,
    BackupNote,
    read_backup_note,
    with_backup_note,
)
from queenright.core.kinds.postgres_cluster.desired.base_backup import BACKUP_ROLE
from queenright.core.kinds.postgres_cluster.status.rows import cluster_status
from queenright.core.observed import (
    Archiving,
    Known,
    LiveService,
    NotAsked,
    Observed,
    Task,
    Unknown,
)
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import ROLE_LABEL, Mount, Service
from tests.golden.messages import Text, assert_words
from tests.support.builders import (
    MANIFEST,
    NOW,
    document,
    manifest,
    plan_for,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_swarm
from tests.support.plans import make_plan

REPOSITORY = "repository: {bucket: backups, credentials: main_backup}"
WITH = manifest(
    backup=f"{{{REPOSITORY}, schedule: '0 * * * *', retention: {{count: 7, days: 30}}}}"
)
FROM_LEADER = WITH.replace("schedule:", "from: leader, schedule:")
HOUR = NOW.replace(minute=0, second=0, microsecond=0)
BEGUN = HOUR - timedelta(minutes=2)
WORKING = Archiving(NOW, is_on=True)
MADE = BackupNote(
    HOUR, "20260101T000000", BEGUN, BEGUN + timedelta(minutes=1), 42, "member-3", "", 0, None, "old"
)
SAID = (
    "backed up id=20260101T000000 begin=2026-01-01T00:00:00Z end=2026-01-01T00:01:00Z "
    "begin_wal=1 end_wal=2 bytes=42"
)


def seen(note: BackupNote = NO_BACKUP, text: str = WITH) -> Observed:
    """A whole cluster with this note, whose leader archives."""
    observed = three_nodes(text=text)
    configs = []
    for live in swarm_of(observed).configs:
        labels = live.value.labels
        if live.value.name == "main_cluster":
            labels = with_backup_note(labels, note)
        value = dataclasses.replace(live.value, labels=labels)
        configs.append(dataclasses.replace(live, value=value))
    found = with_swarm(observed, configs=tuple(configs))
    return dataclasses.replace(found, archiving={"main": Known(WORKING)})


def job_of(plan: Plan) -> Service:
    (action,) = [a for a in plan.actions if isinstance(a, CreateService)]
    return action.service


def with_job(observed: Observed, state: str, said: str = "", age_s: int = 60) -> Observed:
    """The job that the plan begins, in this state of its task."""
    made = job_of(plan_for(seen(), WITH))
    at = NOW - timedelta(seconds=age_s)
    live = LiveService("job1", 1, made, at, at)
    node = swarm_of(observed).nodes[0].id
    is_alive = state in {"running", "preparing"}
    desired = "complete" if is_alive or state == "complete" else "shutdown"
    task = Task("jobtask", "job1", node, state, desired, at)
    swarm = swarm_of(observed)
    found = with_swarm(observed, services=(*swarm.services, live), tasks=(*swarm.tasks, task))
    return dataclasses.replace(found, outputs={} if is_alive else {"job1": Known(said)})


def test_without_a_schedule_nothing_is_made() -> None:
    text = manifest(backup=f"{{{REPOSITORY}}}")
    plan = plan_for(seen(text=text), text)
    assert (plan.actions, plan.holds) == ((), ())
    assert plan_for(three_nodes(), MANIFEST).actions == ()


def test_the_job_is_beside_a_replica_with_what_that_one_has_and_nothing_secret() -> None:
    job = job_of(plan_for(seen(), WITH))
    services = swarm_of(seen()).services
    beside = next(s.value for s in services if s.value.name == "main_member-2")
    assert job.name == "main_base_backup"
    assert job.mode == "replicated-job"
    assert job.labels[ROLE_LABEL] == BACKUP_ROLE
    assert job.image == beside.image
    assert job.constraints == beside.constraints
    assert [m for m in job.mounts if m.kind == "volume"] == [
        Mount("/home/postgres/pgdata", source="main_member-2-data", read_only=True)
    ]
    assert {f.target for f in job.secrets} == {"pg_superuser_pw", "backup_credentials"}
    assert {*job.secrets} <= {*beside.secrets}
    assert (job.command, job.args) == (("base-backup",), ())
    assert job.environment == {
        "BACKUP_URL": "s3://backups/main",
        "BACKUP_REGION": "us-east-1",
        "BACKUP_COMPRESSION": "gzip",
        "BACKUP_HOST": beside.environment["NODE_CONNECT"],
        "BACKUP_PORT": "5432",
        "BACKUP_DUE": HOUR.isoformat(),
        "BACKUP_MEMBER": "member-2",
        "BACKUP_KEEP_COUNT": "7",
        "BACKUP_KEEP_DAYS": "30",
    }
    assert job.health_check is not None
    assert job.health_check.test == ("NONE",)


def test_the_leader_is_copied_where_the_file_wants_it() -> None:
    job = job_of(plan_for(seen(text=FROM_LEADER), FROM_LEADER))
    assert job.environment["BACKUP_MEMBER"] == "member-1"


def test_nothing_is_due_until_the_schedules_next_moment() -> None:
    assert plan_for(seen(MADE), WITH).actions == ()
    former = dataclasses.replace(
        MADE, done=HOUR - timedelta(hours=1), begun=HOUR - timedelta(seconds=1)
    )
    assert job_of(plan_for(seen(former), WITH)).environment["BACKUP_DUE"] == HOUR.isoformat()


def test_a_note_of_the_future_keeps_nothing_from_being_made() -> None:
    ahead = dataclasses.replace(MADE, done=NOW + timedelta(days=900), begun=None)
    assert job_of(plan_for(seen(ahead), WITH))


def test_a_backup_in_progress_is_a_note_and_no_second_one_is_begun() -> None:
    plan = plan_for(with_job(seen(), "running"), WITH)
    assert plan.actions == ()
    assert plan.is_converged
    assert [hold.key for hold in plan.holds] == ["backup/main/base"]
    assert_words(*plan.holds)


def test_what_was_made_is_noted_first_and_then_the_job_is_removed() -> None:
    plan = plan_for(with_job(seen(), "complete", SAID), WITH)
    (label,) = plan.actions
    assert isinstance(label, LabelConfig)
    note = read_backup_note(label.config.labels, datetime(2027, 1, 1, tzinfo=UTC))
    assert (note.id, note.size, note.job) == ("20260101T000000", 42, "job1")
    assert note.member == "member-2"
    done = plan_for(with_job(seen(note), "complete", SAID), WITH)
    assert [type(action) for action in done.actions] == [RemoveService]


def test_a_job_whose_lines_are_lost_is_noted_after_a_while() -> None:
    for age_s, actions in ((60, 0), (300, 1)):
        lost = with_job(seen(), "complete", age_s=age_s)
        lost = dataclasses.replace(lost, outputs={"job1": Unknown("gone")})
        assert len(plan_for(lost, WITH).actions) == actions


@pytest.mark.parametrize(("failures", "minutes"), [(1, 5), (2, 10), (4, 40), (5, 60), (99, 60)])
def test_a_failure_is_a_hold_and_is_begun_again_later_each_time(
    failures: int, minutes: int
) -> None:
    for age_s, is_removed in ((minutes * 60 - 1, False), (minutes * 60, True)):
        at = NOW - timedelta(seconds=age_s)
        note = BackupNote(failures=failures, failed_at=at, job="job1")
        plan = plan_for(with_job(seen(note), "failed", "base-backup: failed: no room", age_s), WITH)
        assert bool(plan.actions) is is_removed
        if not is_removed:
            (hold,) = plan.holds
            assert hold.wants_attention
            assert hold.recheck_at == at + timedelta(minutes=minutes)
            assert "no room" in hold.reason


def test_a_failure_is_counted_once_and_told() -> None:
    plan = plan_for(with_job(seen(), "failed", "base-backup: failed: no room"), WITH)
    (label,) = plan.actions
    assert isinstance(label, LabelConfig)
    note = read_backup_note(label.config.labels, NOW)
    assert (note.failures, note.job) == (1, "job1")
    again = plan_for(with_job(seen(note), "failed", "base-backup: failed: no room"), WITH)
    assert again.actions == ()
    assert_words(*again.holds)


WAITING = dataclasses.replace(
    WORKING, waiting=2, waiting_bytes=1, waiting_since=NOW - timedelta(hours=1)
)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (Known(dataclasses.replace(WORKING, is_on=False)), "archives no WAL yet"),
        (Known(WAITING), "too much WAL waits"),
        (Unknown("no answer in 3 s"), "is not known (no answer in 3 s)"),
    ],
)
def test_none_is_begun_while_its_wal_would_not_be_archived(
    reading: Known[Archiving] | Unknown, words: str
) -> None:
    plan = plan_for(dataclasses.replace(seen(), archiving={"main": reading}), WITH)
    assert plan.actions == ()
    (hold,) = [hold for hold in plan.holds if hold.key == "backup/main/base"]
    assert words in hold.reason
    assert_words(hold)


def test_a_command_that_does_not_ask_the_leader_begins_none_and_waits_for_nothing() -> None:
    blind = dataclasses.replace(seen(), archiving={"main": NotAsked("no password here")})
    plan = plan_for(blind, WITH)
    assert plan.is_converged
    assert "backup/main/base" in [hold.key for hold in plan.holds]


def test_a_plan_that_moves_the_leader_begins_no_backup() -> None:
    observed = seen()
    plan = plan_for(observed, WITH)
    move = Switchover(
        reason="a test's",
        cluster="main",
        address="10.77.0.11",
        port=8008,
        leader="member-1",
        candidate="member-2",
        timeline=1,
    )
    both = dataclasses.replace(plan, actions=(*plan.actions, move))
    assert backups_are_safe(both, observed) is not None
    assert with_quiet_backups(both, observed).actions == (move,)


def test_the_guard_refuses_a_second_job_and_one_that_is_not_as_its_member() -> None:
    plan, observed = plan_for(seen(), WITH), seen()
    assert backups_are_safe(plan, observed) is None
    assert backups_are_safe(plan, with_job(seen(), "running")) is not None
    (action,) = plan.actions
    assert isinstance(action, CreateService)
    mounts = tuple(dataclasses.replace(m, read_only=False) for m in action.service.mounts)
    for fields in ({"mounts": mounts}, {"constraints": ("node.hostname==node9",)}):
        job = dataclasses.replace(action.service, **fields)  # type: ignore[arg-type]
        other = dataclasses.replace(plan, actions=(dataclasses.replace(action, service=job),))
        assert backups_are_safe(other, observed) is not None
    twice = dataclasses.replace(plan, actions=(action, action))
    assert backups_are_safe(twice, observed) is not None
    assert backups_are_safe(plan, dataclasses.replace(observed, members={})) is not None


def test_the_status_tells_the_last_one_and_the_next() -> None:
    lines = []
    for note in (NO_BACKUP, MADE, dataclasses.replace(MADE, begun=None)):
        observed = seen(note)
        made = make_plan(document(WITH), observed, NOW)
        found = cluster_status("main", made.desired, made.plan, observed, NOW)
        lines += [line.text for line in found.lines if "base backup" in line.text]
    assert len(lines) >= 3
    assert any("20260101T000000 of member-3" in text for text in lines)
    assert_words(*(Text(f"status base backup {n}", text) for n, text in enumerate(lines)))
