"""The job that reads where a member's data end: its image, node and volume, and no more."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.data_end import (
    NAME_MOST,
    data_end_job,
    data_end_job_name,
)
from queenright.core.swarm.objects import Mount
from tests.support.builders import swarm_of, three_nodes


def test_the_job_has_the_members_image_node_and_volume_and_no_secret() -> None:
    live = swarm_of(three_nodes()).service("main_member-3")
    assert live is not None
    job = data_end_job("main", "member-3", live.value, "id-node4")
    assert (job.name, job.mode, job.command) == (
        "main_data-end_member-3",
        "replicated-job",
        ("data-end", "--json"),
    )
    assert job.image == live.value.image
    assert {*job.constraints} == {*live.value.constraints, "node.id==id-node4"}
    assert [mount for mount in job.mounts if mount.kind != "tmpfs"] == [
        Mount("/home/postgres/pgdata", source="main_member-3-data", read_only=True)
    ]
    assert not any((job.secrets, job.networks, job.environment, job.configs, job.ports))
    assert (job.user, job.read_only, job.capabilities_dropped) == ("999:999", True, ("ALL",))
    assert (job.restart.condition, job.health_check and job.health_check.test) == (
        "none",
        ("NONE",),
    )
    assert job.resources.memory_limit_bytes


def test_a_long_name_fits_and_is_no_others() -> None:
    cluster, member = "c" * 30, "m" * 29
    names = [data_end_job_name(cluster, f"{member}{end}") for end in "abc"]
    assert len({*names}) == 3
    assert all(len(name) <= NAME_MOST for name in names)
    dashed = data_end_job_name(cluster, f"{'m' * 12}-{'x' * 15}")
    assert "-_" not in dashed
