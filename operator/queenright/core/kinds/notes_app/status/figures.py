"""An application in figures, for the log's line `state`.

Decides from the desired state and one observation. Invariant: a replica counts as ready by its own
answer alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from queenright.core.kinds.notes_app.desired.app import DesiredApp
from queenright.core.kinds.notes_app.status.rows import edge_rows, replica_rows
from queenright.core.observed import Observed, SwarmState
from queenright.core.swarm.objects import IMAGE_LABEL


def app_figures(desired: DesiredApp, observed: Observed, swarm: SwarmState) -> Mapping[str, object]:
    """Return the figures by their keys (docs/monitoring.md)."""
    live = swarm.service(desired.web.name)
    rows = [*replica_rows(live, swarm, observed)] if live else []
    ready = sum(row.ready == "yes" for row in rows)
    edges = [*edge_rows(desired, swarm)]
    image = live.value.labels.get(IMAGE_LABEL, live.value.image).partition("@")[0] if live else ""
    return {
        "image": image,
        "replicas": desired.web.replicas,
        "replicas_ready": ready,
        "replicas_unready": max(0, desired.web.replicas - ready),
        "edges": len(edges),
        "edges_waiting": sum(bool(edge.waits) for edge in edges),
    }
