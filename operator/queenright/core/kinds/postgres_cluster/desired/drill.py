"""The job that restores a base backup to prove it: a drill.

Decides the service's every property. Invariant: it touches no member. It has none of their volumes,
networks, ports or passwords, only the repository's credentials. Its data are in the container's
own file system, which goes with the container.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.kinds.postgres_cluster.desired.backup import CA_TARGET, CREDENTIALS_TARGET
from queenright.core.kinds.postgres_cluster.desired.services import (
    NO_CHECK,
    POSTGRES_ID,
    scratch,
    service_labels,
    service_name,
)
from queenright.core.kinds.postgres_cluster.schema.backup import WEEKLY
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    STACK_LABEL,
    Resources,
    RestartPolicy,
    Service,
)

DRILL_ROLE = "backup-drill"
PROGRAM = "backup-drill"
FILES = (CREDENTIALS_TARGET, CA_TARGET)
REPOSITORY_VARIABLES = ("BACKUP_URL", "BACKUP_ENDPOINT", "BACKUP_REGION", "BACKUP_COMPRESSION")
DUE_VARIABLE, AT_VARIABLE, NODE_VARIABLE = "DRILL_DUE", "DRILL_AT", "DRILL_NODE"
EACH_WEEK = "0 4 * * 0"
SCRATCH_BYTES = 64 * MEBI
"""The server's log, and Barman's temporary files."""


@dataclass(frozen=True, slots=True)
class DrillPlan:
    """The drills that the document asks for. Without a schedule one is made when a person asks for
    it."""

    node: str
    schedule: str | None
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class DrillTask:
    """One drill's part: the moment since which it is ``due``, the leader's clock ``at`` its
    beginning, the database ``system``, the last base backup and the last archived WAL file;
    ``canary`` is the canary's database, empty where it is off."""

    due: datetime
    at: datetime
    system: str
    backup: str
    wal: str
    canary: str = ""


def drill_plan(cluster: PostgresCluster) -> DrillPlan | None:
    """Return what the document asks; None where it asks for no drills."""
    spec = cluster.spec.backup
    if spec is None or spec.drill is None:
        return None
    found = spec.drill
    schedule = EACH_WEEK if found.schedule == WEEKLY else found.schedule
    return DrillPlan(found.node, schedule, found.memory)


def drill_name(cluster: str) -> str:
    """One name for all of them: the swarm itself takes no second job beside the first."""
    return service_name(cluster, "backup_drill")


def drill_job(plan: DrillPlan, cluster: str, member: Service, task: DrillTask) -> Service:
    """The job; ``member`` is the leader's service as it runs, which has the image and the place of
    the repository."""
    variables: Mapping[str, str] = {
        "BACKUP_SYSTEM": task.system,
        "DRILL_BACKUP": task.backup,
        "DRILL_WAL": task.wal,
        "DRILL_CANARY": task.canary,
        DUE_VARIABLE: task.due.isoformat(),
        AT_VARIABLE: task.at.isoformat(),
        NODE_VARIABLE: plan.node,
    }
    repository = {
        name: text for name, text in member.environment.items() if name in REPOSITORY_VARIABLES
    }
    return Service(
        name=drill_name(cluster),
        image=member.image,
        mode="replicated-job",
        labels=service_labels(cluster, DRILL_ROLE),
        container_labels={CLUSTER_LABEL: cluster, STACK_LABEL: cluster},
        command=(PROGRAM,),
        environment={**repository, **{name: text for name, text in variables.items() if text}},
        user=f"{POSTGRES_ID}:{POSTGRES_ID}",
        init=True,
        capabilities_dropped=("ALL",),
        constraints=(f"node.hostname=={plan.node}",),
        mounts=(scratch("/tmp", SCRATCH_BYTES),),  # noqa: S108  # its tmpfs
        secrets=tuple(file for file in member.secrets if file.target in FILES),
        health_check=NO_CHECK,
        resources=Resources(memory_limit_bytes=plan.memory_bytes),
        restart=RestartPolicy(condition="none"),
    )


def why_no_drill(member: Service) -> str | None:
    """Reason why no job can be made after a member as it runs; None when one can."""
    if "BACKUP_URL" not in member.environment or not any(
        file.target == CREDENTIALS_TARGET for file in member.secrets
    ):
        return "its service has not got the repository and its secrets yet"
    return None
