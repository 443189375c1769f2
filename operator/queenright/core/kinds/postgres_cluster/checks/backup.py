"""Checks of `backup` that need more than one field.

Decides from one valid `PostgresCluster`. What would leave a gap in the archive is an error.
"""

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.schema.backup import (
    VOLUME_BUCKET,
    BackupRepository,
    S3Repository,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.parameters import (
    ARCHIVE_COMMAND,
    ARCHIVING_PARAMETERS,
    REPLICA_PARAMETERS,
)
from queenright.core.manifest.problems import Finding, Path, path_text
from queenright.core.postgres.parameters import amount_of, parameters

REPOSITORY_NAME = "repository"
"""Name of the repository's service within the cluster."""
_BACKUP: Path = ("spec", "backup")
_REPOSITORY: Path = (*_BACKUP, "repository")
_PARAMETERS: Path = ("spec", "postgresql", "parameters")


def _archives(cluster: PostgresCluster) -> Iterator[Finding]:
    """No parameter takes the archiving away."""
    if cluster.spec.backup is None:
        return
    found = cluster.spec.postgresql.parameters
    involved = (_BACKUP,)
    if str(found["archive_mode"]).lower() != ARCHIVING_PARAMETERS["archive_mode"]:
        message = (
            "must be always while `backup` is there, so that a replica keeps what the leader has "
            "not archived yet; leave it out"
        )
        yield Finding((*_PARAMETERS, "archive_mode"), message, involves=involved)
    if found["archive_command"] != ARCHIVE_COMMAND:
        message = "is set by `backup`, and another command would archive elsewhere; leave it out"
        yield Finding((*_PARAMETERS, "archive_command"), message, involves=involved)
    if found.get("archive_library"):
        message = "would archive in place of `backup`'s own command; leave it out"
        yield Finding((*_PARAMETERS, "archive_library"), message, involves=involved)
    if amount_of(parameters()["archive_timeout"], found["archive_timeout"]) == 0:
        message = (
            "0 archives a segment only when it is full (16MB), however long that takes; what is in "
            "it is lost with the nodes. Write 1min, or leave it out"
        )
        yield Finding((*_PARAMETERS, "archive_timeout"), message, "warning", involved)


def _replicas(cluster: PostgresCluster) -> Iterator[Finding]:
    """A replica from the backup gets its WAL, and the time that it takes."""
    if cluster.spec.backup is None or cluster.spec.backup.create_replicas_from == "leader":
        return
    at: Path = (*_BACKUP, "createReplicasFrom")
    if (
        cluster.spec.postgresql.parameters["restore_command"]
        != REPLICA_PARAMETERS["restore_command"]
    ):
        message = (
            "is set by `backup.createReplicasFrom`, and another command would not fetch the WAL "
            "that a replica from the backup needs; leave it out"
        )
        yield Finding((*_PARAMETERS, "restore_command"), message, involves=(at,))
    if cluster.spec.health_check.while_starting == "unhealthy":
        message = (
            "a replica that takes longer than the health check allows, a minute by default, is "
            "ended and begins anew; write healthCheck: {whileStarting: healthy}"
        )
        yield Finding(at, message, "warning", (("spec", "healthCheck"),))


def _secrets(cluster: PostgresCluster) -> Iterator[Finding]:
    """The credentials' secret is nobody's password: the operator makes those itself."""
    if cluster.spec.backup is None:
        return
    yield from shared_secrets(cluster, cluster.spec.backup.repository, _REPOSITORY)


def shared_secrets(
    cluster: PostgresCluster, repository: S3Repository, at: Path
) -> Iterator[Finding]:
    """Yield each secret of a repository, whose field is ``at``, that is a password or named
    twice."""
    taken = taken_secrets(cluster)
    volume = repository.volume if isinstance(repository, BackupRepository) else None
    named: list[tuple[Path, str | None]] = [
        (("credentials",), repository.credentials),
        (("ca",), repository.ca),
        (("volume", "certificate"), volume.certificate if volume is not None else None),
    ]
    for field, name in named:
        if name is None:
            continue
        path: Path = (*at, *field)
        if name in taken:
            message = f"is also {path_text(taken[name])}; name a secret of its own"
            yield Finding(path, message, involves=(taken[name],))
        taken.setdefault(name, path)


def taken_secrets(cluster: PostgresCluster) -> dict[str, Path]:
    """Return the secrets that hold passwords, each with the field that names it."""
    spec = cluster.spec
    taken: dict[str, Path] = {
        spec.secrets.replication: ("spec", "secrets", "replication"),
        spec.secrets.superuser: ("spec", "secrets", "superuser"),
        spec.secrets.rest_api: ("spec", "secrets", "restApi"),
    }
    if spec.vip is not None and spec.vip.has_password:
        taken[spec.vip.secret] = ("spec", "vip", "secret")
    for index, role in enumerate(spec.roles):
        if role.password_secret:
            taken[role.password_secret] = ("spec", "roles", index, "passwordSecret")
    return taken


def _transport(cluster: PostgresCluster) -> Iterator[Finding]:
    """The data are not sent in clear text, and an authority has a certificate to judge."""
    if cluster.spec.backup is None:
        return
    repository = cluster.spec.backup.repository
    yield from clear_text(repository, _REPOSITORY)
    volume = repository.volume
    if volume is not None and volume.certificate is None and repository.ca is not None:
        message = "has no effect without volume.certificate; write that, or leave it out"
        yield Finding((*_REPOSITORY, "ca"), message, "warning", ((*_REPOSITORY, "volume"),))
    if is_clear_text(repository) and repository.ca is not None:
        message = "has no effect, as `endpoint` is http; write https, or leave it out"
        yield Finding((*_REPOSITORY, "ca"), message, "warning", ((*_REPOSITORY, "endpoint"),))


def clear_text(repository: S3Repository, at: Path) -> Iterator[Finding]:
    """Yield a warning for a repository, whose field is ``at``, that is reached by http."""
    if is_clear_text(repository):
        message = "whoever is in the network between can read all data; write https"
        yield Finding((*at, "endpoint"), message, "warning")


def is_clear_text(repository: S3Repository) -> bool:
    return repository.endpoint is not None and repository.endpoint.startswith("http://")


def _volume(cluster: PostgresCluster) -> Iterator[Finding]:
    """The repository is in one place, and not beside the data."""
    if cluster.spec.backup is None:
        return
    repository = cluster.spec.backup.repository
    volume, at = repository.volume, (*_REPOSITORY, "volume")
    if volume is None:
        return
    if repository.bucket != VOLUME_BUCKET:
        message = f"is {VOLUME_BUCKET} on a volume; leave it out, or leave the volume out"
        yield Finding((*_REPOSITORY, "bucket"), message, involves=(at,))
    if repository.endpoint is not None:
        message = "is that of the volume's own server; leave it out, or leave the volume out"
        yield Finding((*_REPOSITORY, "endpoint"), message, involves=(at,))
    for index, member in enumerate(cluster.spec.members):
        other: Path = ("spec", "members", index, "node")
        if member.node == volume.node:
            message = (
                f'"{volume.node}" has {member.name}: who loses the node loses a backup beside the '
                "data that it is of; write another node"
            )
            yield Finding((*at, "node"), message, "warning", (other,))
        if member.name == REPOSITORY_NAME:
            message = f'"{REPOSITORY_NAME}" is what its service is called; write another name'
            yield Finding(("spec", "members", index, "name"), message, involves=(at,))
    if volume.certificate is None:
        message = (
            "has no certificate, so its server speaks http: whoever is in the network between can "
            "read all data; write certificate and ca, or be sure of the network"
        )
        yield Finding(at, message, "warning")
    elif repository.ca is None:
        message = "is missing beside volume.certificate, without which no member trusts that"
        yield Finding((*_REPOSITORY, "ca"), message, "warning", ((*at, "certificate"),))


def _retention(cluster: PostgresCluster) -> Iterator[Finding]:
    """A rule keeps something."""
    spec = cluster.spec.backup
    if spec is None:
        return
    path: Path = (*_BACKUP, "retention")
    if spec.retention is not None and spec.retention.count is None and spec.retention.days is None:
        yield Finding(path, "keeps nothing by a rule; write count, days or both, or leave it out")


BACKUP_CHECKS = (_archives, _replicas, _secrets, _transport, _volume, _retention)
"""Checks of the archive."""
