"""Strict replication that waits for its first replica: with none, every commit would wait.

Decides from Patroni's settings and the members' answers. Invariant: a switch that is in force stays
as the file has it, whatever becomes of the replicas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.core.kinds.postgres_cluster.replication.settings import STRICT_KEY, read_replication
from queenright.core.kinds.postgres_cluster.replication.standbys import can_confirm
from queenright.core.kinds.postgres_cluster.state import ClusterState


def is_strict_early(
    state: ClusterState, wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> bool:
    """Return True for a switch that is not in force yet, and that no replica could meet: one member
    that grows to three would stop writes for the time of a base backup."""
    after = read_replication(wanted)
    if not after.strict or read_replication(found).strict:
        return False
    statuses = (state.status(member) for member in state.desired.members)
    return not any(status is not None and can_confirm(status, after) for status in statuses)


def without_early_strict(
    state: ClusterState, wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the wanted keys, but the present switch where it is too early for the file's."""
    if is_strict_early(state, wanted, found):
        return {**wanted, STRICT_KEY: found.get(STRICT_KEY)}
    return {**wanted}
