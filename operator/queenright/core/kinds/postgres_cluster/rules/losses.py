"""Rule for members that have lost something: a hold for each that does not come up by itself.

``losses.damage``, ``losses.lone_raft`` and ``losses.silent_raft`` find the words, and
``losses.removed`` those of a note for commits that a failover lost. What can be
repaired without a choice is repaired by others: by the member image (Raft's files), Patroni (an
empty data directory, a rewind), ``rules.raft`` and ``topology`` (a copy that was interrupted).
The job of a command that was killed while it asked where the data end is removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, RemoveService
from queenright.core.kinds.postgres_cluster.command_jobs import left_jobs
from queenright.core.kinds.postgres_cluster.desired.data_end import DATA_END_ROLE
from queenright.core.kinds.postgres_cluster.losses.damage import damage_holds
from queenright.core.kinds.postgres_cluster.losses.lone_raft import (
    lone_raft_holds,
    lost_quorum_holds,
)
from queenright.core.kinds.postgres_cluster.losses.removed import removed_holds
from queenright.core.kinds.postgres_cluster.losses.silent_raft import silent_raft_holds
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold


def plan_losses(state: ClusterState) -> Iterator[AnyAction | Hold]:
    for left in left_jobs(state, DATA_END_ROLE):
        reason = f"{left.value.name} was left behind by a command that asks where the data end"
        yield RemoveService(left.id, left.value.name, reason=reason)
    if state.is_deployed and state.is_bootstrapped:
        yield from damage_holds(state)
        yield from lone_raft_holds(state)
        yield from silent_raft_holds(state)
        yield from lost_quorum_holds(state)
        yield from removed_holds(state)
