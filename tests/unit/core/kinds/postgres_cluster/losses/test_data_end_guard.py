"""The guard of the jobs that read where data end, and what the operator removes of them."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.desired.data_end import data_end_job
from queenright.core.kinds.postgres_cluster.losses.data_end_guard import (
    data_ends_are_read,
    is_data_end_job,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import LiveService, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Attachment, Mount, RestartPolicy, Service
from tests.support.builders import NOW, plan_for, swarm_of, three_nodes
from tests.support.changed import with_swarm, without
from tests.unit.core.kinds.postgres_cluster.losses.test_lone_raft import without_quorum


def job_of(member: str = "member-3", node_id: str = "id-node4") -> Service:
    live = swarm_of(three_nodes()).service(f"main_{member}")
    assert live is not None
    return data_end_job("main", member, live.value, node_id)


def plan_of(job: Service) -> Plan:
    return Plan("main", "digest", (CreateService(job, reason="a test's"),))


def refused(observed: Observed, job: Service, **fields: Any) -> bool:
    return data_ends_are_read(plan_of(dataclasses.replace(job, **fields)), observed) is not None


def test_a_job_is_let_through_whatever_the_cluster_does() -> None:
    removed = without(three_nodes(), "main_member-3")
    stopped = with_swarm(three_nodes(), tasks=())
    for observed in (three_nodes(), without_quorum(), removed, stopped):
        assert first_refusal(plan_of(job_of()), observed) is None


def test_one_that_could_do_more_than_read_the_data_is_refused() -> None:
    observed, job = three_nodes(), job_of()
    assert not refused(observed, job)
    assert refused(observed, job, mounts=tuple(set_writing(m) for m in job.mounts))
    assert refused(
        observed, job, mounts=(*job.mounts, Mount("/x", source="main_b", read_only=True))
    )
    assert refused(observed, job, mode="replicated")
    assert refused(observed, job, restart=RestartPolicy())
    assert refused(observed, job, networks=(Attachment("main_net"),))
    assert refused(observed, job, capabilities_dropped=())
    assert refused(observed, job, capabilities_added=("SYS_ADMIN",))
    live = swarm_of(observed).service("main_member-3")
    assert live is not None
    assert refused(observed, job, secrets=live.value.secrets)
    assert refused(observed, job, configs=live.value.configs)
    assert refused(observed, job, ports=live.value.ports)


def set_writing(mount: Mount) -> Mount:
    return dataclasses.replace(mount, read_only=False)


def test_one_elsewhere_or_on_somebody_elses_data_is_refused() -> None:
    observed, job = three_nodes(), job_of()
    label = next(c for c in job.constraints if "labels" in c)
    assert refused(observed, job, constraints=(label,))
    assert refused(observed, job, constraints=("node.id==id-node4",))
    assert refused(observed, job, constraints=(label, "node.id==id-node9"))
    theirs = Mount("/home/postgres/pgdata", source="other_member-3-data", read_only=True)
    assert refused(observed, job, mounts=(theirs,))
    raft = Mount("/home/postgres/pgdata", source="main_member-3-raft", read_only=True)
    assert not refused(without(observed, "main_member-3"), job)
    other = dataclasses.replace(swarm_of(observed).services[0].value, name="x", labels={})
    service = LiveService("x", 1, dataclasses.replace(other, mounts=(raft,)), NOW, NOW)
    crowded = with_swarm(observed, services=(*swarm_of(observed).services, service))
    assert refused(crowded, job, mounts=(raft,))


def test_a_second_one_of_a_member_is_refused_and_one_of_another_is_not() -> None:
    observed, there = three_nodes(), LiveService("job1", 1, job_of(), NOW, NOW)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, there))
    assert refused(observed, job_of())
    assert not refused(observed, job_of("member-2", "id-node3"))
    unknown = dataclasses.replace(observed, swarm=Unknown("timed out"))
    assert refused(unknown, job_of())


@pytest.mark.parametrize(("minutes", "goes"), [(9, False), (11, True)])
@pytest.mark.parametrize("is_lost", [False, True])
def test_the_operator_removes_one_that_was_left_behind(
    minutes: int, *, goes: bool, is_lost: bool
) -> None:
    """Also where the quorum is lost, which is when people ask."""
    observed = without_quorum() if is_lost else three_nodes()
    at = NOW - timedelta(minutes=minutes)
    left = LiveService("job1", 1, job_of(), at, at)
    observed = with_swarm(observed, services=(*swarm_of(observed).services, left))
    plan = plan_for(observed)
    removals = [action for action in plan.actions if isinstance(action, RemoveService)]
    assert [action.id for action in removals] == (["job1"] if goes else [])
    assert all(is_data_end_job(action, observed) for action in removals)
    assert first_refusal(plan, observed) is None
    member = swarm_of(observed).service("main_member-3")
    assert member is not None
    assert not is_data_end_job(RemoveService(member.id, "main_member-3", reason=""), observed)
