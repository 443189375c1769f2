"""The job that finds where the data of a member end that does not say so: its every property.

Invariant: a job has the member's image and node, its data read-only, and nothing else of it: no
secret, no network of the cluster, and no variable.
"""

from __future__ import annotations

import hashlib

from queenright.core.kinds.postgres_cluster.desired.base_backup import (
    DATA_TARGET,
    MEMORY_BYTES,
    data_volume,
)
from queenright.core.kinds.postgres_cluster.desired.services import (
    NO_CHECK,
    POSTGRES_ID,
    scratch,
    service_labels,
    service_name,
)
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    STACK_LABEL,
    Mount,
    Resources,
    RestartPolicy,
    Service,
)

DATA_END_ROLE = "data-end"
PROGRAM = "data-end"
"""The member image's program that prints the end of the data, from 0.2.0 on."""
SCRATCH_BYTES = 16 * MEBI
NAME_MOST = 63
"""Characters that swarm gives a service name."""
_DIGITS = 8


def data_end_job_name(cluster: str, member: str) -> str:
    """Return the job's name: a digest ends one that is too long. No name that a file gives has an
    underscore, so that neither form is another service's."""
    name = service_name(cluster, f"{PROGRAM}_{member}")
    if len(name) <= NAME_MOST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    return f"{name[: NAME_MOST - _DIGITS - 1].rstrip('-')}_{digest}"


def node_constraint(node_id: str) -> str:
    return f"node.id=={node_id}"


def data_end_job(cluster: str, name: str, member: Service, node_id: str) -> Service:
    """The job beside the data of the member ``name``; ``member`` is its service, which mounts a
    volume with them. The node is named besides the member's own constraints: elsewhere Docker would
    make an empty volume of the same name, which has no data to lose."""
    return Service(
        name=data_end_job_name(cluster, name),
        image=member.image,
        mode="replicated-job",
        labels=service_labels(cluster, DATA_END_ROLE),
        container_labels={CLUSTER_LABEL: cluster, STACK_LABEL: cluster},
        command=(PROGRAM, "--json"),
        user=f"{POSTGRES_ID}:{POSTGRES_ID}",
        init=True,
        read_only=True,
        capabilities_dropped=("ALL",),
        constraints=tuple(sorted({*member.constraints, node_constraint(node_id)})),
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
