"""Status of synchronous replication, as text: the mode in force and the replicas that confirm.

Decides from Patroni's settings and every member's answer. Invariant: a mode that the file asks
for is never shown as the one in force.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.replication.settings import (
    REPLICATION_KEY,
    read_replication,
)
from queenright.core.kinds.postgres_cluster.replication.standbys import confirms
from queenright.core.observed import Known, MemberStatus, Observed


def replication_texts(desired: DesiredCluster, observed: Observed) -> Iterator[str]:
    """Yield the mode in force, and the file's where it is another one; nothing where replication is
    asynchronous, as it always was."""
    asked = read_replication(desired.settings)
    match observed.settings.get(desired.name):
        case Known(settings):
            present = read_replication(settings)
        case _:
            if asked.is_synchronous:
                yield f"{asked.mode} is desired; what is in force is unknown"
            return
    is_set = REPLICATION_KEY in desired.settings or REPLICATION_KEY in settings
    if is_set and present != asked and (present.mode, asked.mode) != ("asynchronous",) * 2:
        told = f"{present.mode} is in force, {asked.mode} is desired"
        yield f"{told}{' with other values' if present.mode == asked.mode else ''}"
    if not present.is_synchronous:
        return
    found = [m.name for m in desired.members if confirms(_status(desired, m.name, observed))]
    if not found:
        return
    count = min(present.nodes, len(found))
    whom = f"any {count} of {', '.join(found)}" if present.mode == "quorum" else ", ".join(found)
    strict = "; without one they wait" if present.strict else ""
    yield f"{present.mode}: commits wait for {whom}{strict}"


def _status(desired: DesiredCluster, member: str, observed: Observed) -> MemberStatus | None:
    match observed.members.get(f"{desired.name}_{member}"):
        case Known(status):
            return status
        case _:
            return None
