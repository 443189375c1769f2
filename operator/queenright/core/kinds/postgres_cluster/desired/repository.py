"""The repository on a volume: the operator's own S3 server on a named node, from the document.

Decides every property of its service from the document and the node's address alone. Invariant: the
volume is on the node of the service that is deployed; a document that names another node gives the
same service (`placed`), since an empty volume there would be another repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.checks.backup import REPOSITORY_NAME
from queenright.core.kinds.postgres_cluster.desired.services import (
    SECRET_MODE,
    scratch,
    service_labels,
    service_name,
)
from queenright.core.kinds.postgres_cluster.schema.backup import RepositoryVolume
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    CLUSTER_LABEL,
    ROLE_LABEL,
    STACK_LABEL,
    FileReference,
    HealthCheck,
    Mount,
    Port,
    Resources,
    RestartPolicy,
    Service,
)

REPOSITORY_ROLE = "repository"
REPOSITORY_ID = "10003"
"""User and group in the repository's image."""
CREDENTIALS_TARGET, CERTIFICATE_TARGET = "backup_credentials", "repository_certificate"
DATA_TARGET = "/data"
SCRATCH_BYTES = 64 * MEBI
"""Swift's configuration, and parts of requests."""
RESTART_DELAY_S = 5.0
SERVER_PORT = 9000
"""The server's own port, in its container."""
HOST_CONSTRAINT = "node.hostname=="
CHECK = HealthCheck(("CMD", "healthcheck"), 10.0, 10.0, 120.0, 6)


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """Node and address of a repository's service as it is deployed."""

    node: str
    address: str


@dataclass(frozen=True, slots=True)
class DesiredRepository:
    """The repository on a volume. ``node`` is where it is, or is to be; ``wanted`` the document's
    node, which differs where a deployed one would move."""

    node: str
    wanted: str
    endpoint: str
    volume: str
    service: Service


def volume_of(cluster: PostgresCluster) -> RepositoryVolume | None:
    """Return the document's volume; None where it names other storage, or none."""
    return cluster.spec.backup.repository.volume if cluster.spec.backup is not None else None


def place_of(service: Service) -> RepositoryPlace | None:
    """Return where a repository's service is; None where it does not say."""
    named = [one for one in service.constraints if one.startswith(HOST_CONSTRAINT)]
    address = service.labels.get(ADDRESS_LABEL, "")
    if service.labels.get(ROLE_LABEL) != REPOSITORY_ROLE or len(named) != 1 or not address:
        return None
    return RepositoryPlace(named[0].removeprefix(HOST_CONSTRAINT), address)


def address_of(
    volume: RepositoryVolume, nodes: Mapping[str, str], deployed: RepositoryPlace | None
) -> str:
    """Return the address by which the repository is reached; empty where nobody knows it."""
    if deployed is not None and deployed.node != volume.node:
        return deployed.address
    known = volume.address or nodes.get(volume.node, "")
    return known or (deployed.address if deployed is not None else "")


def with_endpoint(
    cluster: PostgresCluster, nodes: Mapping[str, str], deployed: RepositoryPlace | None
) -> PostgresCluster:
    """Return the document with the address of its volume's server as `endpoint`, so that whatever
    reads a repository finds S3 storage. Raises KeyError where the node's address is not known."""
    volume, backup = volume_of(cluster), cluster.spec.backup
    if volume is None or backup is None:
        return cluster
    address = address_of(volume, nodes, deployed)
    if not address:
        raise KeyError(volume.node)
    endpoint = f"{'https' if volume.certificate else 'http'}://{address}:{volume.port}"
    repository = backup.repository.model_copy(update={"endpoint": endpoint})
    changed = backup.model_copy(update={"repository": repository})
    return cluster.model_copy(update={"spec": cluster.spec.model_copy(update={"backup": changed})})


def repository_of(
    cluster: PostgresCluster, nodes: Mapping[str, str], deployed: RepositoryPlace | None
) -> DesiredRepository | None:
    """Return the repository of a document ``with_endpoint``; None where it is elsewhere."""
    volume, backup = volume_of(cluster), cluster.spec.backup
    if volume is None or backup is None:
        return None
    node = deployed.node if deployed is not None else volume.node
    service = repository_service(cluster, volume, node, address_of(volume, nodes, deployed))
    endpoint = backup.repository.endpoint or ""
    (data,) = (mount.source for mount in service.mounts if mount.target == DATA_TARGET)
    return DesiredRepository(node, volume.node, endpoint, data, service)


def repository_service(
    cluster: PostgresCluster, volume: RepositoryVolume, node: str, address: str
) -> Service:
    """The S3 server: in no network of the cluster, without a capability, its data on a volume.

    A drill's job is in no network of the cluster either, so that both meet at the node's port.
    """
    scope, backup = cluster.metadata.name, cluster.spec.backup
    name = service_name(scope, REPOSITORY_NAME)
    repository = backup.repository if backup is not None else None
    files = [(repository.credentials, CREDENTIALS_TARGET)] if repository is not None else []
    files += [(volume.certificate, CERTIFICATE_TARGET)] if volume.certificate else []
    return Service(
        name=name,
        image=volume.image,
        labels={**service_labels(scope, REPOSITORY_ROLE), ADDRESS_LABEL: address},
        container_labels={CLUSTER_LABEL: scope, STACK_LABEL: scope},
        environment={
            "REPOSITORY_BUCKET": repository.bucket if repository is not None else "",
            "REPOSITORY_PORT": str(SERVER_PORT),
        },
        init=True,
        read_only=True,
        stop_grace_s=volume.stop_grace_period_s,
        capabilities_dropped=("ALL",),
        constraints=(f"{HOST_CONSTRAINT}{node}",),
        endpoint_mode="dnsrr",
        ports=(Port(volume.port, SERVER_PORT),),
        mounts=tuple(
            sorted(
                (
                    Mount(DATA_TARGET, source=f"{name}-data"),
                    scratch("/tmp", SCRATCH_BYTES),  # noqa: S108  # its tmpfs
                )
            )
        ),
        secrets=tuple(
            sorted(
                FileReference(secret, target, REPOSITORY_ID, REPOSITORY_ID, SECRET_MODE)
                for secret, target in files
            )
        ),
        health_check=CHECK,
        resources=Resources(memory_limit_bytes=volume.memory),
        restart=RestartPolicy("any", RESTART_DELAY_S),
    )


def endpoint_at(service: Service) -> str:
    """Return the address of a repository's service as it is deployed; empty where it does not
    say."""
    place = place_of(service)
    if place is None or len(service.ports) != 1:
        return ""
    is_tls = any(file.target == CERTIFICATE_TARGET for file in service.secrets)
    return f"{'https' if is_tls else 'http'}://{place.address}:{service.ports[0].published}"
