"""Replicas that confirm commits, or could: by their own answers and Patroni's settings.

Decides nothing. Invariant: an answer that is missing, or without a lag where there is a limit, is
that of a replica that can't.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.replication.settings import Replication
from queenright.core.observed import MemberStatus
from queenright.core.swarm.label_values import read_whole


def can_confirm(status: MemberStatus, wanted: Replication) -> bool:
    """Return True if Patroni may choose this replica to confirm commits.

    It streams, is not too far behind, and has no tag against it (``nosync``, or ``sync_priority``
    0 or less).
    """
    if not status.is_streaming or has_no_part(status):
        return False
    if wanted.maximum_lag_bytes is None:
        return True
    return status.lag_bytes is not None and status.lag_bytes <= wanted.maximum_lag_bytes


def has_no_part(status: MemberStatus) -> bool:
    """Return True if a tag keeps the replica from confirming; ``sync_priority`` counts only where
    ``nosync`` is not there."""
    match status.tags.get("nosync"):
        case None:
            word = str(status.tags.get("sync_priority", 1)).strip()
            return word.startswith("-") or read_whole(word) == 0
        case nosync:
            return bool(nosync)


def confirms(status: MemberStatus | None) -> bool:
    """Return True if the replica is in Patroni's /sync key, so that it has what was acknowledged,
    or its vote counts for who has."""
    return status is not None and status.synchronous != ""
