"""A request for a base backup: when it counts, what the plan makes of it, what the status shows."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

import pytest

from queenright.core.actions import CreateService, LabelConfig
from queenright.core.kinds.postgres_cluster.backup.note import (
    NO_BACKUP,
    BackupNote,
    with_backup_note,
)
from queenright.core.kinds.postgres_cluster.backup.request import (
    REQUEST_LABEL,
    read_backup_request,
    with_backup_request,
)
from queenright.core.kinds.postgres_cluster.status.rows import cluster_status
from queenright.core.observed import Archiving, Known, Observed, Unknown
from queenright.core.planning.plan import Plan
from tests.golden.messages import Text, assert_words
from tests.support.builders import NOW, document, manifest, plan_for, swarm_of, three_nodes
from tests.support.changed import with_swarm
from tests.support.plans import make_plan

REPOSITORY = "repository: {bucket: backups, credentials: main_backup}"
UNSCHEDULED = manifest(backup=f"{{{REPOSITORY}}}")
HOURLY = manifest(backup=f"{{{REPOSITORY}, schedule: '30 * * * *'}}")
LAST = NOW - timedelta(minutes=30)
"""The schedule's last moment."""
MADE = BackupNote(LAST, "20260101T113000", LAST, LAST + timedelta(minutes=1), 42, "member-3")
ASKED = NOW - timedelta(seconds=5)


def seen(text: str, note: BackupNote = NO_BACKUP, asked: datetime | None = ASKED) -> Observed:
    """A whole cluster with this note and request, whose leader archives."""
    observed = three_nodes(text=text)
    configs = []
    for live in swarm_of(observed).configs:
        labels = live.value.labels
        if live.value.name == "main_cluster":
            labels = with_backup_request(with_backup_note(labels, note), asked)
        value = dataclasses.replace(live.value, labels=labels)
        configs.append(dataclasses.replace(live, value=value))
    found = with_swarm(observed, configs=tuple(configs))
    return dataclasses.replace(found, archiving={"main": Known(Archiving(NOW, is_on=True))})


def begun(plan: Plan) -> list[str]:
    """The moments that the plan's jobs answer."""
    found = [a.service for a in plan.actions if isinstance(a, CreateService)]
    return [service.environment["BACKUP_DUE"] for service in found]


@pytest.mark.parametrize(
    ("asked", "is_read"),
    [
        (NOW, True),
        (NOW + timedelta(seconds=9), True),
        (NOW + timedelta(minutes=1), False),
        (NOW - timedelta(hours=23), True),
        (NOW - timedelta(hours=24), False),
    ],
)
def test_a_request_of_the_future_or_of_yesterday_counts_as_absent(
    asked: datetime, *, is_read: bool
) -> None:
    labels = with_backup_request({"kept": "1"}, asked)
    assert read_backup_request(labels, NOW) == (asked if is_read else None)
    assert with_backup_request(labels, None) == {"kept": "1"}


@pytest.mark.parametrize("text", ["", "now", "2026-01-01T00:00:00", "[]", "9" * 5000])
def test_a_request_that_can_not_be_read_counts_as_absent(text: str) -> None:
    assert read_backup_request({REQUEST_LABEL: text}, NOW) is None


@pytest.mark.parametrize("text", [UNSCHEDULED, HOURLY], ids=["unscheduled", "scheduled"])
@pytest.mark.parametrize("note", [NO_BACKUP, MADE], ids=["first", "further"])
def test_a_backup_is_begun_for_it_and_the_job_has_its_moment(text: str, note: BackupNote) -> None:
    plan = plan_for(seen(text, note), text)
    assert begun(plan) == [ASKED.isoformat()]
    (action,) = plan.actions
    assert_words(action)


def test_without_one_nothing_is_begun_where_nothing_is_due() -> None:
    assert plan_for(seen(UNSCHEDULED, asked=None), UNSCHEDULED).actions == ()
    assert plan_for(seen(HOURLY, MADE, asked=None), HOURLY).actions == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (UNSCHEDULED, dataclasses.replace(MADE, done=ASKED)),
        (UNSCHEDULED, dataclasses.replace(MADE, begun=NOW)),
        (manifest(), NO_BACKUP),
    ],
    ids=["made", "begun since", "no backup"],
)
def test_one_that_is_answered_or_has_no_place_is_removed(text: str, note: BackupNote) -> None:
    plan = plan_for(seen(text, note), text)
    (label,) = plan.actions
    assert isinstance(label, LabelConfig)
    assert REQUEST_LABEL not in label.config.labels


def test_one_since_a_failure_is_tried_at_once_and_a_former_one_waits() -> None:
    for failed_at, is_begun in ((ASKED - timedelta(seconds=1), True), (ASKED, False)):
        note = dataclasses.replace(MADE, failures=3, failed_at=failed_at, job="gone")
        plan = plan_for(seen(UNSCHEDULED, note), UNSCHEDULED)
        assert bool(begun(plan)) is is_begun
        if not is_begun:
            (hold,) = plan.holds
            assert hold.recheck_at == ASKED + timedelta(minutes=20)


@pytest.mark.parametrize(("age", "is_begun"), [(9, False), (11, True)])
@pytest.mark.parametrize("text", [UNSCHEDULED, HOURLY], ids=["unscheduled", "scheduled"])
def test_a_replica_is_waited_for_for_ten_minutes_after_it(
    age: int, text: str, *, is_begun: bool
) -> None:
    asked = NOW - timedelta(minutes=age)
    observed = seen(text, MADE, asked)
    dark = {
        name: reading if name == "main_member-1" else Unknown("no answer")
        for name, reading in observed.members.items()
    }
    plan = plan_for(dataclasses.replace(observed, members=dark), text)
    if is_begun:
        assert len(begun(plan)) == 1
    else:
        assert begun(plan) == []
        assert "backup/main/base" in [hold.key for hold in plan.holds]


def test_the_status_shows_it_and_that_nothing_is_scheduled() -> None:
    lines = []
    for asked in (None, ASKED):
        observed = seen(UNSCHEDULED, MADE, asked)
        made = make_plan(document(UNSCHEDULED), observed, NOW)
        found = cluster_status("main", made.desired, made.plan, observed, NOW)
        lines += [line.text for line in found.lines if "20260101T113000" in line.text]
    assert len(lines) == 2
    assert "none is scheduled" in lines[0]
    assert_words(*(Text(f"status requested backup {n}", text) for n, text in enumerate(lines)))
