"""Rule for the services beside the replicas: the edge.

Decides after the replicas: an edge is deployed once they are, and stays while they are replaced.
One that the file no longer has is removed when clients can do without it; its volumes stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, RemoveService
from queenright.core.kinds.notes_app.edge_cutover import (
    format_ports,
    former_edges,
    is_port_shared,
    ports_of,
    why_edge_stays,
)
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.observed import LiveService
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_rollout import plan_service


def plan_edge(state: AppState) -> Iterator[AnyAction | Hold]:
    desired, swarm = state.desired, state.swarm
    if state.web is None or state.missing:
        return
    for service in desired.others:
        if all(swarm.config(item.name) for item in service.configs):
            yield from plan_service(state, service, obstacle=state.why_not_served())
    for edge in former_edges(state):
        yield take_down(state, edge)


def take_down(state: AppState, edge: LiveService) -> AnyAction | Hold:
    """Removal of an edge that the file no longer has, or a hold that says what it waits for.

    One whose clients have no other known way in is for a person to remove.
    """
    name, wanted = edge.value.name, state.desired.web
    key, gone = f"remove-service/{name}", f"service {name}: no longer in the file, and"
    ports = format_ports(ports_of(wanted))
    if not wanted.ports:
        return Hold(
            key,
            f"{gone} kept (the file has no other way in for clients); remove it when no client "
            f"needs it (docker service rm {name})",
            wants_attention=True,
        )
    if is_port_shared(state, edge):
        return Hold(
            key,
            f"{gone} kept (it has the port {ports}, by which the replicas are to be published); "
            "write another publish.port, which cuts no client off, or remove it (docker service rm "
            f"{name}), which cuts all off until the replicas are published",
            wants_attention=True,
        )
    if why := why_edge_stays(state, edge):
        return Hold(key, f"{gone} kept until every replica serves at port {ports} ({why})")
    volumes = [f"volume {item.source}" for item in edge.value.mounts if item.kind == "volume"]
    stay = [*volumes, *(f"secret {item.name}" for item in edge.value.secrets)]
    kept = f"; these stay: {', '.join(stay)}" if stay else ""
    reason = f"the file no longer has an edge, and every replica serves at port {ports}{kept}"
    return RemoveService(edge.id, name, reason=reason)
