"""Rule for the leadership: planned switchovers, and reports of failovers.

``switchover.decision`` decides; its annotations are written with the state config, before the
switchover.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.decision import decide_leader
from queenright.core.planning.plan import Hold


def plan_leadership(state: ClusterState) -> Iterator[AnyAction | Hold]:
    if state.is_deployed and state.swarm.config(state.desired.state_config.name):
        yield from decide_leader(state).steps
