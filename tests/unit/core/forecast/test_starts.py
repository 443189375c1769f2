"""First starts in the model: an election, jobs, and tasks without a node."""

from __future__ import annotations

import dataclasses

from queenright.core.actions import CreateSecret, CreateService
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.swarm.objects import Secret, Service
from tests.support.builders import three_nodes
from tests.support.effect_worlds import WANTED, done, member, swarm


def test_a_first_start_elects_a_leader_by_majority_and_the_others_copy() -> None:
    seen = three_nodes()
    bare = dataclasses.replace(swarm(seen), services=(), tasks=(), configs=())
    empty = dataclasses.replace(
        seen, swarm=Known(bare), members={}, raft={}, settings={}, catalogs={}
    )
    first = done(CreateService(reason="r", service=WANTED.members[0].service), empty)
    assert not member(first, "member-1").is_leader
    second = done(CreateService(reason="r", service=WANTED.members[1].service), first)
    assert member(second, "member-1").is_leader
    assert member(second, "member-1").timeline == 1
    third = done(CreateService(reason="r", service=WANTED.members[2].service), second)
    assert member(third, "member-3").is_streaming
    settings = third.settings["main"]
    assert isinstance(settings, Known)
    assert settings.value == WANTED.settings


def test_members_that_start_again_on_their_data_have_unknown_roles_and_settings() -> None:
    seen = three_nodes()
    bare = dataclasses.replace(swarm(seen), services=(), tasks=())
    silent = dataclasses.replace(
        seen, swarm=Known(bare), members={}, raft={}, settings={}, catalogs={}
    )
    for one in WANTED.members:
        silent = done(CreateService(reason="r", service=one.service), silent)
    assert member(silent, "member-1").is_leader
    assert (silent.settings, silent.catalogs) == ({}, {})


def test_a_swarm_that_was_not_read_stays_so() -> None:
    seen = Observed(Unknown("no answer"))
    assert done(CreateSecret(reason="r", secret=Secret("s")), seen) is seen


def test_a_job_ends_well_and_a_task_without_a_node_waits() -> None:
    job = Service("job", "i@sha256:1", mode="replicated-job")
    seen = done(CreateService(reason="r", service=job))
    found = swarm(seen).service("job")
    assert found is not None
    assert [task.state for task in swarm(seen).tasks_of(found.id)] == ["complete"]
    lost = Service("lost", "i@sha256:1", constraints=("node.labels.nowhere==1",))
    seen = done(CreateService(reason="r", service=lost))
    found = swarm(seen).service("lost")
    assert found is not None
    assert [task.state for task in swarm(seen).tasks_of(found.id)] == ["pending"]
