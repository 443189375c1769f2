"""The members, replicas and canaries that the loop follows between passes, from the last pass.

Each function asks one document at a time: a fault in one does not affect the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from queenright.core.kinds.postgres_cluster.annotations import Annotations, read_annotations
from queenright.core.kinds.postgres_cluster.canary.canary import CanaryPlace, canary_place
from queenright.core.kinds.postgres_cluster.deployed import access_to
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Known
from queenright.core.observed.readiness import ReadinessTarget
from queenright.engine.faults import Faults
from queenright.engine.planning import PlannedPass
from queenright.engine.reconcile import PassResult
from queenright.engine.watchers import MemberAddress


def deployed_members(result: PassResult, faults: Faults) -> tuple[MemberAddress, ...]:
    """Return the members that a watcher can ask: those whose service is in the swarm."""
    swarm = result.survey.observed.swarm
    if not isinstance(swarm, Known):
        return ()
    found: list[MemberAddress] = []
    for view in result.survey.of(POSTGRES_CLUSTER):
        if view.desired is not None:
            with faults.kept_from_others(view.key, "watching"):
                for member in view.desired.members:
                    if swarm.value.service(member.service.name):
                        access = access_to(view.desired, member, swarm.value)
                        found.append((member.service.name, access.address, access.rest_api_port))
    return tuple(found)


def running_replicas(result: PassResult, faults: Faults) -> tuple[ReadinessTarget, ...]:
    """Return the replicas that a watcher can ask."""
    swarm = result.survey.observed.swarm
    if not isinstance(swarm, Known):
        return ()
    found: list[ReadinessTarget] = []
    for view in result.survey.views:
        if view.desired is not None:
            with faults.kept_from_others(view.key, "watching"):
                found += KINDS[view.key.kind].readiness(view.desired, swarm.value)
    return tuple(found)


def leader_annotations(survey: PlannedPass, faults: Faults) -> dict[str, Annotations]:
    """Return the annotations of each deployed cluster with a document."""
    if not isinstance(survey.observed.swarm, Known):
        return {}
    swarm, found = survey.observed.swarm.value, {}
    for view in survey.of(POSTGRES_CLUSTER):
        live = swarm.config(view.desired.state_config.name) if view.desired else None
        if live is not None:
            with faults.kept_from_others(view.key, "watching"):
                found[view.name] = read_annotations(live.value.labels)
    return found


def undecided(survey: PlannedPass) -> frozenset[str]:
    """Return the clusters with a document whose desired state this pass could not compute: a swarm
    that can't be read is no reason to stop a canary."""
    return frozenset(
        v.name for v in survey.of(POSTGRES_CLUSTER) if v.document and v.desired is None
    )


def canary_places(
    survey: PlannedPass, leaders: Mapping[str, Annotations], now: datetime, faults: Faults
) -> dict[str, CanaryPlace]:
    """Return the places where canaries write now: in clusters that have had a leader, and for which
    the operator is not paused."""
    if not isinstance(survey.observed.swarm, Known):
        return {}
    swarm = survey.observed.swarm.value
    nodes = {node.name: node.address for node in swarm.nodes}
    led = {name: lead.member for name, note in leaders.items() if (lead := note.leader)}
    found = {}
    for view in survey.of(POSTGRES_CLUSTER):
        if view.desired is None or view.name not in led:
            continue
        with faults.kept_from_others(view.key, "watching"):
            secrets = (
                access_to(view.desired, member, swarm).superuser_secret
                for member in view.desired.members
                if member.name == led[view.name]
            )
            place = canary_place(view.desired, nodes, next(secrets, ""))
            if place is not None and not view.desired.policy.reconcile.is_paused(now):
                found[view.name] = place
    return found
