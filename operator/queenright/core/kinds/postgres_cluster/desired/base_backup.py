"""The jobs beside one member, from its service as that runs: a base backup, the repository's list.

Decides the services' every property. Invariant: a job has the member's own image, repository,
secrets and node, and its data read-only; its environment says nothing secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from queenright.core.kinds.postgres_cluster.desired.backup import CA_TARGET, CREDENTIALS_TARGET
from queenright.core.kinds.postgres_cluster.desired.drill import DrillPlan, drill_plan
from queenright.core.kinds.postgres_cluster.desired.services import (
    NO_CHECK,
    POSTGRES_ID,
    SUPERUSER_TARGET,
    scratch,
    service_labels,
    service_name,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    STACK_LABEL,
    Attachment,
    Mount,
    Resources,
    RestartPolicy,
    Service,
)

BACKUP_ROLE = "base-backup"
LIST_ROLE = "backup-list"
PROGRAM = "base-backup"
LIST_PROGRAM = "backup-list"
CHECK_PROGRAM = "restore-check"
DATA_TARGET = "/home/postgres/pgdata"
DUE_VARIABLE = "BACKUP_DUE"
MEMBER_VARIABLE = "BACKUP_MEMBER"
FILES = (SUPERUSER_TARGET, CREDENTIALS_TARGET, CA_TARGET)
SCRATCH_BYTES = 256 * MEBI
"""Parts of an upload: Barman keeps five of 5 MB."""
MEMORY_BYTES = 768 * MEBI


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """The base backups that the document asks for; ``variables`` are the job's own. Without a
    schedule one is made when a person asks for it. ``drill`` are those for restores that prove
    them."""

    schedule: str | None
    source: str
    variables: Mapping[str, str] = field(default_factory=dict)
    drill: DrillPlan | None = None


def backup_plan(cluster: PostgresCluster) -> BackupPlan | None:
    """Return what the document asks; None where it has no `backup`."""
    spec = cluster.spec.backup
    if spec is None:
        return None
    kept = spec.retention
    variables = {
        "BACKUP_KEEP_COUNT": str(kept.count) if kept and kept.count else "",
        "BACKUP_KEEP_DAYS": str(kept.days) if kept and kept.days else "",
    }
    wanted = {name: text for name, text in variables.items() if text}
    return BackupPlan(spec.schedule, spec.source, wanted, drill_plan(cluster))


def job_name(cluster: str) -> str:
    """One name for all of them: the swarm itself takes no second job beside the first."""
    return service_name(cluster, "base_backup")


def list_job_name(cluster: str) -> str:
    return service_name(cluster, "backup_list")


def backup_job(
    plan: BackupPlan, cluster: str, member: Service, reach: tuple[str, int], due: datetime
) -> Service:
    """The job beside a member; ``member`` is its service as it runs, ``reach`` its address and
    port."""
    address, port = reach
    variables = {
        **plan.variables,
        "BACKUP_HOST": address,
        "BACKUP_PORT": str(port),
        DUE_VARIABLE: due.isoformat(),
        MEMBER_VARIABLE: member.hostname,
    }
    made = job_beside(cluster, member, variables)
    return replace(
        made,
        name=job_name(cluster),
        labels=service_labels(cluster, BACKUP_ROLE),
        command=(PROGRAM,),
        secrets=tuple(file for file in member.secrets if file.target in FILES),
    )


def list_job(plan: BackupPlan, cluster: str, member: Service) -> Service:
    """The job beside a member that lists what the repository has. It connects to no server, and
    has no password of one."""
    made = job_beside(cluster, member, plan.variables)
    return replace(
        made,
        name=list_job_name(cluster),
        labels=service_labels(cluster, LIST_ROLE),
        command=(LIST_PROGRAM,),
        secrets=tuple(file for file in member.secrets if file.target in FILES[1:]),
    )


def check_job(
    cluster: str, member: Service, reach: tuple[str, int] | None, variables: Mapping[str, str]
) -> Service:
    """The job beside a member that checks whether the repository covers a restore; ``reach`` is the
    leader's address and port, where one is known, ``variables`` are the restore's."""
    server = {"BACKUP_HOST": reach[0], "BACKUP_PORT": str(reach[1])} if reach is not None else {}
    made = job_beside(cluster, member, {**server, **variables})
    return replace(
        made,
        name=service_name(cluster, "restore_check"),
        labels=service_labels(cluster, LIST_ROLE),
        command=(CHECK_PROGRAM,),
        secrets=tuple(file for file in member.secrets if file.target in FILES),
    )


def job_beside(cluster: str, member: Service, variables: Mapping[str, str]) -> Service:
    """The part that both jobs share; ``variables`` are added to those of the repository."""
    own = {
        name: text
        for name, text in member.environment.items()
        if name in {"BACKUP_URL", "BACKUP_ENDPOINT", "BACKUP_REGION", "BACKUP_COMPRESSION"}
    }
    return Service(
        name="",
        image=member.image,
        mode="replicated-job",
        container_labels={CLUSTER_LABEL: cluster, STACK_LABEL: cluster},
        environment={**own, **variables},
        user=f"{POSTGRES_ID}:{POSTGRES_ID}",
        init=True,
        read_only=True,
        capabilities_dropped=("ALL",),
        networks=tuple(Attachment(one.network) for one in member.networks),
        constraints=member.constraints,
        mounts=tuple(
            sorted(
                (
                    Mount(DATA_TARGET, source=data_volume(member), read_only=True),
                    scratch("/tmp", SCRATCH_BYTES),  # noqa: S108  # its tmpfs
                )
            )
        ),
        health_check=NO_CHECK,
        resources=Resources(memory_limit_bytes=MEMORY_BYTES),
        restart=RestartPolicy(condition="none"),
    )


def data_volume(member: Service) -> str:
    """Return the volume with the member's data; empty where its service mounts none."""
    return next((mount.source for mount in member.mounts if mount.target == DATA_TARGET), "")


def why_no_job(member: Service) -> str | None:
    """Reason why no job can be made beside a member as it runs; None when one can."""
    if not data_volume(member):
        return "its service mounts no volume with the data"
    targets = {file.target for file in member.secrets}
    if "BACKUP_URL" not in member.environment or not {*FILES[:2]} <= targets:
        return "its service has not got the repository and its secrets yet"
    return None
