"""The services beside the replicas: the edge, kept as it should be whatever happens to them.

Decides after the replicas: an edge is deployed once they are, and goes on while they come and go.
One that the file does not want any more goes when clients can do without it; its volumes stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, RemoveService
from queenright.core.app.passage import (
    former_edges,
    is_port_shared,
    ports_of,
    told,
    why_edge_stays,
)
from queenright.core.app.situation import AppSituation
from queenright.core.observed import LiveService
from queenright.core.plan import Hold
from queenright.core.servicing import plan_service


def plan_edge(situation: AppSituation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    if situation.web is None or situation.missing:
        return
    for service in desired.others:
        if all(swarm.config(item.name) for item in service.configs):
            yield from plan_service(situation, service, obstacle=situation.why_not_served())
    for edge in former_edges(situation):
        yield take_down(situation, edge)


def take_down(situation: AppSituation, edge: LiveService) -> Action | Hold:
    """The removal of an edge that the file has no more, or what it waits for. One whose clients
    have no other way in that we know of is its owner's to remove."""
    name, wanted = edge.value.name, situation.desired.web
    key, gone = f"remove-service/{name}", f"the file has no edge any more, and service {name}"
    ports = told(ports_of(wanted))
    if not wanted.ports:
        return Hold(
            key,
            f"{gone} still runs: when no client needs it, remove it (docker service rm {name})",
            wants_attention=True,
        )
    if is_port_shared(situation, edge):
        return Hold(
            key,
            f"{gone} still has the port {ports}, by which the replicas are to be published: "
            f"another publish.port cuts nobody off; or remove it (docker service rm {name}), and "
            "nobody is served until they are",
            wants_attention=True,
        )
    if why := why_edge_stays(situation, edge):
        return Hold(key, f"{gone} goes once every replica serves at port {ports}: {why}")
    volumes = [f"volume {item.source}" for item in edge.value.mounts if item.kind == "volume"]
    stay = [*volumes, *(f"secret {item.name}" for item in edge.value.secrets)]
    kept = f"; these stay: {', '.join(stay)}" if stay else ""
    reason = f"the file has no edge any more, and every replica serves at port {ports}{kept}"
    return RemoveService(edge.id, name, reason=reason)
