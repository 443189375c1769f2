"""Rule for the archiving of WAL: holds while it is not in force, and while too much waits.

Nothing is written here: environment and secrets are the members' rule's, the parameters those of
Patroni's settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.backup.archiving import (
    is_overdue,
    overdue_reason,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, NotAsked, Unknown
from queenright.core.planning.plan import Hold

ASPECT = "backup"


def plan_backup(state: ClusterState) -> Iterator[AnyAction | Hold]:
    leader = state.leader
    if not state.desired.archive or not state.is_bootstrapped or leader is None:
        return
    key = f"{ASPECT}/{state.desired.name}"
    match state.archiving:
        case NotAsked(why):
            yield Hold(key, f"backup: archiving is not looked at here ({why})", None, False, True)
        case Unknown(why):
            yield Hold(key, f"backup: how far the archive has come is not known ({why})")
        case Known(found) if not found.is_on:
            reason = (
                f"backup: {leader.name} archives nothing yet (its PostgreSQL was started without "
                "archive_mode); ends with its restart or a switchover"
            )
            yield Hold(key, reason)
        case Known(found) if is_overdue(found):
            place = state.desired.archive
            reason = overdue_reason(found, leader.name, leader.service.name, place)
            yield Hold(key, reason, wants_attention=True)
