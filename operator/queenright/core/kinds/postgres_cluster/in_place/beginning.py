"""The cluster's document while it begins anew from its own backup.

Decides from the document and the noted restore alone. Invariant: what the file says of a new
cluster's beginning has no effect on a cluster that begins anew.
"""

from __future__ import annotations

from datetime import datetime

from queenright.core.kinds.postgres_cluster.in_place.note import WantedRestore
from queenright.core.kinds.postgres_cluster.schema.bootstrap import (
    Bootstrap,
    BootstrapSource,
    RestoredBackup,
    RestoreTarget,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster


def with_noted_restore(cluster: PostgresCluster, wanted: WantedRestore | None) -> PostgresCluster:
    """Return the document as that of a cluster that begins with its own backup; the same one where
    nothing is noted, or where the file has no repository any more (``plan_in_place`` says so)."""
    backup = cluster.spec.backup
    if wanted is None or backup is None:
        return cluster
    own = RestoredBackup.model_construct(
        repository=backup.repository,
        cluster=cluster.metadata.name,
        system=wanted.system or None,
        base=wanted.base or None,
        timeline=wanted.timeline or None,
        target=target_of(wanted),
    )
    source = BootstrapSource.model_construct(backup=own)
    bootstrap = Bootstrap.model_construct(source=source)
    spec = cluster.spec.model_copy(update={"bootstrap": bootstrap})
    return cluster.model_copy(update={"spec": spec})


def target_of(wanted: WantedRestore) -> RestoreTarget | None:
    """Return the target as the file would have it; None for the end of the archived WAL."""
    kind, _, value = wanted.target.partition(" ")
    match kind:
        case "time":
            return RestoreTarget.model_construct(time=datetime.fromisoformat(value))
        case "lsn":
            return RestoreTarget.model_construct(lsn=value)
        case "name":
            return RestoreTarget.model_construct(name=value)
        case _:
            return None
