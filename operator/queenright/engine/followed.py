"""The members, replicas and canaries that the loop follows between passes, from the last pass.

Each function asks one document at a time: a fault in one does not affect the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from queenright.core.kinds.postgres_cluster.annotations import Annotations, read_annotations
from queenright.core.kinds.postgres_cluster.canary.canary import (
    CanaryPlace,
    canary_place,
    leader_change,
)
from queenright.core.kinds.postgres_cluster.deployed import access_to
from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Known
from queenright.core.observed.readiness import ReadinessTarget
from queenright.engine.canary import Canaries
from queenright.engine.faults import Faults
from queenright.engine.give_way import give_way
from queenright.engine.planning import PlannedPass
from queenright.engine.watchers import MemberAddress
from queenright.ports.clock import Clock

log = structlog.get_logger()


@dataclass
class Followed:
    """The members and replicas to watch, the canaries, and the last leaders."""

    clock: Clock
    canaries: Canaries | None = None
    members: tuple[MemberAddress, ...] = ()
    replicas: Mapping[ReadinessTarget, str] = field(default_factory=dict)
    """The replicas, with their documents' names."""
    _notes: dict[str, Annotations] = field(default_factory=dict, init=False)

    async def follow(self, survey: PlannedPass, faults: Faults, *, is_standby: bool) -> None:
        """Update everything after a full pass; a document's fault stays its own. Between two steps
        the event loop runs whatever else is due."""
        await give_way()
        self.members = deployed_members(survey, faults)
        await give_way()
        self.replicas = running_replicas(survey, faults)
        await give_way()
        if is_standby:
            self.end_canaries()
        elif self.canaries is not None:
            leaders = leader_annotations(survey, faults)
            await give_way()
            places = canary_places(survey, leaders, self.clock.now(), faults)
            await give_way()
            self.canaries.keep(places, undecided(survey))
            self._tell(leaders)

    def tell_leaders(self, survey: PlannedPass, faults: Faults) -> None:
        """Do what can't wait after a pass over some documents: log their changes of leader."""
        self._tell(leader_annotations(survey, faults))

    def _tell(self, leaders: Mapping[str, Annotations]) -> None:
        """Log the leaders that have changed since, and inform the canaries."""
        for name, seen in leaders.items():
            if (before := self._notes.get(name)) and (change := leader_change(name, before, seen)):
                log.info(
                    "leader",
                    cluster=name,
                    before=change.before,
                    leader=change.after,
                    timeline=change.timeline,
                    cause=change.cause,
                )
                if self.canaries is not None:
                    self.canaries.changed(change)
        self._notes |= leaders

    def end_canaries(self) -> None:
        if self.canaries is not None:
            self.canaries.keep({})

    def measured(self) -> dict[str, Mapping[str, int | str | None]]:
        """Return each canary's last measurement, by its cluster."""
        return self.canaries.measured() if self.canaries is not None else {}


def deployed_members(survey: PlannedPass, faults: Faults) -> tuple[MemberAddress, ...]:
    """Return the members that a watcher can ask: those whose service is in the swarm."""
    swarm = survey.observed.swarm
    if not isinstance(swarm, Known):
        return ()
    found: list[MemberAddress] = []
    for view in survey.with_members():
        if view.desired is not None:
            with faults.kept_from_others(view.key, "watching"):
                for member in view.desired.members:
                    if swarm.value.service(member.service.name):
                        access = access_to(view.desired, member, swarm.value)
                        found.append((member.service.name, access.address, access.rest_api_port))
    return tuple(found)


def running_replicas(survey: PlannedPass, faults: Faults) -> dict[ReadinessTarget, str]:
    """Return the replicas that a watcher can ask, with their documents' names."""
    swarm = survey.observed.swarm
    if not isinstance(swarm, Known):
        return {}
    found: dict[ReadinessTarget, str] = {}
    for view in survey.views:
        if view.desired is not None:
            with faults.kept_from_others(view.key, "watching"):
                targets = KINDS[view.key.kind].readiness(view.desired, swarm.value)
                found |= dict.fromkeys(targets, view.name)
    return found


def leader_annotations(survey: PlannedPass, faults: Faults) -> dict[str, Annotations]:
    """Return the annotations of each deployed cluster with a document."""
    if not isinstance(survey.observed.swarm, Known):
        return {}
    swarm, found = survey.observed.swarm.value, {}
    for view in survey.with_members():
        live = swarm.config(view.desired.state_config.name) if view.desired else None
        if live is not None:
            with faults.kept_from_others(view.key, "watching"):
                found[view.name] = read_annotations(live.value.labels)
    return found


def undecided(survey: PlannedPass) -> frozenset[str]:
    """Return the clusters with a document whose desired state this pass could not compute: a swarm
    that can't be read is no reason to stop a canary."""
    return frozenset(v.name for v in survey.with_members() if v.document and v.desired is None)


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
    for view in survey.with_members():
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
