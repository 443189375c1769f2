"""Guard of drills: one at a time, and jobs that touch no member."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from queenright.core.actions import CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.drill.guard import drills_touch_nothing, is_drill_job
from queenright.core.swarm.objects import Attachment, Mount, Port
from tests.support.builders import NOW, plan_for, swarm_of
from tests.unit.core.kinds.postgres_cluster.rules import test_base_backups as base
from tests.unit.core.kinds.postgres_cluster.rules.test_drills import (
    MADE,
    PROVED,
    WEEKLY,
    job_of,
    seen,
    with_job,
)


def test_the_guard_refuses_a_job_that_could_touch_a_member() -> None:
    plan, observed = plan_for(seen(), WEEKLY), seen()
    (action,) = [a for a in plan.actions if isinstance(a, CreateService)]
    assert drills_touch_nothing(plan, observed) is None
    assert drills_touch_nothing(plan, with_job(observed, "running")) is not None
    leader = next(s.value for s in swarm_of(observed).services if s.value.name == "main_member-1")
    for fields in (
        {"mounts": (Mount("/home/postgres/pgdata", source="main_member-1-data"),)},
        {"mounts": (Mount("/home/postgres/pgdata"),)},
        {"mounts": (Mount("/data", kind="bind", source="/"),)},
        {"networks": (Attachment("main_db"),)},
        {"ports": (Port(5432, 5432),)},
        {"secrets": leader.secrets},
        {"mode": "replicated"},
        {"capabilities_added": ("SYS_ADMIN",)},
    ):
        job = dataclasses.replace(action.service, **fields)  # type: ignore[arg-type]
        other = dataclasses.replace(plan, actions=(dataclasses.replace(action, service=job),))
        assert drills_touch_nothing(other, observed) is not None, fields
    twice = dataclasses.replace(plan, actions=(action, action))
    assert drills_touch_nothing(twice, observed) is not None


def test_the_guard_refuses_a_base_backup_beside_a_drill() -> None:
    late = dataclasses.replace(MADE, done=NOW - timedelta(hours=3), begun=None)
    begun = plan_for(base.seen(late), base.WITH)
    assert job_of(begun).name == "main_base_backup"
    assert drills_touch_nothing(begun, base.seen(late)) is None
    assert drills_touch_nothing(begun, with_job(seen(made=late), "running")) is not None
    drill = plan_for(seen(), WEEKLY)
    both = dataclasses.replace(begun, actions=(*begun.actions, *drill.actions))
    assert drills_touch_nothing(both, seen(made=late)) is not None


def test_only_the_job_itself_may_be_removed() -> None:
    observed = with_job(seen(PROVED), "failed")
    removed = RemoveService("job1", "main_backup_drill", reason="a test's")
    assert is_drill_job(removed, observed)
    member = next(s for s in swarm_of(observed).services if s.value.name == "main_member-1")
    other = RemoveService(member.id, member.value.name, reason="a test's")
    assert not is_drill_job(other, observed)
