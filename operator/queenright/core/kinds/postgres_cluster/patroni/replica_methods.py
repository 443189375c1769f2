"""Patroni's methods to make a replica, in its own settings: from the backup, or by a copy.

Patroni tries its methods in their order, so that a member is copied from another one where the
backup can't be used. Invariant: the keys are the file's only where it has the field, or had it, as
the method's own name says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.core.kinds.postgres_cluster.schema.backup import BackupSpec

METHODS_KEY = "create_replica_methods"
METHOD = "queenright_backup"
COPY = "basebackup"
"""Patroni's own method, `pg_basebackup` from another member."""
COMMAND = "replica-restore"
"""The member image's program. What it can't do it says in one line, with status 1."""


def written_methods(backup: BackupSpec | None) -> dict[str, Any]:
    """Return the file's keys of Patroni's `postgresql` section; none for Patroni's default."""
    if backup is None or backup.create_replicas_from == "leader":
        return {}
    return {METHODS_KEY: [METHOD, COPY], METHOD: {"command": COMMAND}}


def wanted_methods(written: Mapping[str, Any], found: object) -> dict[str, None]:
    """Return the keys to remove from the section that was ``found``, with None as their value; none
    where the file has the field, or never had it."""
    if METHOD in written or not isinstance(found, Mapping) or METHOD not in found:
        return {}
    return {METHODS_KEY: None, METHOD: None}
