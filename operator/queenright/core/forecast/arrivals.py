"""The end of what swarm and the members are doing already when a forecast begins.

Pure. Assumes what the effects of actions assume: a task on its way comes up, one that is being
stopped ends, and a member whose container has just started joins. Invariant: nothing is assumed of
a service of which a task failed, of a node that is not ready, or of a task that no node takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from queenright.core.forecast.effects import following, with_replicas
from queenright.core.forecast.leading import started
from queenright.core.forecast.members import Members
from queenright.core.forecast.tasks import Change, is_job, with_tasks
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Known, LiveService, Observed, SwarmState, Task
from queenright.core.observed.task_states import ALIVE_STATES
from queenright.core.planning.service_context import is_under_way

JOINS = timedelta(seconds=60)
"""The age up to which a member's container may not have joined yet. A first copy may take longer:
after that, what the member says stands."""


def arrived(
    observed: Observed, clusters: Iterable[DesiredCluster], change: Change
) -> Observed | None:
    """Return the observation once everything under way has ended, ``change`` is its moment; None
    where nothing is under way."""
    if not isinstance(observed.swarm, Known):
        return None
    before = observed.swarm.value
    swarm, clusters = swarm_arrived(before, change), [*clusters]
    young = [*young_members(observed, before, clusters, change.at)]
    if swarm is None and not young:
        return None
    if swarm is not None:
        observed = replace(observed, swarm=Known(swarm))
        for cluster in clusters:
            observed = following(Members(cluster, observed), before, swarm, change).observed
        observed = with_replicas(observed, before, swarm)
    for cluster, service in young:
        observed = started(Members(cluster, observed), service).observed
    return observed


def swarm_arrived(swarm: SwarmState, change: Change) -> SwarmState | None:
    """Return the swarm with its tasks where they belong; None where they are there."""
    known = {live.id for live in swarm.services}
    kept = [task for task in swarm.tasks if task.service_id in known or not ends(swarm, task)]
    is_changed = len(kept) < len(swarm.tasks)
    found = replace(swarm, tasks=tuple(kept))
    for live in moving(swarm):
        is_changed = True
        others = tuple(
            task for task in found.tasks if task.service_id != live.id or rests(swarm, task)
        )
        live_after = replace(live, update_state="completed") if live.update_state else live
        services = tuple(live_after if one.id == live.id else one for one in found.services)
        found = with_tasks(replace(found, services=services, tasks=others), live_after, change)
    return found.in_order() if is_changed else None


def moving(swarm: SwarmState) -> Iterator[LiveService]:
    """Yield the services of which a task comes or goes, and none has failed. Swarm calls an update
    one that goes on for a while after its last task has started (``UpdatePolicy.monitor_s``)."""
    for live in swarm.services:
        tasks = [*swarm.tasks_of(live.id)]
        coming = [task for task in tasks if comes(swarm, task)]
        going = [task for task in tasks if ends(swarm, task)]
        failed = any(task.error for task in tasks if task.node_id)
        # A task without a node may be one that no node takes, unless another one makes room.
        stays = any(not task.node_id for task in coming) and not going
        if (
            (coming or going or is_under_way(live))
            and not failed
            and not stays
            and not is_job(live.value)
        ):
            yield live


def comes(swarm: SwarmState, task: Task) -> bool:
    return swarm.runs(task) and task.state != "running"


def ends(swarm: SwarmState, task: Task) -> bool:
    """Return True for a task that swarm is stopping on a node that it can reach."""
    return task.state in ALIVE_STATES and not task.is_alive and swarm.is_heard(task)


def rests(swarm: SwarmState, task: Task) -> bool:
    return not comes(swarm, task) and not ends(swarm, task)


def young_members(
    observed: Observed, swarm: SwarmState, clusters: Iterable[DesiredCluster], now: datetime
) -> Iterator[tuple[DesiredCluster, str]]:
    """Yield the members whose container runs for less than ``JOINS``, and has not joined yet."""
    for cluster in clusters:
        members = Members(cluster, observed)
        for service in members.services:
            live, status = swarm.service(service), members.status(service)
            task = swarm.sole_task(live.id) if live is not None else None
            if task is None or now - task.at > JOINS:
                continue
            has_joined = status is not None and (
                status.is_leader or status.replication_state == "streaming"
            )
            if not has_joined:
                yield cluster, service
