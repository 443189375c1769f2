"""Rule for synchronous replication: holds while the mode that was set is not in force yet.

Patroni's leader chooses the replicas in a round of its loop. Nothing is written here: the settings
are the rule's for Patroni's settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.replication.first_replica import is_strict_early
from queenright.core.kinds.postgres_cluster.replication.settings import (
    REPLICATION_KEY,
    read_replication,
)
from queenright.core.kinds.postgres_cluster.replication.standbys import confirms
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold


def plan_replication(state: ClusterState) -> Iterator[AnyAction | Hold]:
    if not state.is_bootstrapped or REPLICATION_KEY not in state.desired.settings:
        return
    present = read_replication(state.known_settings)
    if not present.is_synchronous or state.leader is None:
        return
    found = [m.name for m in state.desired.members if confirms(state.status(m))]
    key = f"replication/{state.desired.name}"
    if len(found) >= present.nodes:
        return
    if found:
        reason = (
            f"replication: {', '.join(found)} confirms commits, {len(found)} of {present.nodes} "
            "replicas (no other one streams closely enough yet)"
        )
        yield Hold(key, reason)
        return
    reason = f"replication: {present.mode} is not in force yet (no replica is synchronous yet)"
    if is_strict_early(state, state.desired.settings, state.known_settings):
        reason += (
            "; replication.strict is written when a replica can confirm commits (until then they "
            "would wait)"
        )
    elif present.strict:
        reason += "; commits wait until one is, as replication.strict is true"
    yield Hold(key, reason, wants_attention=present.strict)
