"""Jobs that a command creates, reads and removes: what is left of one that was killed.

The operator removes it. Invariant: a job that a command may still read stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import LiveService
from queenright.core.planning.ages import certain_age
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

LASTS = timedelta(minutes=10)
"""Age at which a command's job is nobody's any more: a command waits for less."""
LINES = 10_000
"""Lines of a job's output that are read."""


def left_jobs(state: ClusterState, role: str) -> Iterator[LiveService]:
    """Yield the jobs of this role that a command has left behind."""
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if live.value.labels.get(ROLE_LABEL) == role:
            age = certain_age(live.created_at, state.now, state.seen_s_ago.get(live.id))
            if age > LASTS:
                yield live
