"""Archiving of WAL: read how far the leader has come.

Invariant: only the member that alone proves the leader lock is asked, and it confirms on the
connection that it is a primary.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Archiving, Known, NotAsked, Observed, SwarmState, Unknown
from queenright.engine.observe_databases import MemberReadings, server_of, sole_leader
from queenright.ports import Ports
from queenright.ports.errors import LookOnlyError, PortError

ArchivingReading = Known[Archiving] | Unknown


async def observe_archiving(
    ports: Ports, cluster: DesiredCluster, swarm: SwarmState, readings: MemberReadings
) -> ArchivingReading:
    """Return the leader's archiving, or why it is not known."""
    leader = sole_leader(cluster, readings)
    if leader is None:
        return Unknown("no leader on which all observations agree")
    try:
        return Known(await ports.archiving.read(await server_of(ports, cluster, leader, swarm)))
    except LookOnlyError as error:
        return NotAsked(str(error))
    except PortError as error:
        return Unknown(str(error))


def archive_figures(observed: Observed) -> dict[str, dict[str, float]]:
    """Return the log's fields about archived WAL, by cluster: the age of the last file in seconds,
    and the bytes that wait; no field where nothing is archived."""
    found = {
        name: reading.value
        for name, reading in observed.archiving.items()
        if isinstance(reading, Known) and reading.value.is_on
    }
    if not found:
        return {}
    return {
        "archived_s_ago": {
            name: round(one.last_age.total_seconds(), 1)
            for name, one in found.items()
            if one.last_age is not None
        },
        "archive_waiting_bytes": {name: one.waiting_bytes for name, one in found.items()},
    }
