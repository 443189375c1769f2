"""The repository's list: the job that reads it, its guard, its lines, and what is left of it."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest

from queenright.core.actions import CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.backup.guard import backups_are_safe, is_backup_job
from queenright.core.kinds.postgres_cluster.backup.listing import (
    member_to_ask,
    read_list,
    stored_json,
)
from queenright.core.kinds.postgres_cluster.desired.base_backup import list_job
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import LiveService, Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Mount, Service
from tests.support.builders import NOW, desired, manifest, plan_for, swarm_of, three_nodes
from tests.support.changed import with_swarm

WITH = manifest(
    backup="{repository: {bucket: backups, credentials: main_backup}, retention: {count: 7}}"
)
ROW = {
    "id": "20260101T000000",
    "status": "DONE",
    "begin": "2026-01-01T00:00:00Z",
    "end": "2026-01-01T00:01:00Z",
    "timeline": 2,
    "begin_wal": "000000020000000000000003",
    "end_wal": "000000020000000000000004",
    "bytes": 42,
    "error": None,
    "obsolete": False,
}
NEWER = ROW | {"id": "20260102T000000", "obsolete": None}


def said(*rows: object, count: int | None = None) -> str:
    lines = [json.dumps(row) for row in rows]
    return "\n".join([*lines, f"listed {len(rows) if count is None else count} base backups"])


def state_of(observed: Observed, text: str = WITH) -> ClusterState:
    return ClusterState(desired(text), swarm_of(observed), observed, NOW)


def listing(observed: Observed) -> Service:
    state = state_of(observed)
    beside, plan = member_to_ask(state, {}), state.desired.base_backups
    assert isinstance(beside, Service)
    assert plan is not None
    return list_job(plan, "main", beside)


def test_the_newest_is_first_and_every_field_is_there() -> None:
    found = read_list(said(ROW, NEWER))
    assert found is not None
    assert [one.id for one in found] == ["20260102T000000", "20260101T000000"]
    assert (found[1].begin, found[1].size, found[1].retention) == (
        datetime(2026, 1, 1, tzinfo=UTC),
        42,
        "kept",
    )
    assert (found[0].retention, stored_json(found[0])["due_for_removal"]) == ("unknown", None)
    assert stored_json(found[1]) == {
        **{name: value for name, value in ROW.items() if name != "obsolete"},
        "due_for_removal": False,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        json.dumps(ROW),
        said(ROW, count=2),
        said(ROW, {"id": 1}),
        said(ROW).replace("}", ""),
        said(ROW, count=1).replace("listed", "counted"),
    ],
)
def test_a_list_that_is_not_whole_is_none(text: str) -> None:
    assert read_list(text) is None
    assert read_list(said()) == ()


def test_an_unfinished_backup_is_listed_with_what_is_known() -> None:
    begun = {"id": "20260101T000000", "status": "STARTED", "begin": None, "error": "gone"}
    found = read_list(said(begun))
    assert found is not None
    assert (found[0].begin, found[0].size, found[0].error) == (None, 0, "gone")


def test_the_job_is_beside_a_replica_and_has_no_password_of_the_database() -> None:
    observed = three_nodes(text=WITH)
    job = listing(observed)
    beside = next(s.value for s in swarm_of(observed).services if s.value.name == "main_member-2")
    assert (job.name, job.mode, job.command) == (
        "main_backup_list",
        "replicated-job",
        ("backup-list",),
    )
    assert (job.image, job.constraints) == (beside.image, beside.constraints)
    assert {file.target for file in job.secrets} == {"backup_credentials"}
    assert [m for m in job.mounts if m.kind == "volume"] == [
        Mount("/home/postgres/pgdata", source="main_member-2-data", read_only=True)
    ]
    assert job.environment == {
        "BACKUP_URL": "s3://backups/main",
        "BACKUP_REGION": "us-east-1",
        "BACKUP_COMPRESSION": "gzip",
        "BACKUP_KEEP_COUNT": "7",
    }


def test_without_a_member_that_runs_or_a_repository_there_is_none() -> None:
    observed = with_swarm(three_nodes(text=WITH), tasks=())
    found = member_to_ask(state_of(observed), {})
    assert found == "member-2 does not run; member-3 does not run; member-1 does not run"


def test_a_member_that_was_not_heard_is_left_out_with_the_cause() -> None:
    state = state_of(three_nodes(text=WITH))
    unheard = {"main_member-2": "no lines"}
    beside = member_to_ask(state, unheard)
    assert isinstance(beside, Service)
    assert beside.name == "main_member-3"
    unheard |= {"main_member-3": "none", "main_member-1": "none"}
    assert member_to_ask(state, unheard) == "member-2: no lines; member-3: none; member-1: none"


def test_the_guard_refuses_a_list_that_could_write_or_is_not_as_its_member() -> None:
    observed = three_nodes(text=WITH)
    job = listing(observed)

    def refused(**fields: object) -> bool:
        changed = dataclasses.replace(job, **fields)  # type: ignore[arg-type]
        plan = Plan("main", "digest", (CreateService(changed, reason="a test's"),))
        return backups_are_safe(plan, observed) is not None

    assert not refused()
    assert refused(mounts=tuple(dataclasses.replace(m, read_only=False) for m in job.mounts))
    assert refused(mounts=(*job.mounts, Mount("/x", source="other", read_only=True)))
    assert refused(mode="replicated")
    assert refused(constraints=())
    other = dataclasses.replace(job.secrets[0], name="another")
    assert refused(secrets=(other,))
    there = LiveService("job1", 1, job, NOW, NOW)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, there))
    assert refused()


@pytest.mark.parametrize(("minutes", "goes"), [(9, False), (11, True)])
def test_the_operator_removes_a_list_that_was_left_behind(minutes: int, *, goes: bool) -> None:
    observed = three_nodes(text=WITH)
    at = NOW - timedelta(minutes=minutes)
    left = LiveService("job1", 1, listing(observed), at, at)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, left))
    removals = [a for a in plan_for(observed, WITH).actions if isinstance(a, RemoveService)]
    assert [a.id for a in removals] == (["job1"] if goes else [])
    assert all(is_backup_job(action, observed) for action in removals)
