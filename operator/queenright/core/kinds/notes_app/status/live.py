"""Status of an application without a valid file, read from the Swarm objects.

Decides from the labels of what is deployed. Invariant: nothing is compared and nothing is planned.
"""

from __future__ import annotations

from queenright.core.kinds.notes_app.desired.edge import EDGE_ROLE
from queenright.core.kinds.notes_app.status.rows import (
    AppStatus,
    EdgeRow,
    replica_rows,
    running_on,
)
from queenright.core.observed import LiveService, Observed, SwarmState
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import APP_LABEL, DATABASE_LABEL, IMAGE_LABEL, ROLE_LABEL


def live_app(name: str, swarm: SwarmState, observed: Observed) -> AppStatus:
    """An application that is in the swarm."""
    services = swarm.index.services_labelled(APP_LABEL, name)
    webs = [live for live in services if live.value.labels.get(ROLE_LABEL) == "web"]
    labels = webs[0].value.labels if webs else {}
    image = labels.get(IMAGE_LABEL, webs[0].value.image) if webs else ""
    cluster = labels.get(DATABASE_LABEL, "")
    return AppStatus(
        name,
        tuple(row for web in webs for row in replica_rows(web, swarm, observed)),
        Plan(name, ""),
        image=image.partition("@")[0],
        database=f"of cluster {cluster}" if cluster else "",
        published=tuple(
            f"{live.value.name}:{port.published} ({port.mode})"
            for live in services
            for port in live.value.ports
        ),
        edges=tuple(
            live_edge(live, swarm)
            for live in services
            if live.value.labels.get(ROLE_LABEL) == EDGE_ROLE
        ),
        is_compared=False,
    )


def live_edge(live: LiveService, swarm: SwarmState) -> EdgeRow:
    nodes = [running_on(task, swarm) for task in swarm.tasks_of(live.id)]
    names = {node.name for node in nodes if node is not None}
    return EdgeRow(live.value.name, tuple(sorted(names)))
