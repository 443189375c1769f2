"""Rule for a cluster without a leader: where Patroni elects none, the newest member is named.

``switchover.leaderless`` decides; the guard ``failover_loses_nothing`` repeats its conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.leaderless import decide_failover
from queenright.core.planning.plan import Hold


def plan_failover(state: ClusterState) -> Iterator[AnyAction | Hold]:
    step = decide_failover(state) if state.is_deployed else None
    if step is not None:
        yield step
