"""The members' part in backups: environment and files, from the document alone.

Invariant: the environment says where the repository is and nothing secret; the credentials are in a
mounted secret (`images/member/queenright_member/backup/repository.py` reads both).
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster

CREDENTIALS_TARGET = "backup_credentials"
CA_TARGET = "backup_ca"


def backup_environment(cluster: PostgresCluster) -> dict[str, str]:
    """Return the variables of the backup programs; none where nothing is archived."""
    spec = cluster.spec.backup
    if spec is None:
        return {}
    repository = spec.repository
    folders = filter(None, (repository.bucket, repository.prefix, cluster.metadata.name))
    endpoint = {} if repository.endpoint is None else {"BACKUP_ENDPOINT": repository.endpoint}
    return {
        "BACKUP_URL": f"s3://{'/'.join(folders)}",
        **endpoint,
        "BACKUP_REGION": repository.region,
        "BACKUP_COMPRESSION": spec.compression,
    }


def backup_files(cluster: PostgresCluster) -> list[tuple[str, str]]:
    """Return the names of the secrets that somebody else makes, and of the files in a member."""
    if cluster.spec.backup is None:
        return []
    repository = cluster.spec.backup.repository
    files = [(repository.credentials, CREDENTIALS_TARGET)]
    return files if repository.ca is None else [*files, (repository.ca, CA_TARGET)]


def archive_of(cluster: PostgresCluster) -> str:
    """Return the place of the archived WAL, for people; empty where nothing is archived."""
    if cluster.spec.backup is None:
        return ""
    repository = cluster.spec.backup.repository
    return f"bucket {repository.bucket} at {repository.endpoint or 'Amazon S3'}"
