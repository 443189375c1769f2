"""Cutover from a published port to the edge, and back, without a gap for clients.

Decides from what is deployed. Invariant: neither is removed before the other one serves, unless
both want the same port, which is free for the second only when the first is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.kinds.notes_app.desired.edge import EDGE_ROLE
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.observed import LiveService
from queenright.core.observed.ages import age_of
from queenright.core.planning.ages import certain_age
from queenright.core.planning.service_context import SETTLES
from queenright.core.planning.task_watch import places
from queenright.core.swarm.objects import ROLE_LABEL, Service

AT_REST = frozenset({"", "completed", "rollback_completed"})
"""Swarm's update states of a service whose every task is what the service says."""


def is_told_just_now(state: AppState, live: LiveService) -> bool:
    """True if swarm may not have begun with the last change: at first it reports no state."""
    is_silent = live.update_state == "" and live.updated_at != live.created_at
    return is_silent and changed_ago(state, live) <= SETTLES


def changed_ago(state: AppState, live: LiveService) -> timedelta:
    """Least time since the service was changed."""
    return certain_age(live.updated_at, state.now, age_of(state.seen_s_ago, live.id))


def is_at_rest(state: AppState, live: LiveService) -> bool:
    """True if each task is known to be what the service says."""
    return live.update_state in AT_REST and not is_told_just_now(state, live)


def why_ports_stay(state: AppState) -> str | None:
    """Reason why the replicas keep their published ports; None where they may change."""
    live, desired = state.web, state.desired
    if live is None:
        return None
    present, wanted = ports_of(live.value), ports_of(desired.web)
    for edge in former_edges(state):
        if shared := wanted & ports_of(edge.value):
            user = f"{edge.value.name}, which is no longer in the file"
            return f"port {format_ports(shared)} is still used by {user}"
    if not present - wanted:
        return None
    for edge_service in desired.others:
        why = why_not_running(state, edge_service)
        if why is not None and not present & ports_of(edge_service):
            return (
                f"clients use port {format_ports(present - wanted)} until the edge runs, and {why}"
            )
    return None


def why_edge_stays(state: AppState, edge: LiveService) -> str | None:
    """Reason why an edge that the file no longer has is not removed yet; None if it may be.

    It may be when clients can do without: each replica is published as the file says, and serves.
    """
    live, wanted = state.web, state.desired.web
    if live is None or (live.value.ports, live.value.endpoint_mode) != (
        wanted.ports,
        wanted.endpoint_mode,
    ):
        return f"{wanted.name} is not published yet"
    if not is_at_rest(state, live):
        return f"swarm has not published all replicas yet (update {live.update_state or 'begins'})"
    return state.why_not_whole()


def is_port_shared(state: AppState, edge: LiveService) -> bool:
    return bool(ports_of(state.desired.web) & ports_of(edge.value))


def former_edges(state: AppState) -> Iterator[LiveService]:
    """Edges of the application that its file no longer has."""
    wanted = {service.name for service in state.desired.services}
    for live in state.services:
        if live.value.labels.get(ROLE_LABEL) == EDGE_ROLE and live.value.name not in wanted:
            yield live


def why_not_running(state: AppState, service: Service) -> str | None:
    """Reason why not each of a service's tasks is known to run; None when each is."""
    live = state.swarm.service(service.name)
    if live is None:
        return f"{service.name} is not deployed yet"
    running = list(state.swarm.running_tasks(live.id))
    empty = [
        place
        for place, tasks in places(state, live).items()
        if not any(task in running for task in tasks)
    ]
    if live.value.mode == "replicated" and len(running) < live.value.replicas:
        return f"{len(running)} of {live.value.replicas} of {service.name} run"
    if empty:
        return f"{service.name} does not run on {', '.join(sorted(empty))} yet"
    return None if running else f"{service.name} runs on no node yet"


def ports_of(service: Service) -> frozenset[int]:
    return frozenset(port.published for port in service.ports)


def format_ports(ports: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(ports)))
