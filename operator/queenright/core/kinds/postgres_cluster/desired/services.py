"""The services of a cluster: every property of a member's and of the proxies', from the document.

Decides from the document and the members' addresses alone (spec: database-cluster §2.7, §8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from queenright.core.kinds.postgres_cluster.desired.backup import backup_environment, backup_files
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import ROUTE_LUA_FILE
from queenright.core.kinds.postgres_cluster.desired.restore import (
    restore_environment,
    restore_files,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.members import Member
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    CLUSTER_LABEL,
    ROLE_LABEL,
    STACK_LABEL,
    Attachment,
    FileReference,
    HealthCheck,
    Mount,
    Port,
    Resources,
    RestartPolicy,
    Service,
    UpdatePolicy,
)
from queenright.core.swarm.one_object import with_shared_parts

PROXY_LABEL_VALUE = "true"

POSTGRES_ID = "999"
"""User and group of PostgreSQL in the member image (spec: database-cluster §2.3)."""
SECRET_MODE = 0o400
PROXY_FILE_MODE = 0o444
SCRATCH_MODE = 0o1777
OR_STARTING = "--or-starting"
"""The flag of the image's `healthcheck` by which a member that starts is healthy."""
NO_CHECK = HealthCheck(("NONE",), 0.0, 0.0, 0.0, 0)
"""For a job: the member image's own check asks for Patroni, which no job runs, and would end the
job in a minute."""
MOST_SHARED = 256
"""Parts that clusters have in common: most have the same ports and sizes."""
REPLICATION_TARGET = "pg_replication_pw"
SUPERUSER_TARGET = "pg_superuser_pw"
REST_SECRET_TARGET = "pg_rest_pw"  # noqa: S105 (a file's name)
TEMPLATE_TARGET = "/etc/patroni/patroni.yml.tpl"
HAPROXY_TARGET = "/usr/local/etc/haproxy/haproxy.cfg"


def service_name(scope: str, name: str) -> str:
    """As ``docker stack deploy`` names services: the scope, an underscore, the name."""
    return f"{scope}_{name}"


def secret_files(cluster: PostgresCluster) -> list[tuple[str, str]]:
    """Names of the secrets, and of the files that they are mounted as (spec: §2.3)."""
    names = cluster.spec.secrets
    files = [(names.replication, REPLICATION_TARGET), (names.superuser, SUPERUSER_TARGET)]
    if cluster.spec.rest_api.authentication != "none":
        files.append((names.rest_api, REST_SECRET_TARGET))
    return files


def service_labels(scope: str, role: str) -> dict[str, str]:
    return {CLUSTER_LABEL: scope, STACK_LABEL: scope, ROLE_LABEL: role}


def member_service(  # noqa: PLR0917
    cluster: PostgresCluster,
    member: Member,
    index: int,
    addresses: Mapping[str, str],
    template: str,
    volumes: str = "",
    *,
    is_restored: bool = False,
) -> Service:
    """A member's service, with every property of §2.7 and §8. ``volumes`` is the service after
    which its volumes are named, where that is another one; ``is_restored`` is True for the member
    that begins a cluster from a backup."""
    scope, spec = cluster.metadata.name, cluster.spec
    check, restart = spec.health_check, spec.restart_policy
    flags = (OR_STARTING,) if check.while_starting == "healthy" else ()
    partners = [
        f"{address}:{spec.ports.raft}" for name, address in addresses.items() if name != member.name
    ]
    name = service_name(scope, member.name)
    service = Service(
        name=name,
        image=spec.image,
        labels={**service_labels(scope, "member"), ADDRESS_LABEL: addresses[member.name]},
        container_labels={CLUSTER_LABEL: scope, STACK_LABEL: scope},
        environment={
            "NODE_NAME": member.name,
            "RAFT_SELF": f"{addresses[member.name]}:{spec.ports.raft}",
            "RAFT_PARTNERS": json.dumps(partners),
            "NODE_CONNECT": addresses[member.name],
            "FAILOVER_PRIORITY": str(member.failover_priority),
            **backup_environment(cluster),
            **(restore_environment(cluster) if is_restored else {}),
        },
        hostname=member.name,
        init=True,
        stop_grace_s=spec.stop_grace_period_s,
        networks=(Attachment(spec.network.name, (member.name,)),),
        constraints=(f"node.labels.{spec.node_labels.member}=={index}",),
        endpoint_mode="dnsrr",
        ports=host_ports(spec.ports.postgresql, spec.ports.raft, spec.ports.rest_api),
        mounts=tuple(
            sorted(
                (
                    Mount("/home/postgres/pgdata", source=f"{volumes or name}-data"),
                    Mount("/home/postgres/raft", source=f"{volumes or name}-raft"),
                    scratch("/tmp", spec.tmpfs.tmp_bytes),  # noqa: S108  # the contract's mount
                    scratch("/run", spec.tmpfs.run_bytes),
                    scratch("/var/run/postgresql", spec.tmpfs.postgresql_bytes),
                )
            )
        ),
        configs=(FileReference(template, TEMPLATE_TARGET, POSTGRES_ID, POSTGRES_ID, SECRET_MODE),),
        secrets=mounted_secrets(cluster, is_restored=is_restored),
        health_check=HealthCheck(
            test=("CMD", "healthcheck", str(spec.ports.rest_api), *flags),
            interval_s=check.interval_s,
            timeout_s=check.timeout_s,
            start_period_s=check.start_period_s,
            retries=check.retries,
        ),
        resources=Resources(spec.memory.limit_bytes, spec.memory.reservation_bytes),
        restart=RestartPolicy(
            restart.condition, restart.delay_s, restart.max_attempts, restart.window_s
        ),
    )
    return with_shared_parts(service)


def mounted_secrets(cluster: PostgresCluster, *, is_restored: bool) -> tuple[FileReference, ...]:
    """A member's secrets, and those of the repositories that it reads."""
    parents = restore_files(cluster) if is_restored else []
    return tuple(
        sorted(
            FileReference(secret, target, POSTGRES_ID, POSTGRES_ID, SECRET_MODE)
            for secret, target in (*secret_files(cluster), *backup_files(cluster), *parents)
        )
    )


def proxy_service(cluster: PostgresCluster, haproxy: str, route: str) -> Service:
    """The proxies' global service, with every property of §2.7 and §8."""
    scope, spec = cluster.metadata.name, cluster.spec
    proxies = spec.proxies
    restart = proxies.restart_policy
    service = Service(
        name=service_name(scope, "proxy"),
        image=proxies.image,
        mode="global",
        labels=service_labels(scope, "proxy"),
        container_labels={CLUSTER_LABEL: scope, STACK_LABEL: scope},
        read_only=True,
        stop_grace_s=proxies.stop_grace_period_s,
        networks=(Attachment(spec.network.name, ("proxy",)),),
        constraints=(f"node.labels.{spec.node_labels.proxy}=={PROXY_LABEL_VALUE}",),
        endpoint_mode="dnsrr",
        ports=host_ports(proxies.ports.primary, proxies.ports.replicas, proxies.ports.statistics),
        mounts=(
            scratch("/run", proxies.tmpfs.run_bytes),
            scratch("/tmp", proxies.tmpfs.tmp_bytes),  # noqa: S108  # the contract's mount
        ),
        configs=(
            FileReference(haproxy, HAPROXY_TARGET, mode=PROXY_FILE_MODE),
            FileReference(route, ROUTE_LUA_FILE, mode=PROXY_FILE_MODE),
        ),
        resources=Resources(proxies.memory.limit_bytes, proxies.memory.reservation_bytes),
        restart=RestartPolicy(
            restart.condition, restart.delay_s, restart.max_attempts, restart.window_s
        ),
        update=UpdatePolicy(delay_s=float(proxies.update.delay_s)),
    )
    return with_shared_parts(service)


@lru_cache(maxsize=MOST_SHARED)
def host_ports(*numbers: int) -> tuple[Port, ...]:
    """Ports published in host mode under their own number (spec: §2.6)."""
    return tuple(sorted(Port(number, number) for number in numbers))


@lru_cache(maxsize=MOST_SHARED)
def scratch(target: str, size_bytes: int) -> Mount:
    return Mount(target, kind="tmpfs", size_bytes=size_bytes, mode=SCRATCH_MODE)
