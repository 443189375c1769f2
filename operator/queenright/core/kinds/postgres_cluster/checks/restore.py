"""Checks of `bootstrap` that need more than one field.

Decides from one valid `PostgresCluster`. Invariant: no new cluster archives where its parent does.
"""

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.checks.backup import clear_text, shared_secrets
from queenright.core.kinds.postgres_cluster.desired.restore import parent_of
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path

_BACKUP: Path = ("spec", "bootstrap", "from", "backup")
_REPOSITORY: Path = (*_BACKUP, "repository")
_TARGET: Path = (*_BACKUP, "target")


def _one_target(cluster: PostgresCluster) -> Iterator[Finding]:
    backup = parent_of(cluster)
    if backup is None or backup.target is None:
        return
    found = [name for name, value in backup.target if value is not None]
    involved: tuple[Path, ...] = tuple((*_TARGET, name) for name, _ in backup.target)
    if not found:
        message = "names none; write time, lsn or name, or leave it out (the end of the WAL)"
        yield Finding(_TARGET, message, involves=involved)
    elif len(found) > 1:
        message = f"has {' and '.join(found)}, and a recovery has one end; keep one of them"
        yield Finding(_TARGET, message, involves=involved)


def _own_archive(cluster: PostgresCluster) -> Iterator[Finding]:
    """The new cluster's archive is not its parent's."""
    backup, own = parent_of(cluster), cluster.spec.backup
    if backup is None or own is None or cluster.metadata.name != backup.cluster:
        return
    first, second = backup.repository, own.repository
    if (first.bucket, first.prefix) != (second.bucket, second.prefix):
        return
    if (first.endpoint or "").rstrip("/") != (second.endpoint or "").rstrip("/"):
        return
    path: Path = ("spec", "backup", "repository")
    message = (
        f"is where {backup.cluster}, from whose backup this cluster begins, has its archive, and "
        "each would overwrite the other's; give it a prefix or a bucket of its own"
    )
    yield Finding(path, message, involves=((*_BACKUP, "cluster"),))


def _secrets(cluster: PostgresCluster) -> Iterator[Finding]:
    """The credentials' secret is nobody's password: the operator makes those itself."""
    backup = parent_of(cluster)
    if backup is None:
        return
    yield from shared_secrets(cluster, backup.repository, _REPOSITORY)


def _transport(cluster: PostgresCluster) -> Iterator[Finding]:
    """The data are not sent in clear text."""
    backup = parent_of(cluster)
    if backup is not None:
        yield from clear_text(backup.repository, _REPOSITORY)


RESTORE_CHECKS = (_one_target, _own_archive, _secrets, _transport)
"""Checks of what a new cluster begins with."""
