"""Replicas to be asked for ``/readyz``, and the address of each (spec: notes-app §4).

Decides which replicas have to be asked, and how: through the port that their node publishes, or,
where there is none, from within the application's own network.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from queenright.core.observed.readiness import ReadinessTarget
from queenright.core.swarm.objects import HOST_NETWORK

if TYPE_CHECKING:
    from queenright.core.kinds.notes_app.desired.app import DesiredApp
    from queenright.core.observed import LiveService, SwarmState, Task

INGRESS_NETWORK = "ingress"
"""Docker's name for the network of published ports, to which no container can be attached."""


def targets(desired: DesiredApp, swarm: SwarmState) -> Iterator[ReadinessTarget]:
    """The running replicas as they are deployed, which may differ from the file."""
    live = swarm.service(desired.web.name)
    if live is None:
        return
    published = next((port for port in live.value.ports if port.mode == "host"), None)
    port = listening_port(live, desired.port)
    for task in swarm.tasks_of(live.id):
        node = swarm.node_by_id(task.node_id)
        if task.state != "running" or not swarm.runs(task) or node is None:
            continue
        if published is not None:
            yield ReadinessTarget(task.id, node.address, published.published)
        elif network := network_of(task, desired.network.name):
            yield ReadinessTarget(task.id, task.addresses[network], port, network, live.value.image)


def network_of(task: Task, wanted: str) -> str:
    """Network by which a replica is reached; empty where it has no address yet.

    The desired one where the replica is on it, else its own.
    """
    found = sorted(name for name, address in task.addresses.items() if address)
    own = [name for name in found if name not in {INGRESS_NETWORK, HOST_NETWORK}]
    return wanted if wanted in own else next(iter(own), "")


def listening_port(live: LiveService, default: int) -> int:
    written = live.value.environment.get("PORT", "")
    return int(written) if written.isdecimal() and len(written) < 6 else default
