"""The observation after an action has taken full effect.

Pure, and complete: every type of action has its effect here (mypy checks it by ``assert_never``).
Assumes that nothing fails: containers start, members stream, a job ends well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from queenright.core.actions import (
    AnyAction,
    CreateSecret,
    CreateUrlSecret,
    PatroniAction,
    RaftAction,
    SqlAction,
)
from queenright.core.forecast.catalog_effects import catalog_after, with_secret
from queenright.core.forecast.leading import archives, started, stopped
from queenright.core.forecast.members import Members
from queenright.core.forecast.patroni_effects import members_after
from queenright.core.forecast.swarm_effects import swarm_after
from queenright.core.forecast.tasks import Change
from queenright.core.kinds.kind import Desired
from queenright.core.kinds.members import with_members
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Known, Observed, SwarmState, Unknown
from queenright.core.observed.archiving import Archiving
from queenright.core.observed.readiness import Readiness
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import Catalog
from queenright.core.swarm.objects import APP_LABEL

READY = Known(Readiness(200))


def after(
    action: AnyAction,
    observed: Observed,
    desired: Mapping[DocumentKey, Desired],
    change: Change,
) -> Observed:
    """Return the observation after an action; ``desired`` has the clusters whose members it may
    touch, and ``change`` is its moment."""
    if not isinstance(observed.swarm, Known):
        return observed
    before = observed.swarm.value
    clusters = [*with_members(desired).values()]
    if isinstance(action, PatroniAction | RaftAction):
        for cluster in clusters:
            if cluster.name == action.cluster:
                observed = members_after(action, Members(cluster, observed)).observed
        return observed
    if isinstance(action, SqlAction):
        match observed.catalogs.get(action.cluster):
            case Known(catalog):
                found = {**observed.catalogs, action.cluster: Known(catalog_after(action, catalog))}
                return replace(observed, catalogs=found)
            case _:
                return observed
    swarm = swarm_after(action, before, change).in_order()
    observed = replace(observed, swarm=Known(swarm))
    if isinstance(action, CreateSecret | CreateUrlSecret):
        return replace(observed, catalogs=dict(catalogs(observed, clusters, action.secret.name)))
    for cluster in clusters:
        observed = following(Members(cluster, observed), before, swarm, change).observed
    return with_replicas(observed, before, swarm)


def catalogs(
    observed: Observed, clusters: list[DesiredCluster], secret: str
) -> Iterator[tuple[str, Known[Catalog] | Unknown]]:
    """Yield each leader's catalog once a secret is there."""
    wanted = {cluster.name: cluster.catalog for cluster in clusters}
    for name, found in observed.catalogs.items():
        if isinstance(found, Known) and name in wanted:
            yield name, Known(with_secret(found.value, wanted[name], secret))
        else:
            yield name, found


def following(members: Members, before: SwarmState, swarm: SwarmState, change: Change) -> Members:
    """Return the members after their tasks have changed. Those that start at once are started in
    the order of the file."""
    for service in members.services:
        old, new = (running(state, service) for state in (before, swarm))
        is_gone = before.service(service) is not None and swarm.service(service) is None
        if new and new != old:
            members = started(members, service)
        elif is_gone or (old and not new):
            members = stopped(members, service)
    is_new = members.cluster.name not in members.observed.archiving
    if members.cluster.archive and members.leader and is_new:
        members = archives(members, Archiving(change.at, is_on=True))
    return members


def running(swarm: SwarmState, service: str) -> frozenset[str]:
    live = swarm.service(service)
    return frozenset(task.id for task in swarm.running_tasks(live.id)) if live else frozenset()


def with_replicas(observed: Observed, before: SwarmState, swarm: SwarmState) -> Observed:
    """Return the observation with the answers of an application's new replicas: each is ready."""
    known = {task.id for task in before.tasks}
    fresh = {
        task.id: READY
        for live in swarm.services
        if APP_LABEL in live.value.labels
        for task in swarm.running_tasks(live.id)
        if task.id not in known
    }
    return replace(observed, readiness={**observed.readiness, **fresh}) if fresh else observed
