"""From a published port to the edge, and back: clients have one of the two ways at any moment.

Decides from what is deployed. Invariant: neither way in is taken away before the other one serves,
but where both want the same port, which is free for the second only when the first is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from queenright.core.app.edge import EDGE_ROLE
from queenright.core.app.situation import AppSituation
from queenright.core.observed import LiveService
from queenright.core.resources import ROLE_LABEL, Service
from queenright.core.servicing import places
from queenright.core.situation import SETTLES

AT_REST = frozenset({"", "completed", "rollback_completed"})
"""Swarm's words for a service whose every task is what the service says."""


def is_told_just_now(live: LiveService, now: datetime) -> bool:
    """Whether swarm may not have begun with the last change: of one it says nothing at first."""
    is_silent = live.update_state == "" and live.updated_at != live.created_at
    return is_silent and now - live.updated_at <= SETTLES


def is_at_rest(live: LiveService, now: datetime) -> bool:
    """Whether each task is known to be what the service says."""
    return live.update_state in AT_REST and not is_told_just_now(live, now)


def why_ports_stay(situation: AppSituation) -> str | None:
    """Why the replicas are not published otherwise yet; None where they may be."""
    live, desired = situation.web, situation.desired
    if live is None:
        return None
    present, wanted = ports_of(live.value), ports_of(desired.web)
    for edge in former_edges(situation):
        if shared := wanted & ports_of(edge.value):
            name = edge.value.name
            return f"port {told(shared)} is still that of {name}, which the file has no more"
    if not present - wanted:
        return None
    for edge_service in desired.others:
        why = why_not_running(situation, edge_service)
        if why is not None and not present & ports_of(edge_service):
            return f"clients come to port {told(present - wanted)} until the edge runs, and {why}"
    return None


def why_edge_stays(situation: AppSituation, edge: LiveService) -> str | None:
    """Why an edge that the file has no more is not removed yet; None where clients can do without:
    each replica is published as the file says, and serves."""
    live, wanted = situation.web, situation.desired.web
    if live is None or (live.value.ports, live.value.endpoint_mode) != (
        wanted.ports,
        wanted.endpoint_mode,
    ):
        return f"{wanted.name} is not published yet"
    if not is_at_rest(live, situation.now):
        return f"swarm has not published all replicas yet (update {live.update_state or 'begins'})"
    return situation.why_not_whole()


def is_port_shared(situation: AppSituation, edge: LiveService) -> bool:
    return bool(ports_of(situation.desired.web) & ports_of(edge.value))


def former_edges(situation: AppSituation) -> Iterator[LiveService]:
    """Edges of the application that its file does not want."""
    wanted = {service.name for service in situation.desired.services}
    for live in situation.services:
        if live.value.labels.get(ROLE_LABEL) == EDGE_ROLE and live.value.name not in wanted:
            yield live


def why_not_running(situation: AppSituation, service: Service) -> str | None:
    """Why not each of a service's tasks is known to run; None when each is."""
    live = situation.swarm.service(service.name)
    if live is None:
        return f"{service.name} is not deployed yet"
    running = list(situation.swarm.running_tasks(live.id))
    empty = [
        place
        for place, tasks in places(situation, live).items()
        if not any(task in running for task in tasks)
    ]
    if live.value.mode == "replicated" and len(running) < live.value.replicas:
        return f"{len(running)} of {live.value.replicas} of {service.name} run"
    if empty:
        return f"{service.name} does not run on {', '.join(sorted(empty))} yet"
    return None if running else f"{service.name} runs nowhere yet"


def ports_of(service: Service) -> frozenset[int]:
    return frozenset(port.published for port in service.ports)


def told(ports: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(ports)))
