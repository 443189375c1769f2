"""The first member's part in a restore: environment, files and Patroni's bootstrap.

Decides from the document alone. Only the member that begins the cluster has any of it. Invariant:
the environment says where the parent's repository is and nothing secret; the credentials are in a
mounted secret (`images/member/queenright_member/backup/cluster_restore.py` reads both).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from queenright.core.kinds.postgres_cluster.schema.bootstrap import RestoredBackup
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster

PREFIX = "RESTORE_"
URL_VARIABLE = f"{PREFIX}URL"
IN_PLACE_VARIABLE = f"{PREFIX}IN_PLACE"
CREDENTIALS_TARGET = "restore_credentials"
CA_TARGET = "restore_ca"
TARGETS = (CREDENTIALS_TARGET, CA_TARGET)
METHOD = "restore"
ENDS = {"time": "{}", "lsn": "WAL position {}", "name": "restore point {}"}
"""Words for each kind of target."""


@dataclass(frozen=True, slots=True)
class DesiredRestore:
    """``text`` is what a new cluster begins with, for people; empty for an empty database.
    ``secrets`` are the names of those that it needs."""

    text: str = ""
    secrets: frozenset[str] = frozenset()


NO_RESTORE = DesiredRestore()


def parent_of(cluster: PostgresCluster) -> RestoredBackup | None:
    """Return the backup that a new cluster begins with; None for an empty one."""
    bootstrap = cluster.spec.bootstrap
    return None if bootstrap is None else bootstrap.source.backup


def restore_environment(cluster: PostgresCluster) -> dict[str, str]:
    """Return the variables of the restore's programs."""
    backup = parent_of(cluster)
    if backup is None:
        return {}
    repository = backup.repository
    folders = filter(None, (repository.bucket, repository.prefix, backup.cluster))
    target = target_of(backup)
    found = {
        "URL": f"s3://{'/'.join(folders)}",
        "ENDPOINT": repository.endpoint or "",
        "REGION": repository.region,
        "SYSTEM": backup.system or "",
        "BACKUP": backup.base or "",
        "TARGET": " ".join(target) if target is not None else "",
        "TIMELINE": str(backup.timeline or ""),
        "IN_PLACE": "yes" if is_in_place(cluster, backup) else "",
    }
    return {f"{PREFIX}{name}": value for name, value in found.items() if value}


def is_in_place(cluster: PostgresCluster, backup: RestoredBackup) -> bool:
    """Return True for a cluster that begins anew from its own backup. The check refuses a file that
    says so; a noted restore in place does."""
    own = cluster.spec.backup
    is_own = own is not None and own.repository == backup.repository
    return is_own and backup.cluster == cluster.metadata.name


def restore_files(cluster: PostgresCluster) -> list[tuple[str, str]]:
    """Return the names of the secrets that somebody else makes, and of the files in the member."""
    backup = parent_of(cluster)
    if backup is None:
        return []
    files = [(backup.repository.credentials, CREDENTIALS_TARGET)]
    ca = backup.repository.ca
    return files if ca is None else [*files, (ca, CA_TARGET)]


def target_of(backup: RestoredBackup) -> tuple[str, str] | None:
    """Return the kind of a target, as PostgreSQL's parameters end, and its value."""
    target = backup.target
    if target is not None and target.time is not None:
        return "time", _exact(target.time)
    if target is not None and target.lsn is not None:
        return "lsn", target.lsn
    if target is not None and target.name is not None:
        return "name", target.name
    return None


def restore_method(cluster: PostgresCluster) -> dict[str, Any]:
    """Return what `bootstrap` in Patroni's configuration has in place of `initdb`; empty for an
    empty database."""
    backup = parent_of(cluster)
    if backup is None:
        return {}
    target = target_of(backup)
    ends = {} if target is None else {f"recovery_target_{target[0]}": target[1]}
    return {
        "method": METHOD,
        METHOD: {
            "command": "cluster-restore",
            "no_params": True,
            "recovery_conf": {
                "restore_command": "parent-wal-restore %f %p",
                "recovery_target_timeline": str(backup.timeline or "latest"),
                "recovery_target_action": "promote",
                **ends,
            },
        },
        "post_bootstrap": "cluster-restored",
    }


def restore_of(cluster: PostgresCluster, *, was_whole: bool) -> DesiredRestore:
    """Return what a new cluster begins with; one that was healthy once needs none of it."""
    backup = parent_of(cluster)
    if backup is None:
        return NO_RESTORE
    repository, target = backup.repository, target_of(backup)
    end = "the end of its archived WAL" if target is None else ENDS[target[0]].format(target[1])
    place = f"bucket {repository.bucket} at {repository.endpoint or 'Amazon S3'}"
    text = f"the backup of {backup.cluster} in {place}, up to {end}"
    secrets = () if was_whole else (name for name, _ in restore_files(cluster))
    return DesiredRestore(text, frozenset(secrets))


def _exact(moment: datetime) -> str:
    """Return a moment as PostgreSQL and Python read it, to the microsecond."""
    return moment.isoformat(sep=" ")
