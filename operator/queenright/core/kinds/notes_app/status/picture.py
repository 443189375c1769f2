"""An application as a picture: its replicas and its edge on their nodes.

Decides from the desired state and one observation. Invariant: a replica is shown as well by its own
answer alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.notes_app.desired.app import DesiredApp
from queenright.core.kinds.notes_app.status.rows import UNKNOWN, ReplicaRow, edge_rows, replica_rows
from queenright.core.observed import Observed, SwarmState
from queenright.core.planning.picture import NOWHERE, Part, Tone


def app_parts(desired: DesiredApp, observed: Observed, swarm: SwarmState) -> Iterator[Part]:
    """The parts of an application: its replicas, then its edge."""
    live = swarm.service(desired.web.name)
    for row in replica_rows(live, swarm, observed) if live else ():
        words = (row.task, f"ready: {row.ready}" if row.ready else "", row.remark)
        yield Part(row.node, "replica", str(row.slot), tone_of(row), words)
    for edge in edge_rows(desired, swarm):
        for node in edge.nodes:
            yield Part(node, "edge", edge.service, "well", ("running",))
        if edge.waits:
            yield Part(NOWHERE, "edge", edge.service, "waits", edge.waits)


def tone_of(row: ReplicaRow) -> Tone:
    if row.ready == "yes":
        return "well"
    if UNKNOWN in (row.task, row.ready):
        return "unknown"
    return "broken" if row.ready == "no" else "waits"
