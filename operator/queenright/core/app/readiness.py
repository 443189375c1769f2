"""A replica's answer on ``/readyz``: whether it can serve, its database too (spec: notes-app §4).

Decides which replicas have to be asked, and by which way: through the port that its node publishes,
or, where there is none, from within the application's own network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from queenright.core.app.desired import DesiredApp
    from queenright.core.observed import LiveService, SwarmState

MOST_SAID = 200
"""Characters of a replica's own words that are kept."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """One replica's answer. ``status`` is HTTP's (200, 503), ``reason`` its own word for not being
    ready, on one line."""

    status: int
    reason: str = ""

    @property
    def is_ready(self) -> bool:
        return self.status == 200


@dataclass(frozen=True, slots=True)
class Target:
    """A replica to be asked: ``address`` and ``port`` as they are reached from ``network``, or from
    anywhere where that is empty. ``image`` is what it runs."""

    task_id: str
    address: str
    port: int
    network: str = ""
    image: str = ""


def answer(status: int, body: str) -> Readiness:
    """The answer as it is kept: of a body, one line of printable text, and no more than that."""
    words = "".join(item if item.isprintable() else " " for item in body[: 4 * MOST_SAID])
    return Readiness(status, "" if status == 200 else " ".join(words.split())[:MOST_SAID])


def targets(desired: DesiredApp, swarm: SwarmState) -> Iterator[Target]:
    """The replicas that run, as they are deployed: which may be otherwise than the file wants."""
    live = swarm.service(desired.web.name)
    if live is None:
        return
    published = next((port for port in live.value.ports if port.mode == "host"), None)
    network = desired.network.name
    port = listening_port(live, desired.port)
    for task in swarm.tasks_of(live.id):
        node = swarm.node_by_id(task.node_id)
        if task.state != "running" or not swarm.runs(task) or node is None:
            continue
        if published is not None:
            yield Target(task.id, node.address, published.published)
        elif task.addresses.get(network):
            yield Target(task.id, task.addresses[network], port, network, live.value.image)


def listening_port(live: LiveService, default: int) -> int:
    written = live.value.environment.get("PORT", "")
    return int(written) if written.isdecimal() and len(written) < 6 else default
